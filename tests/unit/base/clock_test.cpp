// Clocks that do not run by themselves, and how the real one follows the system's.

#include "base/clock.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace seaway {
namespace {

TEST(ManualClock, MovesForwardsOnly) {
  ManualClock clock;

  clock.advance_to(5);
  clock.advance_to(3);

  EXPECT_EQ(clock.now_ns(), 5u);
}

TEST(HeldClock, ShowsTheTimeOfItsLastLook) {
  ManualClock clock;
  clock.advance_to(5);
  HeldClock held(clock);
  EXPECT_EQ(held.now_ns(), 5u);

  clock.advance_to(9);
  EXPECT_EQ(held.now_ns(), 5u);
  held.look();
  EXPECT_EQ(held.now_ns(), 9u);
}

/// A counter of three ticks a nanosecond, and what a clock beside it shows.
std::uint64_t ticks_at(std::uint64_t ns) { return 1'000 + 3 * ns; }
ClockReading reading(std::uint64_t ns) { return {ticks_at(ns), ns}; }

constexpr std::uint64_t kLookNs = 100'000'000;

TEST(CounterLine, ShowsTheTimeOfTheClockThatItFollows) {
  CounterLine line = CounterLine::through(reading(0), reading(2'000'000));
  for (std::uint64_t ns = 0; ns < 50 * kLookNs; ns += kLookNs / 2) {
    if (line.is_look_due(ticks_at(ns))) line = line.follow(reading(0), reading(ns));
    if (ns >= 2'000'000) {
      EXPECT_NEAR(static_cast<double>(line.at(ticks_at(ns))), static_cast<double>(ns), 2);
    }
  }
}

TEST(CounterLine, FindsBackFromAWrongRateAndNeverGoesBack) {
  for (const std::int64_t wrong_ns : {-20'000, 20'000}) {
    // Of two milliseconds so much was spent elsewhere: one part in a hundred.
    const ClockReading second{ticks_at(2'000'000),
                              static_cast<std::uint64_t>(2'000'000 + wrong_ns)};
    CounterLine line = CounterLine::through(reading(0), second);
    std::uint64_t last = line.at(second.tick);
    for (std::uint64_t ns = 2'000'000; ns < 20 * kLookNs; ns += 1'000'000) {
      if (line.is_look_due(ticks_at(ns))) line = line.follow(reading(0), reading(ns));
      const std::uint64_t shown = line.at(ticks_at(ns));
      ASSERT_GE(shown, last) << ns;
      last = shown;
      if (ns > 5 * kLookNs) {
        ASSERT_NEAR(static_cast<double>(shown), static_cast<double>(ns), 100);
      }
    }
  }
}

TEST(CounterLine, IsSetForwardWhenItIsLateByMuch) {
  const CounterLine line = CounterLine::through(reading(0), reading(2'000'000));
  // The counter stood still for a second.
  const ClockReading now{ticks_at(2 * kLookNs), 1'000'000'000};
  EXPECT_EQ(line.follow(reading(0), now).at(now.tick), now.ns);
}

TEST(CounterLine, GoesAtItsOwnRateWhenNobodyLooks) {
  CounterLine line = CounterLine::through(reading(0), reading(2'000'000));
  line.ns += 500'000;  // Early; made good within one look, and not more than that.
  line = line.follow(reading(0), reading(2 * kLookNs));
  EXPECT_NEAR(static_cast<double>(line.at(ticks_at(2 * kLookNs))), 2.0 * kLookNs + 500'000, 2);
  EXPECT_NEAR(static_cast<double>(line.at(ticks_at(50 * kLookNs))), 50.0 * kLookNs, 2);
}

TEST(RealClock, ShowsWhatTheSystemsClockShows) {
  const auto system_ns = [] {
    return static_cast<std::int64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                         std::chrono::steady_clock::now().time_since_epoch())
                                         .count());
  };
  const RealClock clock;
  const std::int64_t begin = system_ns();
  std::int64_t last = 0, apart = 0;
  for (std::int64_t before = begin; before < begin + 3 * std::int64_t{kLookNs};) {
    before = system_ns();
    const auto shown = static_cast<std::int64_t>(clock.now_ns());
    ASSERT_GE(shown, last);
    last = shown;
    // Whatever comes between the readings, it is between the two others.
    apart = std::max({apart, before - shown, shown - system_ns()});
  }
  EXPECT_LT(apart, 2'000'000);
}

}  // namespace
}  // namespace seaway
