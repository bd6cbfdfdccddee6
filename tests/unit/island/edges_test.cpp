// Edges that end at times of their own.

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "island/scheduler_core.hpp"
#include "unit/island/plans.hpp"

namespace seaway::island {
namespace {

TEST(Edges, ASendWhoseReceiverIsGoneBeforeItsPartIsAdmittedEndsNobodyElsesUse) {
  CoreOptions options;
  options.devices = 1;
  options.memory_bytes = 10;
  SchedulerCore core(options);
  program::PartPlan plan = PlanMaker({0}, 1).gangs(1).arg(0, 1).plan();
  program::Send send;
  send.edge = 7;
  send.peer = 1;
  send.value = plan.args[0].value;
  plan.sends.push_back(send);
  ASSERT_TRUE(core.launch({.stamp = 1,
                           .run = 1,
                           .tenant = 1,
                           .plan = PlanMaker({0}, 0).gangs(1).output(0, 10).make(),
                           .args = {},
                           .outputs = {50}})
                  .ok());
  ASSERT_TRUE(core.launch({.stamp = 2,
                           .run = 2,
                           .tenant = 1,
                           .plan = std::make_shared<const program::PartPlan>(std::move(plan)),
                           .args = {100},
                           .outputs = {}})
                  .ok());

  const std::uint32_t waiting = core.counters().parts_waiting;
  core.received(2, send.edge);
  core.free(50);
  core.done(1, 0, 1);
  core.done(2, 0, 1);
  core.free(100);

  EXPECT_EQ(waiting, 1u);
  EXPECT_TRUE(core.idle());
  EXPECT_EQ(core.array_count(), 0u);
  EXPECT_EQ(core.used_bytes(0), 0u);
}

}  // namespace
}  // namespace seaway::island
