// What a scheduler keeps of plans, and when it forgets them.

#include "unit/island/plans.hpp"

#include <gtest/gtest.h>

#include "island/scheduler_core.hpp"

namespace seaway::island {
namespace {

SchedulerCore make_core() {
  CoreOptions options;
  options.devices = 1;
  options.memory_bytes = 100;
  return SchedulerCore(options);
}

Status launch(SchedulerCore& core, Stamp stamp, const program::PartPlanPtr& plan) {
  return core.launch(
      {.stamp = stamp, .run = stamp, .tenant = 1, .plan = plan, .args = {}, .outputs = {}});
}

TEST(Plans, AreForgottenWithTheirProfilesAndMayBeLaunchedAnew) {
  SchedulerCore core = make_core();
  const auto plan = PlanMaker({0}).gangs(1).make(), other = PlanMaker({0}).gangs(1).make();
  ASSERT_TRUE(launch(core, 1, plan).ok());
  ASSERT_TRUE(launch(core, 2, other).ok());
  core.done(1, 0, 1);
  ASSERT_EQ(core.plan_count(), 2u);

  core.forget_plan(plan);
  core.forget_plan(plan);

  EXPECT_EQ(core.plan_count(), 1u);
  EXPECT_EQ(plan.use_count(), 1);
  ASSERT_TRUE(launch(core, 3, plan).ok());
  EXPECT_EQ(core.plan_count(), 2u);
}

TEST(Plans, ThatAreForgottenBeforeTheirLastPartGoWithIt) {
  SchedulerCore core = make_core();
  const auto plan = PlanMaker({0}).gangs(1).make();
  ASSERT_TRUE(launch(core, 1, plan).ok());
  ASSERT_TRUE(launch(core, 2, plan).ok());

  core.forget_plan(plan);
  core.done(1, 0, 1);

  EXPECT_EQ(core.plan_count(), 1u);
  core.done(2, 0, 1);
  EXPECT_EQ(core.plan_count(), 0u);
  EXPECT_EQ(plan.use_count(), 1);
}

}  // namespace
}  // namespace seaway::island
