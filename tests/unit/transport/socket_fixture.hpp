// What the tests of sockets share: processes on one loop, and strangers who connect to them.

#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "transport/introduction.hpp"
#include "transport/socket_wires.hpp"
#include "unit/transport/wires_world.hpp"

namespace seaway::transport {
inline constexpr std::uint64_t kMs = 1'000'000;
inline constexpr std::uint64_t kLongNs = 60'000 * kMs;
inline constexpr std::uint64_t kCluster = 7;

/// A socket of somebody who does not keep to any protocol.
class Stranger {
 public:
  explicit Stranger(const std::string& path) {
    sockaddr_un name = {};
    name.sun_family = AF_UNIX;
    std::memcpy(name.sun_path, path.data(), path.size());
    is_connected_ = ::connect(socket_, reinterpret_cast<sockaddr*>(&name), sizeof(name)) == 0;
  }
  ~Stranger() { hang_up(); }
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;

  bool is_connected() const { return is_connected_; }
  void say(std::span<const std::byte> bytes) {
    // What nobody takes is said in vain.
    static_cast<void>(!::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
  }
  void say(const Frame& frame) { say(std::as_bytes(frame.words())); }
  void hang_up() {
    if (socket_ >= 0) ::close(std::exchange(socket_, -1));
  }
  /// True once the other end has hung up; what it said first is in heard().
  bool is_over() {
    char bytes[4096];
    for (;;) {
      const ssize_t count = ::recv(socket_, bytes, sizeof(bytes), MSG_DONTWAIT);
      if (count == 0 || (count < 0 && errno != EAGAIN)) return true;
      if (count < 0) return false;
      heard_.append(bytes, static_cast<std::size_t>(count));
    }
  }
  /// What it was told in the end.
  Result<Welcome> heard() const {
    return read_welcome(Frame::make(heard_.size() / 8, [this](std::span<std::uint64_t> words) {
      std::memcpy(words.data(), heard_.data(), words.size_bytes());
    }));
  }
  Status refusal() const {
    const auto welcome = heard();
    return welcome.ok() ? welcome->refusal : welcome.status();
  }

 private:
  int socket_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  bool is_connected_ = false;
  std::string heard_;
};

class SocketWiresTest : public testing::Test {
 protected:
  SocketOptions options() const {
    SocketOptions result;
    result.self = 0;
    result.cluster = kCluster;
    result.listen = "unix:" + path_;
    result.again_ns = kMs;
    return result;
  }
  std::unique_ptr<SocketWires> make(SocketOptions options, SocketHandlers handlers = {}) {
    auto made = SocketWires::make(loop_, std::move(options), std::move(handlers));
    EXPECT_TRUE(made.ok()) << made.to_string();
    return made.ok() ? std::move(*made) : nullptr;
  }
  Status refusal_of(SocketOptions options) {
    return SocketWires::make(loop_, std::move(options), {}).status();
  }
  bool run(const std::function<bool()>& until) { return run_until(loop_, until); }
  /// What `stranger` is told at the end of its connection.
  Status refusal_of(Stranger& stranger) {
    EXPECT_TRUE(run([&] { return stranger.is_over(); }));
    return stranger.refusal();
  }
  /// A process of the same cluster that looks for process 0.
  std::unique_ptr<SocketWires> make_peer(ProcessId self, std::uint64_t cluster = kCluster) {
    SocketOptions options;
    options.self = self;
    options.cluster = cluster;
    options.again_ns = kMs;
    SocketHandlers handlers;
    handlers.find = [this](ProcessId, const auto& found) { found("unix:" + path_); };
    return make(std::move(options), std::move(handlers));
  }
  WirePort port() {
    return {[this] { ++connected_; }, [this](auto bytes) { heard_ += bytes.size(); },
            [this] { ++closed_; }, [this] { ++refused_; }};
  }
  static Frame question(std::uint64_t number) {
    return Frame::make(1, [number](auto words) { words[0] = number; });
  }
  static Introduction talk(ProcessId from, ProcessId to) { return {kCluster, Talk{from, to}}; }

  const TestDirectory directory_;
  const std::string path_ = directory_.path() + "/socket";
  const std::unique_ptr<IoLoop> owned_loop_ = IoLoop::make().value();
  IoLoop& loop_ = *owned_loop_;
  int connected_ = 0, closed_ = 0, refused_ = 0;
  std::size_t heard_ = 0;
};

}  // namespace seaway::transport
