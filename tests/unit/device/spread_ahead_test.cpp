// Gangs on several hosts that are ordered before the one ahead of them has ended.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "unit/device/spread_world.hpp"

namespace seaway::device {
namespace {

/// From array 50 to an inner value, and from there to output 0, in the place of array 60.
PartMaker two_steps() {
  PartMaker part(2, kAll);
  const std::uint32_t in = part.arg(), old = part.arg(), middle = part.inner();
  part.gang({in}, {middle}).gang({middle, old}, {part.output()}).donate(1, 0);
  return part;
}

/// 50 is 10, 11, .. and 60 is 11, 12, .. by shards, both on the devices.
void load_two(SpreadWorld& world) {
  world.put(50, SpreadWorld::rows(10), kAll);
  world.run(1, next(1), {50, 60});
  world.carry();
  world.said();
}

std::vector<RunGang> gangs_ordered(SpreadWorld& world) {
  std::vector<RunGang> gangs;
  for (const AnnexOrder& order : world.core.annexes().outbox()[1]) {
    if (const auto* const run = std::get_if<RunGang>(&order)) gangs.push_back(*run);
  }
  return gangs;
}

TEST(SpreadAhead, AGangThatNeedsNoRoomIsOrderedBehindTheOneThatRuns) {
  SpreadWorld world;
  load_two(world);
  const std::uint64_t used = world.used(3);

  world.run(2, two_steps(), {50, 60, 61});

  const std::vector<RunGang> gangs = gangs_ordered(world);
  ASSERT_EQ(gangs.size(), 2u);
  EXPECT_EQ(gangs[0].behind, 0u);
  EXPECT_EQ(gangs[1].behind, gangs[0].gang);
  EXPECT_EQ(world.said(), "");
  world.carry();
  EXPECT_EQ(world.said(), "gangs 2 0-2");
  EXPECT_EQ(world.read(61), "23 25 27 29");
  EXPECT_EQ(world.used(3), used);
}

TEST(SpreadAhead, AGangThatTakesRoomWaitsForTheEndOfTheOneThatRuns) {
  SpreadWorld world;
  load_two(world);
  PartMaker part(2, kAll);
  const std::uint32_t in = part.arg(), middle = part.inner();
  part.gang({in}, {middle}).gang({middle}, {part.output()});

  world.run(2, part, {50, 61});

  EXPECT_EQ(gangs_ordered(world).size(), 1u);
  world.carry();
  EXPECT_EQ(world.said(), "gangs 2 0-2");
  EXPECT_EQ(world.read(61), "12 13 14 15");
}

TEST(SpreadAhead, AGangBehindOneThatFailsDoesNothing) {
  SpreadWorld world;
  load_two(world);
  function::NativeFunction native;
  native.parameters = native.outputs = {f32({16})};
  native.body = [](auto, auto, std::byte*) { return invalid_argument("it is too large"); };
  world.annex.add_function(kernel_id(1, 1), function::make_native(native));

  world.run(2, two_steps(), {50, 60, 61});
  EXPECT_EQ(gangs_ordered(world).size(), 2u);
  world.carry();

  EXPECT_NE(world.said().find("gangs 2 0-2"), std::string::npos);
  EXPECT_NE(world.read(61).find("it is too large"), std::string::npos);
  EXPECT_TRUE(world.core.is_idle());
  EXPECT_EQ(world.core.exchanges().is_quiet(), true);
}

TEST(SpreadAhead, AGangBegunAheadEndsBehindTheOneBeforeIt) {
  // The first one computes for a while on this host; the annex is done with both, but for that.
  SpreadWorld world;
  load_two(world);
  world.define(kernel_id(1, 1), std::make_shared<TotalKernel>());
  world.backend.holds_stages = true;

  world.run(2, two_steps(), {50, 60, 61});
  world.carry();
  EXPECT_EQ(world.said(), "");
  EXPECT_EQ(world.backend.stages(), 1u);  // Of the first one alone.
  world.backend.end_stage();
  world.backend.holds_stages = false;
  world.core.advance();
  world.carry();
  while (world.backend.stages() > 0) {
    world.backend.end_stage();
    world.carry();
  }

  EXPECT_EQ(world.said(), "gangs 2 0-2");
  // 11 + 12 + 13 + 14 and 1 more, beside 11, 12, ..
  EXPECT_EQ(world.read(61), "63 64 65 66");
}

}  // namespace
}  // namespace seaway::device
