// Clock: where time comes from. Handed in from main(); the simulator hands in virtual time.

#pragma once

#include <atomic>
#include <cstdint>

#include "base/counter_line.hpp"

namespace seaway {

/// Monotonic time in nanoseconds since some start. Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual std::uint64_t now_ns() const = 0;
};

/// The machine's own monotonic clock, read through the time-stamp counter where that is steady
/// (about 10 ns a read), else through the operating system. It looks at the system's clock each
/// 100 ms or less often, when it is read, and follows it: clocks of all processes of a machine show
/// the same time, to some microseconds when they are read so often.
class RealClock final : public Clock {
 public:
  RealClock();
  std::uint64_t now_ns() const override;

 private:
  CounterLine line() const;
  void write(const CounterLine& line) const;
  void look(const CounterLine& shown) const;

  const bool uses_counter_;
  ClockReading first_;
  // The line, behind a sequence lock, which is odd while it is written.
  mutable std::atomic<std::uint32_t> sequence_ = 0;
  mutable std::atomic<std::uint64_t> tick_ = 0, ns_ = 0;
  mutable std::atomic<double> ns_per_tick_ = 0, correction_ = 0, ticks_per_look_ = 0;
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
