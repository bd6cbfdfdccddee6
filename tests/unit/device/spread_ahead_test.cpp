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

// ---- Gangs of the next run -------------------------------------------------------------------

/// Run 2 makes 61, of which run 3 makes 71 in the place of 70, and the first gang of run 2 is held
/// here; those of the next run stand behind.
class SpreadFollowers : public ::testing::Test {
 protected:
  SpreadFollowers() {
    load_two(world_);
    world_.put(70, SpreadWorld::rows(0), kAll);
    world_.backend.holds_stages = true;
    run_both(2, {50, 60, 61}, {61, 70, 71});
    EXPECT_EQ(world_.said(), "");
  }
  /// Runs `stamp` and the next one, whose room has begun when the first gang does.
  void run_both(Stamp stamp, std::vector<ArrayId> first, std::vector<ArrayId> second) {
    world_.launch(stamp, two_steps(), std::move(first));
    world_.launch(stamp + 1, two_steps(), std::move(second));
    world_.admit(stamp);
    world_.admit(stamp + 1);
    world_.place(stamp, 0, 2);
    world_.place(stamp + 1, 0, 2);
    world_.core.advance();
    world_.carry();
  }
  /// The oldest stage here ends, and what follows is carried.
  void end_stage() {
    world_.backend.end_stage();
    world_.core.advance();
  }
  void end_all() {
    while (world_.backend.stages() > 0) {
      end_stage();
      world_.carry();
    }
  }

  SpreadWorld world_;
};

TEST_F(SpreadFollowers, AreOrderedBehindTheLastGangOfTheRunAhead) {
  world_.seen();
  end_stage();

  const std::vector<RunGang> gangs = gangs_ordered(world_);
  ASSERT_EQ(gangs.size(), 1u) << "the last one of run 2 runs now";
  EXPECT_NE(gangs[0].behind, 0u);
  EXPECT_EQ(gangs[0].gang, gangs[0].behind + 1);
  EXPECT_EQ(world_.seen(), "end 2.0, start 2.1");
  end_all();
  EXPECT_EQ(world_.seen(), "end 2.1, start 3.0, end 3.0, start 3.1, end 3.1");
  EXPECT_EQ(world_.read(61), "23 25 27 29");
  EXPECT_EQ(world_.read(71), "25 28 31 34");
}

TEST_F(SpreadFollowers, OfAGangThatFailsReadPoison) {
  end_all();
  world_.annex.add_function(kernel_id(2, 1), function::make_native([] {
                              function::NativeFunction native;
                              native.parameters = {f32({16}), f32({16})};
                              native.outputs = {f32({16})};
                              native.body = [](auto, auto, std::byte*) {
                                return invalid_argument("it is too large");
                              };
                              return native;
                            }()));
  SpreadWorld& world = world_;
  world.put(90, SpreadWorld::rows(0), kAll);
  run_both(4, {71, 50, 81}, {81, 90, 91});
  end_all();
  const std::string seen = world.seen();
  EXPECT_NE(seen.find("start 4.1"), std::string::npos) << seen;
  EXPECT_EQ(seen.find("start 5.0"), std::string::npos) << seen;

  EXPECT_NE(world.read(91).find("INPUT_LOST"), std::string::npos);
  EXPECT_NE(world.read(91).find("it is too large"), std::string::npos);
  EXPECT_TRUE(world.core.is_idle());
}

TEST_F(SpreadFollowers, OfARunThatIsCancelledMeanwhileDoNothing) {
  end_stage();
  world_.carry();  // The first gang of run 3 is done on the annex.
  world_.seen();

  world_.cancel(3);
  end_all();

  EXPECT_EQ(world_.seen().find("start 3.0"), std::string::npos);
  EXPECT_EQ(world_.read(61), "23 25 27 29");
  EXPECT_TRUE(world_.core.is_idle());
}

TEST_F(SpreadFollowers, DoNotPassTheEndOfARoomThatTheyNeed) {
  // Room for run 4 begins behind run 3 only.
  end_all();
  world_.said();
  PartMaker part(7, kAll);
  const std::uint32_t in = part.arg();
  part.gang({in}, {part.output()});
  world_.run(4, next(8), {71, 81});
  world_.run(5, part, {81, 91});
  ASSERT_EQ(gangs_ordered(world_).size(), 1u) << "that of run 4";
  end_all();
  EXPECT_EQ(world_.read(91), "27 30 33 36");
}

TEST(SpreadDones, OfShortGangsAreToldWithTheEndOfTheLast) {
  SpreadWorld world;
  load_two(world);
  world.backend.holds_stages = true;
  world.run(2, two_steps(), {50, 60, 61});
  world.carry();
  world.backend.end_stage();
  world.core.advance();
  ASSERT_FALSE(world.core.outbox().dones.empty());
  EXPECT_TRUE(world.core.may_tell_later()) << "the second gang runs now";
  EXPECT_TRUE(world.core.has_only_ends());
  world.core.outbox().failures.push_back({});
  EXPECT_FALSE(world.core.has_only_ends()) << "a failure is told at once";
  world.core.outbox().failures.clear();
  world.core.outbox().arrived.assign(64, 50);
  EXPECT_FALSE(world.core.may_tell_later()) << "there is enough to tell";
  world.core.outbox().arrived.clear();

  world.backend.end_stage();
  world.core.advance();
  world.carry();
  EXPECT_FALSE(world.core.may_tell_later());
  EXPECT_EQ(world.said(), "gangs 2 0-2");
}

}  // namespace
}  // namespace seaway::device
