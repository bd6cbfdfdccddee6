// SkewedClock: exact rates, jumps, and when a time comes.

#include "actor/skewed_clock.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "base/random.hpp"

namespace seaway::actor {
namespace {

TEST(SkewedClock, ReadsAsItsBaseUntilItIsSet) {
  ManualClock base;
  const SkewedClock clock(base);

  base.advance_to(12'345);

  EXPECT_EQ(clock.now_ns(), 12'345u);
  EXPECT_EQ(clock.base_ns_at(20'000), 20'000u);
}

TEST(SkewedClock, GainsAndLosesExactlyItsRateOverAYear) {
  constexpr std::uint64_t kYearNs = 365ull * 24 * 3600 * 1'000'000'000;
  ManualClock base;
  SkewedClock fast(base);
  SkewedClock slow(base);
  fast.set({.rate_ppm = 100});
  slow.set({.rate_ppm = -100, .offset_ns = 7});

  base.advance_to(kYearNs);

  EXPECT_EQ(fast.now_ns(), kYearNs + kYearNs / 10'000);
  EXPECT_EQ(slow.now_ns(), kYearNs - kYearNs / 10'000 + 7);
}

TEST(SkewedClock, SetBackItStandsStillUntilItWouldHaveComeSoFar) {
  ManualClock base;
  SkewedClock clock(base);
  base.advance_to(1'000);

  clock.set({.offset_ns = -300});

  EXPECT_EQ(clock.now_ns(), 1'000u);
  base.advance_to(1'300);
  EXPECT_EQ(clock.now_ns(), 1'000u);
  EXPECT_EQ(clock.base_ns_at(1'001), 1'301u);
  base.advance_to(1'301);
  EXPECT_EQ(clock.now_ns(), 1'001u);
}

TEST(SkewedClock, SetRightAgainItDoesNotGoBackEither) {
  ManualClock base;
  SkewedClock clock(base);
  clock.set({.offset_ns = 500});
  EXPECT_EQ(clock.now_ns(), 500u);

  clock.set({});

  EXPECT_EQ(clock.now_ns(), 500u);
  base.advance_to(499);
  EXPECT_EQ(clock.now_ns(), 500u);
  base.advance_to(501);
  EXPECT_EQ(clock.now_ns(), 501u);
}

TEST(SkewedClock, ATimeComesAtTheFirstMomentThatReadsIt) {
  RandomStream random(1, 1);
  for (int i = 0; i < 1'000; ++i) {
    ManualClock base;
    base.advance_to(random.below(1'000'000));
    SkewedClock clock(base);
    clock.set({.rate_ppm = static_cast<std::int64_t>(random.below(3'000'000)) - 999'999,
               .offset_ns = static_cast<std::int64_t>(random.below(2'000'000)) - 1'000'000});
    const std::uint64_t at_ns = clock.now_ns() + 1 + random.below(1'000'000'000'000);

    const std::uint64_t base_ns = clock.base_ns_at(at_ns).value();

    base.advance_to(base_ns - 1);
    EXPECT_LT(clock.now_ns(), at_ns);
    base.advance_to(base_ns);
    EXPECT_GE(clock.now_ns(), at_ns);
  }
}

TEST(SkewedClock, WhatLiesBeyondAllTimeNeverComes) {
  constexpr std::uint64_t kEver = std::numeric_limits<std::uint64_t>::max();
  ManualClock base;
  SkewedClock clock(base);

  clock.set({.rate_ppm = -500'000});

  EXPECT_EQ(clock.base_ns_at(kEver), std::nullopt);
}

TEST(SkewedClockDeathTest, AClockThatWouldRunBackwardsStopsTheProgram) {
  ManualClock base;
  SkewedClock clock(base);

  EXPECT_DEATH(clock.set({.rate_ppm = -1'000'000}), "a clock does not run backwards");
}

}  // namespace
}  // namespace seaway::actor
