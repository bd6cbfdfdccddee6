// PartProfile: what the scheduler derives from a plan once, where it is easy to get wrong.

#include "island/part_profile.hpp"

#include <gtest/gtest.h>

namespace seaway::island {
namespace {

/// Two groups on one device. Gang 0 makes a value of 64 bytes in the first block, which is sent;
/// gang 1 works in 64 bytes of the second.
std::shared_ptr<program::PartPlan> two_blocks_on_one_device() {
  auto plan = std::make_shared<program::PartPlan>();
  plan->groups = {{{0}, {{"x", 1}}}, {{0}, {{"y", 1}}}};
  plan->values.resize(2);
  for (std::uint32_t i = 0; i < 2; ++i) {
    plan->values[i].group = i;
    plan->values[i].shard_bytes = 64;
    program::Gang& gang = plan->gangs.emplace_back();
    gang.position = i;
    gang.group = i;
    gang.results = {i};
  }
  program::Send& send = plan->sends.emplace_back();
  send.peer = 1;
  plan->blocks = {{0, {{0, 64}, {1, 0}, {2, 0}}}, {1, {{0, 64}, {2, 0}}}};
  return plan;
}

TEST(PartProfile, EachBlockIsAsLargeAsItsGangsOrItsSendsNeed) {
  const auto profile = make_profile(two_blocks_on_one_device(), 1);

  ASSERT_EQ(profile->classes.size(), 1u);
  const DeviceClass& device = profile->classes[0];
  EXPECT_EQ(device.block_bytes(0, true), 128u);
  EXPECT_EQ(device.block_bytes(1, true), 128u);  // One for the send, one for the second gang.
  EXPECT_EQ(device.block_bytes(2, true), 64u);
  EXPECT_EQ(device.block_bytes(1, false), 64u);
  EXPECT_EQ(device.block_bytes(2, false), 0u);
}

}  // namespace
}  // namespace seaway::island
