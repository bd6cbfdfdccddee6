// A bare schedule never runs dry, so that its figure is of steps and of nothing else.

#include "sim/bare_schedule.hpp"

#include <gtest/gtest.h>

namespace seaway::sim {
namespace {

TEST(BareSchedule, TakesAllStepsThatItIsAskedFor) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    EXPECT_EQ(run_bare(seed, 1000), 1000u) << seed;
  }
}

}  // namespace
}  // namespace seaway::sim
