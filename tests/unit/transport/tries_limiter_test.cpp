// How often an address may guess.

#include "transport/tries_limiter.hpp"

#include <gtest/gtest.h>

namespace seaway::transport {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

void fail(TriesLimiter& limiter, std::string_view address, int times) {
  for (int time = 0; time < times; ++time) limiter.fail(address);
}

TEST(TriesLimiter, TakesTenFailuresOfAnAddressWithinAMinute) {
  ManualClock clock;
  TriesLimiter limiter(clock);

  fail(limiter, "10.0.0.7", 9);
  EXPECT_TRUE(limiter.admit("10.0.0.7").ok());
  limiter.fail("10.0.0.7");

  EXPECT_EQ(limiter.admit("10.0.0.7").to_string(),
            "UNAUTHENTICATED: 10 tokens from this address were not accepted within 60 s; try again "
            "in 60 s");
  EXPECT_TRUE(limiter.admit("10.0.0.8").ok());
}

TEST(TriesLimiter, AFailureIsForgottenAfterAMinute) {
  ManualClock clock;
  TriesLimiter limiter(clock);
  limiter.fail("a");
  clock.advance_to(30 * kSecond);
  fail(limiter, "a", 9);

  clock.advance_to(60 * kSecond - 1);
  EXPECT_NE(limiter.admit("a").message().find("try again in 1 s"), std::string::npos);
  clock.advance_to(60 * kSecond);

  EXPECT_TRUE(limiter.admit("a").ok());
  limiter.fail("a");
  EXPECT_NE(limiter.admit("a").message().find("try again in 30 s"), std::string::npos);
}

TEST(TriesLimiter, AnAddressWithoutFailuresTakesNoRoom) {
  ManualClock clock;
  TriesLimiter limiter(clock);

  EXPECT_TRUE(limiter.admit("a").ok());
  EXPECT_EQ(limiter.addresses(), 0u);
  limiter.fail("a");
  EXPECT_EQ(limiter.addresses(), 1u);
  clock.advance_to(60 * kSecond);
  EXPECT_TRUE(limiter.admit("a").ok());

  EXPECT_EQ(limiter.addresses(), 0u);
}

TEST(TriesLimiter, RemembersSoManyAddressesAndForgetsTheOldest) {
  ManualClock clock;
  TriesLimiter limiter(clock);
  fail(limiter, "first", 10);
  fail(limiter, "second", 10);
  for (int number = 2; number < 4096; ++number) limiter.fail(std::to_string(number));
  EXPECT_EQ(limiter.addresses(), 4096u);
  EXPECT_FALSE(limiter.admit("first").ok());
  limiter.fail("first");  // It has failed later than the second one now.

  limiter.fail("one more");

  EXPECT_EQ(limiter.addresses(), 4096u);
  EXPECT_FALSE(limiter.admit("first").ok());
  EXPECT_TRUE(limiter.admit("second").ok());
}

TEST(TriesLimiter, TellsLongAddressesApartByTheirBeginning) {
  ManualClock clock;
  TriesLimiter limiter(clock);
  const std::string long_one(255, 'a');

  fail(limiter, long_one + "bc", 10);

  EXPECT_FALSE(limiter.admit(long_one + "b").ok());
  EXPECT_TRUE(limiter.admit(long_one + "c").ok());
  EXPECT_TRUE(limiter.admit(long_one).ok());
}

}  // namespace
}  // namespace seaway::transport
