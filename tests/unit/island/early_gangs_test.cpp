// Gangs that are placed before their inputs exist: when, and how many.

#include <gtest/gtest.h>

#include <string>

#include "island/scheduler_core.hpp"
#include "unit/island/island_by_hand.hpp"
#include "unit/island/plans.hpp"

namespace seaway::island {
namespace {

/// A step of a pipeline: its second gang, of three, waits for another island.
program::PartPlanPtr step() { return PlanMaker({0}).gangs(3).receive(1, 9, 2, 8).make(); }

TEST(EarlyGangs, OneIsPlacedOnEachDevice) {
  CoreOptions options;
  options.devices = 2;
  Island island(options);
  ASSERT_TRUE(island.launch(1, PlanMaker({0}).gangs(2).receive(0, 3, 1, 8).make()).ok());
  ASSERT_TRUE(island.launch(2, PlanMaker({1}).gangs(1).receive(0, 3, 1, 8).make()).ok());

  EXPECT_EQ(island.seen(), "admit 1, place 1 0-2, admit 2, place 2 0-1");
  EXPECT_EQ(island.core.counters().gangs_placed_early, 2u);
}

TEST(EarlyGangs, ArePlacedBehindGangsThatAreNotDone) {
  Island island;
  ASSERT_TRUE(island.launch(1, step()).ok());
  EXPECT_EQ(island.seen(), "admit 1, place 1 0-1, place 1 1-3") << "the first gang is not done";
}

TEST(EarlyGangs, TheNextOneIsPlacedOnceTheInputsOfTheLastOneExist) {
  Island island;
  ASSERT_TRUE(island.launch(1, step()).ok());
  ASSERT_TRUE(island.launch(2, step()).ok());
  EXPECT_EQ(island.seen(), "admit 1, place 1 0-1, place 1 1-3, admit 2, place 2 0-1");

  island.core.exists(1, 9);

  EXPECT_EQ(island.seen(), "place 2 1-3");
  EXPECT_EQ(island.core.counters().gangs_placed_early, 2u);
}

TEST(EarlyGangs, OneThatIsDoneHoldsUpNoOtherThoughNobodyHasHeardOfItsInputs) {
  Island island;
  ASSERT_TRUE(island.launch(1, step()).ok());
  ASSERT_TRUE(island.launch(2, step()).ok());
  island.core.done(1, 0, 1);
  island.seen();

  island.core.done(1, 1, 2);

  EXPECT_EQ(island.seen(), "place 2 1-3");
}

TEST(EarlyGangs, OneThatIsCancelledHoldsUpNoOther) {
  Island island;
  ASSERT_TRUE(island.launch(1, step()).ok());
  ASSERT_TRUE(island.launch(2, step()).ok());
  island.seen();

  island.core.cancel(1);

  EXPECT_EQ(island.seen(), "cancel 1, place 2 1-3");
}

TEST(EarlyGangs, WaitWhileAFreeGangWaitsForItsPlace) {
  CoreOptions options;
  options.policy = Policy::kShares;
  options.window_ns = 1;
  Island island(options);
  const auto two_waits = PlanMaker({0}).gangs(2).receive(0, 8, 2, 8).receive(1, 9, 2, 8).make();
  ASSERT_TRUE(island.launch(1, two_waits).ok());
  // Two others compete for the device, of which the window lets in one gang each time.
  ASSERT_TRUE(island.launch(2, PlanMaker({0}).gangs(3).make(), {}, {}, 2).ok());
  ASSERT_TRUE(island.launch(3, PlanMaker({0}).gangs(3).make(), {}, {}, 3).ok());
  EXPECT_EQ(island.core.counters().gangs_placed_early, 1u);

  island.core.exists(1, 8);

  EXPECT_EQ(island.core.counters().gangs_placed_early, 1u) << island.core.to_string();
}

TEST(EarlyGangs, OneThatARestoredSchedulerFindsIsStillTheOneThatWaits) {
  const auto plan = step();
  SchedulerCore core(Island::with_defaults({}));
  std::vector<Launch> launches(2);
  for (Stamp stamp = 1; stamp <= 2; ++stamp) {
    launches[stamp - 1].stamp = launches[stamp - 1].run = stamp;
    launches[stamp - 1].plan = plan;
  }
  PartState placed;
  placed.stamp = 1;
  placed.admitted = true;
  placed.gangs_placed = 3;
  placed.gangs_done = {{0, 1}};
  ASSERT_TRUE(core.restore({.last_stamp = 1, .parts = {placed}, .arrays = {}}, launches, {}).ok());
  EXPECT_EQ(core.counters().gangs_placed_early, 0u) << core.to_string();

  core.exists(1, 9);

  EXPECT_EQ(core.counters().gangs_placed_early, 1u) << core.to_string();
}

}  // namespace
}  // namespace seaway::island
