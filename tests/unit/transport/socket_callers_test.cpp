// Callers that nobody knows: what is read of them, and which of them get a place.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <memory>
#include <string>
#include <vector>

#include "transport/introduction.hpp"
#include "transport/io_loop_state.hpp"
#include "transport/socket_address.hpp"
#include "transport/socket_line.hpp"
#include "unit/transport/socket_fixture.hpp"
#include "unit/transport/tls_support.hpp"

namespace seaway::transport {
namespace {

/// A bare socket over TCP, with a source address of its own.
class TcpCaller {
 public:
  TcpCaller(const std::string& source, const std::string& address) {
    sockaddr_in from = {};
    from.sin_family = AF_INET;
    ::inet_pton(AF_INET, source.c_str(), &from.sin_addr);
    sockaddr_in to = from;
    ::inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
    to.sin_port =
        htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
    EXPECT_EQ(::bind(socket_, reinterpret_cast<sockaddr*>(&from), sizeof(from)), 0);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<sockaddr*>(&to), sizeof(to)), 0);
  }
  ~TcpCaller() { ::close(socket_); }
  TcpCaller(const TcpCaller&) = delete;
  TcpCaller& operator=(const TcpCaller&) = delete;

  /// How much of it the system has taken.
  std::size_t send(std::span<const std::byte> bytes) {
    const ssize_t count = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    return count > 0 ? static_cast<std::size_t>(count) : 0;
  }
  void send(const Frame& frame) { send(std::as_bytes(frame.words())); }
  /// Whether something has come, or the end.
  bool can_read() const {
    char next = 0;
    return ::recv(socket_, &next, 1, MSG_PEEK | MSG_DONTWAIT) >= 0;
  }
  Status refusal() const {
    std::uint64_t words[512] = {};
    const ssize_t count = ::recv(socket_, words, sizeof(words), MSG_DONTWAIT);
    if (count <= 0) return {};
    const auto welcome =
        read_welcome(Frame::make(static_cast<std::size_t>(count) / 8, [&](auto all) {
          std::memcpy(all.data(), words, all.size_bytes());
        }));
    return welcome.ok() ? welcome->refusal : welcome.status();
  }

 private:
  int socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
};

class SocketCallersTest : public SocketWiresTest {
 protected:
  SocketOptions tcp_options() const {
    SocketOptions result = options();
    result.listen = "tcp:127.0.0.1:0";
    return result;
  }
};

/// Over each kind of connection.
class RefusedCallerTest : public SocketCallersTest,
                          public testing::WithParamInterface<const char*> {
 protected:
  SocketOptions listening() const {
    SocketOptions result = options();
    const std::string kind = GetParam();
    if (kind != "unix") result.listen = kind + ":127.0.0.1:0";
    if (kind == "tls") result.credentials.tls = make_tls("controller");
    return result;
  }
  /// Writes the same bytes again and again, until that fails or there were too many.
  kj::Promise<void> send_on(kj::AsyncIoStream& stream) {
    constexpr std::size_t kAtOnce = std::size_t{64} << 10;
    static const std::vector<std::byte> noise(kAtOnce, std::byte{0x55});
    if (sent_ >= kMost) return kj::READY_NOW;
    return stream.write(noise.data(), noise.size()).then([this, &stream] {
      sent_ += kAtOnce;
      return send_on(stream);
    });
  }

  static constexpr std::size_t kMost = std::size_t{64} << 20;
  std::size_t sent_ = 0;
};

TEST_P(RefusedCallerTest, IsReadNoFurtherThanItsLimit) {
  SocketOptions slow = listening();
  slow.introduction_ns = kLongNs;
  slow.guess_ns = kLongNs;
  auto wires = make(slow);
  bool is_over = false;
  auto tls = make_caller_tls();
  loop_.state().tasks.add(dial(loop_, wires->address(), tls).then([&](Dialed&& dialed) {
    KJ_IF_MAYBE (stream, dialed.stream) {
      kj::AsyncIoStream& line = **stream;
      return send_on(line)
          .attach(kj::mv(*stream))
          .then([&] { is_over = true; }, [&](kj::Exception&&) { is_over = true; });
    }
    ADD_FAILURE() << dialed.status.to_string();
    return kj::Promise<void>(kj::READY_NOW);
  }));

  EXPECT_TRUE(run([&] { return is_over; }));

  EXPECT_EQ(wires->counts().refused, 1u);
  EXPECT_EQ(wires->counts().dropped, slow.dropped_bytes_max);
  EXPECT_LT(sent_, kMost);  // The rest is the buffers of the system.
}

