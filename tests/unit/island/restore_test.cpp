// A scheduler that is lost and restored: in random worlds, and what does not fit together.

#include <gtest/gtest.h>

#include "unit/island/plans.hpp"
#include "unit/island/restore_world.hpp"

namespace seaway::island {
namespace {

constexpr std::uint64_t kWorlds = 3000;

/// Runs `world` to its end; `at_random` is called about every `every` steps.
template <class AtRandom>
void run(RestoreWorld& world, std::uint64_t seed, std::uint64_t every, const AtRandom& at_random) {
  RandomStream random(seed, 2);
  while (!world.over()) {
    if (random.below(every) == 0) at_random();
    ASSERT_EQ(world.violation(), "") << "seed " << seed << "\n" << world.to_string();
    const bool moved = world.step();
    ASSERT_EQ(world.violation(), "") << "seed " << seed << "\n" << world.to_string();
    ASSERT_TRUE(moved || world.over()) << "seed " << seed << " is stuck\n" << world.to_string();
  }
}

void expect_nothing_left(const RestoreWorld& world, std::uint64_t seed) {
  EXPECT_TRUE(world.core().idle()) << "seed " << seed;
  EXPECT_EQ(world.core().array_count(), 0u) << "seed " << seed << "\n" << world.to_string();
  EXPECT_EQ(world.core().used_bytes(0), 0u) << "seed " << seed;
  EXPECT_EQ(world.core().counters().spilled_bytes, 0u) << "seed " << seed;
  EXPECT_EQ(world.core().counters().send_room_used_bytes, 0u) << "seed " << seed;
}

TEST(Restore, WithNothingInFlightTheNewSchedulerEqualsTheLostOne) {
  std::uint32_t exact = 0;
  for (std::uint64_t seed = 1; seed <= kWorlds && !HasFatalFailure(); ++seed) {
    RestoreWorld world(seed);

    run(world, seed, 15, [&] { world.replace_scheduler(); });

    if (!HasFatalFailure()) expect_nothing_left(world, seed);
    exact += world.exact_comparisons();
  }
  EXPECT_GT(exact, 10 * kWorlds);
}

TEST(Restore, WhateverWasInFlightIsLostAndEveryPartStillFinishes) {
  for (std::uint64_t seed = 1; seed <= kWorlds && !HasFatalFailure(); ++seed) {
    RestoreWorld world(seed);

    run(world, seed, 15, [&] { world.lose_scheduler(); });

    if (!HasFatalFailure()) expect_nothing_left(world, seed);
  }
}

}  // namespace
}  // namespace seaway::island
