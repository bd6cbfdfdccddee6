// EngineGate: which threads of others are inside an engine, so that it ends behind the last of
// them.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

namespace seaway::actor {

/// Outlives its engine in the hands of those who wait on it. Thread-safe.
class EngineGate {
 public:
  /// True: the engine stays until leave(). False: it has ended, or is about to.
  bool enter() {
    if ((inside_.fetch_add(kOne, std::memory_order_acq_rel) & kClosed) == 0) return true;
    leave();
    return false;
  }
  void leave() {
    if (inside_.fetch_sub(kOne, std::memory_order_acq_rel) == kOne + kClosed) inside_.notify_all();
  }
  /// Refuses every later enter(). Returns when all threads have left: the engine first ends their
  /// waits. Not from a thread that is inside.
  void close() {
    std::uint64_t now = inside_.fetch_or(kClosed, std::memory_order_acq_rel) | kClosed;
    for (; now != kClosed; now = inside_.load(std::memory_order_acquire)) inside_.wait(now);
  }

 private:
  static constexpr std::uint64_t kClosed = 1, kOne = 2;

  std::atomic<std::uint64_t> inside_ = 0;  // Threads, times kOne; kClosed.
};

/// Keeps an engine from ending.
class EngineStay {
 public:
  EngineStay() = default;
  /// `gate` is null for an engine without threads.
  explicit EngineStay(EngineGate* gate) : is_inside_(!gate || gate->enter()) {
    if (is_inside_) gate_ = gate;
  }
  ~EngineStay() {
    if (gate_) gate_->leave();
  }
  EngineStay(EngineStay&& other) noexcept { *this = std::move(other); }
  EngineStay& operator=(EngineStay&& other) noexcept {
    std::swap(gate_, other.gate_);
    std::swap(is_inside_, other.is_inside_);
    return *this;
  }
  /// False: the engine has ended, or is about to: no actor of it may be sent anything. Or there is
  /// no engine.
  explicit operator bool() const { return is_inside_; }

 private:
  EngineGate* gate_ = nullptr;
  bool is_inside_ = false;
};

/// An engine with threads of its own, on which others wait.
class Gated {
 public:
  virtual const std::shared_ptr<EngineGate>& gate() const = 0;

 protected:
  ~Gated() = default;
};

}  // namespace seaway::actor
