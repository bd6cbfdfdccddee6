// What a host knows of functions, plans and uploads, and when it forgets them.

#include <gtest/gtest.h>

#include <vector>

#include "unit/device/host_world.hpp"

namespace seaway::device {
namespace {

/// A plan of `gangs` gangs that take and make nothing.
program::PartPlanPtr long_plan(PlanId id, std::uint32_t gangs) {
  PartMaker part(id, {0});
  for (std::uint32_t i = 0; i < gangs; ++i) part.gang({}, {});
  return part.make();
}

TEST(HostDefinitions, OfForgottenPlansTheNewestAreKeptForTraces) {
  HostWorld world;
  const auto gangs = static_cast<std::uint32_t>(world.core.options().old_gangs_max / 2 + 1);
  for (const PlanId id : {1u, 2u, 3u}) world.core.define_plan(long_plan(id, gangs));

  world.core.forget_plan(1);
  world.core.forget_plan(2);
  world.core.advance();

  EXPECT_EQ(world.core.plan_count(), 1u);
  EXPECT_EQ(world.core.find_plan(1), nullptr);
  ASSERT_NE(world.core.find_plan(2), nullptr);
  EXPECT_EQ(world.core.find_plan(2)->gangs.size(), gangs);
}

TEST(HostDefinitions, AForgottenPlanGoesWhenItsLastGangIsDone) {
  HostWorld world;
  PartMaker slow(1, {0});
  slow.gang({}, {}, {.cost_ns = kSlow});
  world.run(1, slow);

  world.core.forget_plan(1);
  world.core.advance();
  EXPECT_EQ(world.core.plan_count(), 1u);
  world.end_gang();

  EXPECT_EQ(world.core.plan_count(), 0u);
}

TEST(HostDefinitions, RunsNoLongGangInlineWhateverItsPlanEstimates) {
  HostWorld world;
  const auto run = [&world](std::uint64_t plan, std::uint64_t cost_ns) {
    world.core.add_function(kernel_id(0, 0), std::make_shared<SumKernel>(0, 0, 0, cost_ns));
    PartMaker part(plan, {0});
    part.gang({}, {}, {.cost_ns = 1});
    world.run(plan, part);
  };

  run(1, 100);
  EXPECT_EQ(world.backend.runs, 1u);
  run(2, kSlow);

  EXPECT_EQ(world.backend.runs, 1u);
  world.end_gang();
  EXPECT_EQ(world.backend.runs, 2u);
}

TEST(HostDefinitions, AForgottenPlanWaitsForTheLastOfItsRunsAndNotForOthers) {
  HostWorld world;
  PartMaker slow(1, {0}), other(2, {0});
  slow.gang({}, {}, {.cost_ns = kSlow});
  other.gang({}, {}, {.cost_ns = kSlow});
  world.run(1, slow);
  world.run(2, slow);
  world.run(3, other);

  world.core.forget_plan(1);
  world.core.forget_plan(1);
  world.end_gang();
  EXPECT_EQ(world.core.plan_count(), 2u);
  world.end_gang();

  EXPECT_EQ(world.core.plan_count(), 1u);
  world.end_gang();
  world.run(4, other);
  world.end_gang();
  EXPECT_TRUE(world.core.is_idle());
}

TEST(HostDefinitions, AClientTakesItsFunctionsAndSpecsAlong) {
  HostWorld world;
  const std::size_t functions = world.core.function_count();
  const ArrayId its = make_id(7, 50), other = make_id(8, 50);
  world.core.add_function(make_id(7, 1), std::make_shared<SumKernel>(1, 1));
  world.put(its, HostWorld::row(41));
  world.put(other, HostWorld::row(43));
  EXPECT_EQ(world.core.spec_count(), 4u);

  world.core.forget_client(7);

  EXPECT_EQ(world.core.function_count(), functions);
  EXPECT_EQ(world.core.spec_count(), 2u);
  EXPECT_EQ(world.value(its), "41");  // Its handle may have been given back a moment ago.
  EXPECT_EQ(world.value(other), "43");
}

TEST(HostDefinitions, PlansKeepTheirFunctions) {
  HostWorld world;
  PartMaker part(1, {0});
  part.gang({part.arg()}, {part.output()});
  world.put(50, HostWorld::row(41));
  world.launch(1, part, {50, 60});

  world.core.forget_client(client_of(kernel_id(1, 1)));
  world.admit(1);
  world.place(1, 0, 1);
  world.core.advance();

  EXPECT_EQ(world.core.function_count(), 0u);
  EXPECT_EQ(world.value(60), "42");
}

}  // namespace
}  // namespace seaway::device
