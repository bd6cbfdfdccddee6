// Sockets, certificates and engines of both ends.

#include "benchmarks/wire/ends.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <chrono>
#include <utility>

#include "transport/certificates.hpp"

namespace seaway::benchmarks {
namespace {

constexpr std::size_t kNoteBytes = 128;

class CallbackActor final : public actor::Actor {
 public:
  explicit CallbackActor(std::function<void(const Frame&)> on_frame)
      : on_frame_(std::move(on_frame)) {}
  void receive(const Frame& frame) override { on_frame_(frame); }
  void idle() override {}

 private:
  const std::function<void(const Frame&)> on_frame_;
};

}  // namespace

Pair make_pair(bool is_unix) {
  Pair pair = {-1, -1};
  if (is_unix) {
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, pair.data()) != 0) pair = {-1, -1};
    return pair;
  }
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in name = {};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(name);
  auto* const any = reinterpret_cast<sockaddr*>(&name);
  if (::bind(listener, any, size) == 0 && ::listen(listener, 1) == 0 &&
      ::getsockname(listener, any, &size) == 0) {
    pair[0] = ::socket(AF_INET, SOCK_STREAM, 0);
    if (::connect(pair[0], any, size) == 0) pair[1] = ::accept(listener, nullptr, nullptr);
  }
  ::close(listener);
  const int on = 1;
  for (const int end : pair) ::setsockopt(end, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  return pair;
}

bool pass(int descriptor, std::span<std::byte> bytes, bool writes) {
  while (!bytes.empty()) {
    const ssize_t count = writes ? ::write(descriptor, bytes.data(), bytes.size())
                                 : ::read(descriptor, bytes.data(), bytes.size());
    if (count <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return true;
}

Note::Note() {
  if (::pipe(pipe_.data()) != 0) pipe_ = {-1, -1};
}

Note::~Note() {
  for (const int end : pipe_) ::close(end);
}

void Note::write(const std::string& address) {
  std::array<char, kNoteBytes> text = {};
  address.copy(text.data(), text.size() - 1);
  pass(pipe_[1], std::as_writable_bytes(std::span(text)), true);
}

std::string Note::read() {
  std::array<char, kNoteBytes> text = {};
  pass(pipe_[0], std::as_writable_bytes(std::span(text)), false);
  return text.data();
}

std::shared_ptr<transport::Tls> make_tls() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto now_s =
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(now).count());
  const auto authority = transport::make_authority({.cluster = "bench", .now_s = now_s});
  if (!authority.ok()) return nullptr;
  const auto own = transport::issue_certificate(
      *authority, {.role = "worker/1", .ip_addresses = {"127.0.0.1"}, .now_s = now_s});
  if (!own.ok()) return nullptr;
  const auto tls = transport::Tls::make({authority->certificate, *own});
  return tls.ok() ? *tls : nullptr;
}

WireProcess::WireProcess(transport::ProcessId self, std::shared_ptr<transport::Tls> tls,
                         std::string listen, std::string other,
                         std::function<void(WireProcess&, const Frame&)> on_frame)
    : self_(self),
      engine_(actor::make_io_engine(clock_).value()),
      other_(std::move(other)),
      credentials_{std::move(tls), ""} {
  actor_ = engine_->spawn(
      "pong", std::make_unique<CallbackActor>([this, on_frame = std::move(on_frame)](
                                                  const Frame& frame) { on_frame(*this, frame); }));
  actor::run_on_control_thread(*engine_, [&] {
    transport::SocketOptions options;
    options.self = self_;
    options.cluster = 1;
    options.listen = std::move(listen);
    options.credentials = credentials_;
    transport::SocketHandlers handlers;
    handlers.find = [this](auto, const auto& found) { found(other_); };
    handlers.data = [this](transport::ProcessId peer, auto socket) {
      if (data_) data_->accept(peer, std::move(socket));
    };
    auto wires = transport::SocketWires::make(engine_->loop(), options, handlers);
    if (!wires.ok()) return;
    wires_ = std::move(*wires);
    cluster::PeersOptions peers;
    peers.self = self_;
    peers_ = std::make_unique<cluster::Peers>(
        *engine_, *wires_, peers,
        [this](const cluster::RoleName&, const cluster::RoleName&, const Frame& frame) {
          actor_.send(frame);
        },
        [this](const cluster::PeerNews& news) {
          is_there_ = !news.is_lost;
          engine_->notify();
        });
    peers_->meet(1 - self_, other_name());
  });
}
void WireProcess::carry_data(const transport::SocketDataPlane::Options& options) {
  actor::run_on_control_thread(*engine_, [this, &options] {
    data_ = transport::SocketDataPlane::make(clock_, options,
                                             {[this](auto work) { engine_->post(std::move(work)); },
                                              [this](transport::DataPeer peer, const auto& done) {
                                                transport::call_for_data(
                                                    engine_->loop(), other_, {self_, peer, 1},
                                                    kWireDeadlineNs, done, credentials_);
                                              },
                                              [] {}})
                .value();
  });
}

WireProcess::~WireProcess() {
  actor::run_on_control_thread(*engine_, [this] {
    if (data_) data_->close();
    peers_.reset();
    wires_.reset();
  });
}

}  // namespace seaway::benchmarks
