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

/// Keeps an engine from ending, unless it has no gate or has ended.
class EngineStay {
 public:
  EngineStay() = default;
  explicit EngineStay(EngineGate* gate) : gate_(gate && gate->enter() ? gate : nullptr) {}
  ~EngineStay() {
    if (gate_) gate_->leave();
  }
  EngineStay(EngineStay&& other) noexcept : gate_(std::exchange(other.gate_, nullptr)) {}
  EngineStay& operator=(EngineStay&& other) noexcept {
    std::swap(gate_, other.gate_);
    return *this;
  }
  explicit operator bool() const { return gate_ != nullptr; }

 private:
  EngineGate* gate_ = nullptr;
};

/// An engine with threads of its own, on which others wait.
class Gated {
 public:
  virtual const std::shared_ptr<EngineGate>& gate() const = 0;

 protected:
  ~Gated() = default;
};

}  // namespace seaway::actor
