// Two ends of what is measured: forked children, bare sockets, and processes with an actor each.

#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "actor/io_engine.hpp"
#include "base/clock.hpp"
#include "cluster/peers.hpp"
#include "transport/packet.hpp"
#include "transport/socket_data_plane.hpp"
#include "transport/socket_wires.hpp"
#include "transport/tls.hpp"

namespace seaway::benchmarks {

/// Of a message: with its head, a frame of two words.
constexpr std::size_t kWireBytes = 64;
constexpr std::uint64_t kWireDeadlineNs = 60'000'000'000;
constexpr std::size_t kWireFrameWords = (kWireBytes - transport::kPacketHeaderBytes) / 8;

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
  pid_t id() const { return process_; }

 private:
  const pid_t process_;
};

/// Two ends of one connection.
using Pair = std::array<int, 2>;

/// Of Unix, or of TCP on 127.0.0.1; -1 when the system gives none.
Pair make_pair(bool is_unix);
/// All of `bytes`; false when the other end has gone.
bool pass(int descriptor, std::span<std::byte> bytes, bool writes);

/// What a child tells its parent before it is measured: where it listens.
class Note {
 public:
  Note();
  ~Note();
  Note(const Note&) = delete;
  Note& operator=(const Note&) = delete;
  void write(const std::string& address);
  /// Waits for it.
  std::string read();

 private:
  Pair pipe_ = {-1, -1};
};

/// An authority of the moment, and a certificate for both ends; null where there is no TLS.
std::shared_ptr<transport::Tls> make_tls();

/// One process: an engine, its connections, and an actor that hears what comes.
class WireProcess {
 public:
  /// `listen` or `other`: where it listens, or where process 0 does.
  WireProcess(transport::ProcessId self, std::shared_ptr<transport::Tls> tls, std::string listen,
              std::string other, std::function<void(WireProcess&, const Frame&)> on_frame);
  ~WireProcess();

  std::string address() const { return wires_ ? wires_->address() : ""; }
  bool wait(const std::function<bool()>& ready) {
    return engine_->wait(ready, clock_.now_ns() + kWireDeadlineNs);
  }
  bool wait_for_peer() {
    return wires_ && wait([this] { return is_there_.load(); });
  }
  void say(const Frame& frame) { peers_->send(other_name(), frame); }
  void post(std::function<void()> work) { engine_->post(std::move(work)); }
  void notify() { engine_->notify(); }
  /// Control thread.
  void after(std::uint64_t ns, std::function<void()> work) {
    engine_->schedule(clock_.now_ns() + ns, std::move(work));
  }

  /// From now on it may fetch and offer, over connections of their own. Once, before wait().
  void carry_data(const transport::SocketDataPlane::Options& options = {});
  /// Control thread.
  transport::DataPlane& data() { return *data_; }

 private:
  cluster::RoleName other_name() const { return {actor::Role::kHost, 1 - self_}; }

  const transport::ProcessId self_;
  const RealClock clock_;
  std::atomic<bool> is_there_ = false;
  std::unique_ptr<actor::IoEngine> engine_;
  actor::Address actor_;
  const std::string other_;
  const transport::Credentials credentials_;
  std::unique_ptr<transport::SocketDataPlane> data_;
  std::unique_ptr<transport::SocketWires> wires_;
  std::unique_ptr<cluster::Peers> peers_;
};

}  // namespace seaway::benchmarks