TEST_P(RefusedCallerTest, IsReadNoFurtherWhenItMayNotGuess) {
  SocketOptions slow = listening();
  slow.guess_ns = kLongNs;
  slow.introduction_ns = kLongNs;
  SocketHandlers handlers;
  handlers.admit = [](ProcessId, const Caller&) {
    return Status(StatusCode::kUnauthenticated, "no token");
  };
  auto wires = make(slow, handlers);
  bool is_over = false;
  auto tls = make_caller_tls();
  loop_.state().tasks.add(dial(loop_, wires->address(), tls).then([&](Dialed&& dialed) {
    KJ_IF_MAYBE (stream, dialed.stream) {
      kj::AsyncIoStream& line = **stream;
      return send_frame(line, introduction_frame(talk(1, 0)))
          .then([this, &line] { return send_on(line); })
          .attach(kj::mv(*stream))
          .then([&] { is_over = true; }, [&](kj::Exception&&) { is_over = true; });
    }
    ADD_FAILURE() << dialed.status.to_string();
    return kj::Promise<void>(kj::READY_NOW);
  }));

  EXPECT_TRUE(run([&] { return is_over; }));

  EXPECT_EQ(wires->counts().dropped, slow.dropped_bytes_max);
  EXPECT_LT(sent_, kMost);
}

INSTANTIATE_TEST_SUITE_P(Sockets, RefusedCallerTest, testing::Values("unix", "tcp", "tls"),
                         [](const auto& kind) { return std::string(kind.param); });

TEST_F(SocketCallersTest, AskerThatSendsOnIsDropped) {
  SocketHandlers handlers;
  std::vector<Answering> waiting;
  handlers.answer = [&](const Caller&, const Frame&, auto done) { waiting.push_back(done); };
  auto wires = make(options(), handlers);
  Stranger asker(path_);
  asker.say(introduction_frame({kCluster, question(1)}));
  ASSERT_TRUE(run([&] { return waiting.size() == 1; }));

  const std::vector<std::byte> noise(16 << 10);
  asker.say(noise);

  EXPECT_TRUE(run([&] { return asker.is_over(); }));
  EXPECT_EQ(wires->counts().dropped, options().dropped_bytes_max);
  waiting[0](question(2));  // Nobody waits for it any more.
  EXPECT_EQ(wires->counts().answered, 0u);
}

TEST_F(SocketCallersTest, TalkativePeerIsReadInParts) {
  constexpr std::size_t kBudget = ReadScheduler::Limits().bytes_max + SocketLine::kReadBytes;
  auto wires = make(tcp_options());
  for (const ProcessId peer : {1u, 2u}) wires->attach(0, peer, port());
  TcpCaller talkative("127.0.0.1", wires->address()), quiet("127.0.0.1", wires->address());
  talkative.send(introduction_frame(talk(1, 0)));
  quiet.send(introduction_frame(talk(2, 0)));
  ASSERT_TRUE(run([&] { return connected_ == 2; }));
  for (int i = 0; i < 10; ++i) loop_.poll();
  const std::vector<std::byte> noise(std::size_t{64} << 10);
  std::size_t sent = 0;
  while (const std::size_t more = talkative.send(noise)) sent += more;
  ASSERT_GT(sent, 2 * kBudget) << "the system buffers too little for this test";

  while (heard_ < sent) {
    const std::size_t before = heard_;
    loop_.wait(kMs);
    EXPECT_LE(heard_ - before, kBudget);
  }

  EXPECT_EQ(heard_, sent);
}

TEST_F(SocketCallersTest, OneAddressDoesNotKeepOthersOut) {
  SocketOptions narrow = tcp_options();
  narrow.strangers_max = 4;
  narrow.introduction_ns = kLongNs;
  auto wires = make(narrow);
  std::vector<std::unique_ptr<TcpCaller>> silent;
  for (int i = 0; i < 4; ++i) {
    silent.push_back(std::make_unique<TcpCaller>("127.0.0.2", wires->address()));
  }

  TcpCaller other("127.0.0.3", wires->address());
  ASSERT_TRUE(run([&] { return wires->counts().refused == 1; }));
  other.send(introduction_frame({kCluster, question(1)}));
  ASSERT_TRUE(run([&] { return other.can_read(); }));

  EXPECT_EQ(other.refusal().code(), StatusCode::kUnimplemented) << "it was heard";
  ASSERT_TRUE(run([&] { return silent[3]->can_read(); }));
  EXPECT_EQ(silent[3]->refusal(),
            resource_exhausted("unauthenticated connection dropped for one of another address: all "
                               "4 places are taken, 4 of them by 127.0.0.2; try again, or raise "
                               "SocketOptions::strangers_max"));
  EXPECT_FALSE(silent[0]->can_read());
}

}  // namespace
}  // namespace seaway::transport
