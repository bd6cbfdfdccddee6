// CounterLine: time by a counter of ticks that follows another clock without ever going back.

#pragma once

#include <cstdint>

namespace seaway {

/// What a counter and the clock that it follows say at one moment.
struct ClockReading {
  std::uint64_t tick = 0, ns = 0;
};

/// Time from `tick` on, when it is `ns`. It goes as the counter does, and for the first
/// `ticks_per_look` by so much faster or slower that it shows the right time at their end. A value.
struct CounterLine {
  /// How long until it is to be led back to the clock that it follows: follow().
  static constexpr double kLookNs = 1e8;
  /// By how much it goes faster or slower than the counter, at most: so little that whoever has
  /// read one line sees no earlier time on the next.
  static constexpr double kCorrectionMax = 0.01;
  /// It is set forward at once when it is late by more, as on a machine that was asleep.
  static constexpr double kLateNsMax = 1e7;

  std::uint64_t tick = 0, ns = 0;
  double ns_per_tick = 0, correction = 0, ticks_per_look = 0;

  /// Through two readings, the first of which is earlier.
  static CounterLine through(const ClockReading& first, const ClockReading& second);
  /// The line from `now` on; `first` fixes the rate, and is as long ago as can be.
  CounterLine follow(const ClockReading& first, const ClockReading& now) const;

  /// Counters of two processors differ a little: a `now` before the line is its beginning.
  std::uint64_t at(std::uint64_t now) const;
  bool is_look_due(std::uint64_t now) const;
};

}  // namespace seaway
