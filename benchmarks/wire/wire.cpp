// Ping-pong between two processes on one core: 64 bytes over a bare socket, and a frame from actor
// to actor over the same kind of socket, where it becomes a packet of 64 bytes.

#include "benchmarks/wire/wire.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "actor/io_engine.hpp"
#include "base/clock.hpp"
#include "benchmarks/support/measure.hpp"
#include "cluster/peers.hpp"
#include "transport/certificates.hpp"
#include "transport/packet.hpp"
#include "transport/socket_wires.hpp"
#include "transport/tls.hpp"

namespace seaway::benchmarks {
namespace {

constexpr std::size_t kBytes = 64;
constexpr std::size_t kFrameWords = (kBytes - transport::kPacketHeaderBytes) / 8;
constexpr std::uint64_t kDeadlineNs = 60'000'000'000;
constexpr double kFast = 0.1;
struct Kind {
  const char* socket;
  const char* bound;  // Of wire.over_raw_socket.
  double bound_number;
};
/// The raw socket of TLS is one of TCP: what encryption costs counts as ours.
constexpr std::array<Kind, 3> kKinds = {
    {{"unix", "2.0", 2.0}, {"tcp", "2.0", 2.0}, {"tls", "3.5", 3.5}}};

/// An authority of the moment, and a certificate for both ends; null where there is no TLS.
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

/// A process that runs `work` until it is killed.
class Child {
 public:
  explicit Child(const std::function<void()>& work) : process_(::fork()) {
    if (process_ != 0) return;
    work();
    ::_exit(0);
  }
  ~Child() {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  bool is_there() const { return process_ > 0; }

 private:
  const pid_t process_;
};

/// Two ends of one connection.
using Pair = std::array<int, 2>;

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

/// Microseconds of the fast round trips over a bare socket; NaN when there is none.
double raw_us(bool is_unix, int rounds) {
  const Pair pair = make_pair(is_unix);
  std::array<std::byte, kBytes> bytes = {};
  std::vector<double> samples;
  {
    const Child echo([&pair] {
      std::array<std::byte, kBytes> heard = {};
      while (pass(pair[1], heard, false) && pass(pair[1], heard, true)) continue;
    });
    for (int i = 0; i < rounds; ++i) {
      const std::uint64_t begin_ns = now_ns();
      if (!pass(pair[0], bytes, true) || !pass(pair[0], bytes, false)) break;
      samples.push_back(static_cast<double>(now_ns() - begin_ns) / 1e3);
    }
  }
  for (const int end : pair) ::close(end);
  return quantile(std::move(samples), kFast);
}

class CallbackActor final : public actor::Actor {
 public:
  explicit CallbackActor(std::function<void(const Frame&)> on_frame)
      : on_frame_(std::move(on_frame)) {}
  void receive(const Frame& frame) override { on_frame_(frame); }
  void idle() override {}

