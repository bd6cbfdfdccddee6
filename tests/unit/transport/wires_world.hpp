// Worlds of a few processes with wires between them, simulated or over sockets, for tests that hold
// in each.

#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "transport/io_loop.hpp"
#include "transport/simulated_wire.hpp"
#include "transport/socket_wires.hpp"
#include "unit/transport/tls_support.hpp"

namespace seaway::transport {

/// A directory that goes with whoever made it.
class TestDirectory {
 public:
  TestDirectory() {
    std::string name = testing::TempDir() + "seaway_wires_XXXXXX";
    path_ = ::mkdtemp(name.data());
  }
  ~TestDirectory() { std::filesystem::remove_all(path_); }
  TestDirectory(const TestDirectory&) = delete;
  TestDirectory& operator=(const TestDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline std::vector<std::byte> bytes_of(const std::string& text) {
  const auto* const begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

/// Steps until something holds; false when it does not for a very long time.
inline bool run_until(IoLoop& loop, const std::function<bool()>& holds) {
  const RealClock clock;
  const std::uint64_t end_ns = clock.now_ns() + 60'000'000'000;
  while (!holds()) {
    if (clock.now_ns() > end_ns) return false;
    loop.wait(1'000'000);
  }
  return true;
}

class WiresWorld {
 public:
  virtual ~WiresWorld() = default;
  /// It lives, without connections. `port` makes its ports.
  virtual void begin(ProcessId self) = 0;
  virtual void kill(ProcessId self) = 0;
  virtual Wires& wires(ProcessId self) = 0;
  virtual std::uint64_t now_ns() const = 0;
  /// Lets time pass, until something holds.
  virtual bool run(const std::function<bool()>& until) = 0;
  /// Lets happen what happens, as far as that can be known.
  virtual void settle() = 0;
};

class SimulatedWorld final : public WiresWorld {
 public:
  void begin(ProcessId) override {}
  void kill(ProcessId self) override { wires_.detach(self, false); }
  Wires& wires(ProcessId) override { return wires_; }
  std::uint64_t now_ns() const override { return clock_.now_ns(); }
  bool run(const std::function<bool()>& until) override {
    while (!until()) {
      if (work_.empty()) return false;
      step();
    }
    return true;
  }
  void settle() override {
    while (!work_.empty()) step();
  }

 private:
  void step() {
    auto first = work_.extract(work_.begin());
    clock_.advance_to(first.key().first);
    first.mapped()();
  }

  static constexpr std::uint32_t kProcesses = 32;
  ManualClock clock_;
  std::uint64_t last_ = 0;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::function<void()>> work_;
  SimulatedWires wires_{kProcesses, {}, clock_, [this](std::uint64_t at_ns, auto work) {
                          work_.emplace(std::pair(at_ns, ++last_), std::move(work));
                        }};
};

class SocketWorld final : public WiresWorld {
 public:
  /// "unix", "tcp" or "tls".
  explicit SocketWorld(std::string scheme) : scheme_(std::move(scheme)) {}

  void begin(ProcessId self) override {
    SocketOptions options;
    options.self = self;
    options.cluster = 7;
    options.listen = scheme_ == "unix" ? "unix:" + directory_.path() + "/" + std::to_string(self)
                                       : scheme_ + ":127.0.0.1:0";
    if (scheme_ == "tls") {
      static const std::shared_ptr<Tls> tls = make_tls("worker/1");
      options.credentials.tls = tls;
    }
    options.again_ns = 2'000'000;
    SocketHandlers handlers;
    handlers.find = [this](ProcessId peer, const std::function<void(Result<std::string>)>& found) {
      const auto known = addresses_.find(peer);
      if (known == addresses_.end()) return found(not_found("it has not begun"));
      found(known->second);
    };
    auto made = SocketWires::make(loop_, std::move(options), std::move(handlers));
    ASSERT_TRUE(made.ok()) << made.to_string();
    addresses_[self] = (*made)->address();
    wires_[self] = std::move(*made);
  }
  void kill(ProcessId self) override { wires_[self].reset(); }
  SocketWires& wires(ProcessId self) override { return *wires_.at(self); }
  std::uint64_t now_ns() const override { return clock_.now_ns(); }
  bool run(const std::function<bool()>& until) override { return run_until(loop_, until); }
  void settle() override {
    for (int i = 0; i < 30; ++i) loop_.wait(1'000'000);
  }

 private:
  const std::string scheme_;
  const TestDirectory directory_;
  const RealClock clock_;
  const std::unique_ptr<IoLoop> owned_loop_ = IoLoop::make().value();
  IoLoop& loop_ = *owned_loop_;
  std::map<ProcessId, std::string> addresses_;
  std::map<ProcessId, std::unique_ptr<SocketWires>> wires_;
};

}  // namespace seaway::transport
