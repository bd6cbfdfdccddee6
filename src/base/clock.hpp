// Clock: where time comes from. Handed in from main(); the simulator hands in virtual time.

#pragma once

#include <cstdint>

namespace seaway {

/// Monotonic time in nanoseconds since some start. Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual std::uint64_t now_ns() const = 0;
};

/// The machine's own monotonic clock, read through the time-stamp counter where that is steady
/// (about 10 ns a read), else through the operating system.
class RealClock final : public Clock {
 public:
  RealClock();
  std::uint64_t now_ns() const override;

 private:
  double ns_per_tick_ = 0;  // 0: the counter is not used.
  std::uint64_t tick_start_ = 0;
  std::uint64_t ns_start_ = 0;
};

/// The time of the last look at another clock: for what happens in one go and needs no time of its
/// own, where a reading each would cost more than the rest. Not thread-safe.
class HeldClock final : public Clock {
 public:
  explicit HeldClock(const Clock& clock) : clock_(clock), now_ns_(clock.now_ns()) {}
  std::uint64_t now_ns() const override { return now_ns_; }
  void look() { now_ns_ = clock_.now_ns(); }

 private:
  const Clock& clock_;
  std::uint64_t now_ns_;
};

/// Time that moves only when told to.
class ManualClock final : public Clock {
 public:
  std::uint64_t now_ns() const override { return now_ns_; }
  void advance_to(std::uint64_t now_ns) {
    if (now_ns > now_ns_) now_ns_ = now_ns;
  }

 private:
  std::uint64_t now_ns_ = 0;
};

}  // namespace seaway