 private:
  const std::function<void(const Frame&)> on_frame_;
};

/// One process: an engine, its connections, and an actor that hears what comes.
class Process {
 public:
  /// `listen` or `other`: where it listens, or where process 0 does.
  Process(transport::ProcessId self, std::shared_ptr<transport::Tls> tls, std::string listen,
          std::string other, std::function<void(Process&, const Frame&)> on_frame)
      : self_(self), engine_(actor::make_io_engine(clock_)) {
    actor_ = engine_->spawn("pong", std::make_unique<CallbackActor>(
                                        [this, on_frame = std::move(on_frame)](const Frame& frame) {
                                          on_frame(*this, frame);
                                        }));
    actor::run_on_control_thread(*engine_, [&] {
      transport::SocketOptions options;
      options.self = self_;
      options.cluster = 1;
      options.listen = std::move(listen);
      options.credentials.tls = std::move(tls);
      transport::SocketHandlers handlers;
      handlers.find = [other](auto, const auto& found) { found(other); };
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
  ~Process() {
    actor::run_on_control_thread(*engine_, [this] {
      peers_.reset();
      wires_.reset();
    });
  }

  std::string address() const { return wires_ ? wires_->address() : ""; }
  bool wait(const std::function<bool()>& ready) {
    return engine_->wait(ready, clock_.now_ns() + kDeadlineNs);
  }
  bool wait_for_peer() {
    return wires_ && wait([this] { return is_there_.load(); });
  }
  void say(const Frame& frame) { peers_->send(other_name(), frame); }
  void post(std::function<void()> work) { engine_->post(std::move(work)); }
  void notify() { engine_->notify(); }

 private:
  cluster::RoleName other_name() const { return {actor::Role::kHost, 1 - self_}; }

  const transport::ProcessId self_;
  const RealClock clock_;
  std::atomic<bool> is_there_ = false;
  std::unique_ptr<actor::IoEngine> engine_;
  actor::Address actor_;
  std::unique_ptr<transport::SocketWires> wires_;
  std::unique_ptr<cluster::Peers> peers_;
};

/// Microseconds of the fast round trips from actor to actor; NaN when they do not meet.
double actors_us(const std::string& socket, const std::string& directory, int rounds) {
  const auto tls = socket == "tls" ? make_tls() : nullptr;
  Pair told = {-1, -1};
  if (::pipe(told.data()) != 0) return quantile({}, kFast);
  const Child echo([&] {
    const std::string listen =
        socket == "unix" ? "unix:" + directory + "/wire" : socket + ":127.0.0.1:0";
    Process process(0, tls, listen, "", [](Process& own, const Frame& frame) { own.say(frame); });
    std::array<char, 128> address = {};
    process.address().copy(address.data(), address.size() - 1);
    pass(told[1], std::as_writable_bytes(std::span(address)), true);
    process.wait([] { return false; });
  });
  std::array<char, 128> address = {};
  pass(told[0], std::as_writable_bytes(std::span(address)), false);
  for (const int end : told) ::close(end);

  const Frame frame = Frame::make(kFrameWords, [](auto words) {
    for (auto& word : words) word = 1;
  });
  std::vector<double> samples;
  std::uint64_t begin_ns = 0;
  std::atomic<bool> is_over = false;
  Process process(1, tls, "", address.data(), [&](Process& own, const Frame& heard) {
    const std::uint64_t end_ns = now_ns();
    samples.push_back(static_cast<double>(end_ns - begin_ns) / 1e3);
    if (samples.size() < static_cast<std::size_t>(rounds)) {
      begin_ns = end_ns;
      return own.say(heard);
    }
    is_over = true;
    own.notify();
  });
  if (!process.wait_for_peer()) return quantile({}, kFast);
  process.post([&] {
    begin_ns = now_ns();
    process.say(frame);
  });
  const bool is_whole = process.wait([&is_over] { return is_over.load(); });
  return quantile(is_whole ? samples : std::vector<double>{}, kFast);
}

}  // namespace

Status run_wire(const BenchOptions& options, BenchReport& report) {
  const int rounds = options.quick ? 200 : 50'000;
  const PinnedToOneCore pinned;
  std::string directory = std::filesystem::temp_directory_path() / "seaway_wire_XXXXXX";
  if (!::mkdtemp(directory.data()))
    return resource_exhausted("cannot make a directory for sockets");
  Status status;
  for (const Kind& kind : kKinds) {
    const bool is_unix = std::string_view(kind.socket) == "unix";
    const BenchReport::Params params = {{"socket", kind.socket},
                                        {"pinning", pinned.pinned() ? "one_core" : "none"}};
    const double raw = raw_us(is_unix, rounds);
    const double ours = actors_us(kind.socket, directory, rounds);
    report.add("wire.raw_socket_us", raw, "us", params);
    report.add("wire.round_trip_us", ours, "us", params);
    report.add("wire.over_raw_socket", ours / raw, "ratio", with_bound(params, kind.bound));
    // A NaN is no ratio below the bound either.
    if (!options.quick && !(ours / raw <= kind.bound_number)) {
      status = resource_exhausted("wire.over_raw_socket is " + std::to_string(ours / raw) +
                                  " over " + params[0].second + "; the bound is " + kind.bound);
    }
  }
  ::rmdir(directory.c_str());
  return status;
}

}  // namespace seaway::benchmarks
