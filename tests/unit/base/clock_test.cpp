// Clocks that do not run by themselves.

#include "base/clock.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace seaway
