// Room on devices: when it is taken, when it is given back, and that budgets always hold (HO-1).

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/device/host_world.hpp"

namespace seaway::device {
namespace {

TEST(HostMemory, RoomIsTakenWithTheFirstGangThatNeedsIt) {
  HostWorld world;
  PartMaker part(1, {0});
  const std::uint32_t inner = part.inner(), in = part.arg(), out = part.output();
  part.work(128).gang({}, {}, {.cost_ns = kSlow}).gang({in}, {inner}, {.cost_ns = kSlow});
  part.gang({inner}, {out}, {.cost_ns = kSlow});
  world.put(50, HostWorld::row(1));

  world.run(1, part, {50, 60});
  EXPECT_EQ(world.used(), 64u + 128u);  // The block, with its work space.
  world.end_gang();
  EXPECT_EQ(world.used(), 64u + 128u + 64u);  // The argument was loaded.
  world.end_gang();
  EXPECT_EQ(world.used(), 64u + 128u + 64u + 64u);  // The output.
  world.end_gang();

  EXPECT_EQ(world.used(), 128u);  // Both arrays.
  EXPECT_EQ(world.core.device(0).peak_bytes, 320u);
  world.free(50);
  world.free(60);
  EXPECT_EQ(world.used(), 0u);
  EXPECT_EQ(world.core.array_count(), 0u);
}

TEST(HostMemory, ABlockShrinksBehindTheGangThatEndsItsStep) {
  HostWorld world(1, 1024);
  PartMaker part(1, {0});
  part.work(1024);
  part.gang({}, {}, {.cost_ns = kSlow}).shrinks(0, 512);
  part.gang({}, {}, {.cost_ns = kSlow}).shrinks(0, 64);
  part.gang({}, {}, {.cost_ns = kSlow});

  world.run(1, part);
  EXPECT_EQ(world.used(), 1024u);
  world.end_gang();
  EXPECT_EQ(world.used(), 512u);
  world.end_gang();
  EXPECT_EQ(world.used(), 64u);
  world.end_gang();

  EXPECT_EQ(world.used(), 0u);
}

TEST(HostMemory, TheNextPartTakesTheRoomInStreamOrder) {
  HostWorld world(1, 1024);
  PartMaker part(1, {0});
  part.work(1024).gang({}, {}, {.cost_ns = kSlow});

  world.run(1, part);
  world.run(2, part);
  world.run(3, part);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(world.used(), 1024u);
    world.end_gang();
  }

  EXPECT_EQ(world.used(), 0u);
  EXPECT_EQ(world.core.device(0).peak_bytes, 1024u);
}

TEST(HostMemory, OrdersBeyondTheBudgetAreRefused) {
  HostWorld world(1, 1023);
  PartMaker part(1, {0});
  part.work(1024).gang({}, {});

  world.run(1, part);

  ASSERT_EQ(world.core.outbox().wrong.size(), 1u);
  EXPECT_EQ(world.core.outbox().wrong[0].role, actor::Role::kIsland);
}

/// A part on two groups: its first gang makes a value on device 0 that goes to island 1; its later
/// gangs run on device 1 only. The block of device 0 ends behind the first gang.
PartMaker sender_on_two_groups() {
  PartMaker part(1, {0});
  const std::uint32_t other = part.group({1}), sent = part.inner();
  part.gang({}, {sent}).shrinks(0);
  part.gang({}, {}, {.group = other, .cost_ns = kSlow});
  part.gang({}, {}, {.group = other, .cost_ns = kSlow});
  return part.work(64, other).send(sent, 7, 1);
}

TEST(HostMemory, RoomOfASentValueGoesWhenItIsReceivedThoughOtherDevicesGoOn) {
  HostWorld world(2, 64);  // No room beside it.
  PartMaker next(2, {0});
  next.work(64).gang({}, {});

  world.run(1, sender_on_two_groups());
  EXPECT_EQ(world.used(0), 64u);
  world.armed(1, 7, 1);
  EXPECT_EQ(world.used(0), 64u);
  EXPECT_EQ(world.said(), "delivered 1.7 to 1, gangs 1 0-1");
  world.consumed(1, 7, 1);

  EXPECT_EQ(world.used(0), 0u);
  EXPECT_EQ(world.used(1), 64u);
  world.run(2, next);
  EXPECT_EQ(world.said(), "received 1.7, gangs 2 0-1");
  world.end_gang();
  world.end_gang();
  EXPECT_EQ(world.used(1), 0u);
  EXPECT_TRUE(world.core.is_idle());
}

TEST(HostMemory, RoomOfASentValueOutlivesTheGangsOfItsPart) {
  HostWorld world;
  PartMaker part(1, {0});
  const std::uint32_t sent = part.inner();
  part.work(640).gang({}, {sent}).send(sent, 7, 1);

  world.run(1, part);
  EXPECT_EQ(world.used(), 64u);  // The work space went with the last gang.
  world.armed(1, 7, 1);
  EXPECT_EQ(world.used(), 64u);
  EXPECT_FALSE(world.core.is_idle());
  world.consumed(1, 7, 1);

  EXPECT_EQ(world.used(), 0u);
  EXPECT_TRUE(world.core.is_idle());
}

TEST(HostMemory, ReceivesHaveTheirRoomBeforeTheyAreArmed) {
  HostWorld world(1, 64);
  PartMaker first(1, {0}), second(2, {0});
  first.work(64).gang({}, {}, {.cost_ns = kSlow});
  second.gang({second.receive(7, 1)}, {});

  world.run(1, first);
  world.run(2, second);
  EXPECT_EQ(world.said(), "");
  EXPECT_EQ(world.used(), 64u);
  world.end_gang();

  EXPECT_EQ(world.said(), "armed 2.7 to 1, gangs 1 0-1");
  EXPECT_EQ(world.used(), 64u);
}

TEST(HostMemory, OnlyEntriesBeforeTheAdmissionHoldAReceiveBack) {
  HostWorld world(2);
  PartMaker other(1, {1}), reader(2, {0}), later(3, {0});
  other.gang({}, {}, {.cost_ns = kSlow});
  reader.gang({reader.receive(7, 1)}, {});
  later.gang({}, {}, {.cost_ns = kSlow});

  world.run(1, other);
  world.launch(2, reader);
  world.admit(2);
  world.run(3, later);

  EXPECT_EQ(world.said(), "armed 2.7 to 1");
}

TEST(HostMemory, ACancelledPartGivesBackWhatNoPlacedGangNeeds) {
  HostWorld world(2);
  PartMaker part(1, {0});
  const std::uint32_t other = part.group({1});
  part.work(64).work(128, other);
  part.gang({}, {}, {.cost_ns = kSlow}).gang({}, {}, {.group = other, .cost_ns = kSlow});
  part.gang({}, {}, {.group = other});
  world.launch(1, part);
  world.admit(1);
  world.place(1, 0, 2);
  world.core.advance();
  world.end_gang();
  EXPECT_EQ(world.used(0), 64u);
  EXPECT_EQ(world.used(1), 128u);

  world.cancel(1);
  EXPECT_EQ(world.used(0), 0u);
  EXPECT_EQ(world.used(1), 128u);
  world.end_gang();

  EXPECT_EQ(world.used(1), 0u);
  EXPECT_TRUE(world.core.is_idle());
}

// ---- Donation -------------------------------------------------------------------------------

TEST(HostMemory, ADonationTakesOverTheBuffer) {
  HostWorld world(1, 64);  // Room for one array.
  PartMaker part(1, {0});
  part.gang({part.arg()}, {part.output()}).donate(0, 0);
  world.put(50, HostWorld::row(41));

  world.run(1, part, {50, 60});

  EXPECT_EQ(world.value(60), "42");
  EXPECT_EQ(world.used(), 64u);
  EXPECT_EQ(world.core.array_count(), 1u);
  EXPECT_EQ(world.value(50),
            "INVALID_ARGUMENT: array 50 is not on island 0; it was freed or donated");
}

TEST(HostMemory, ADonationThatWasPlacedIsFreedThoughItsGangDidNotRun) {
  HostWorld world;
  PartMaker part(1, {0});
  const std::uint32_t inner = part.inner();
  part.gang({}, {inner}, {.cost_ns = kSlow}).gang({part.arg()}, {part.output()}).donate(0, 0);
  world.put(50, HostWorld::row(41));
  PartMaker load(2, {0});
  load.gang({load.arg()}, {});
  world.run(1, load, {50});
  EXPECT_EQ(world.used(), 64u);

  world.run(2, part, {50, 60});
  world.end_gang(user_function_error("broken"));

  EXPECT_EQ(world.used(), 0u);
  EXPECT_EQ(world.core.array_count(), 1u);  // The output, which is poison.
  EXPECT_EQ(world.value(60), "USER_FUNCTION_ERROR: broken");
}

TEST(HostMemory, ADonationThatWasNotPlacedIsLeftToTheScheduler) {
  HostWorld world;
  PartMaker part(1, {0});
  part.gang({}, {}, {.cost_ns = kSlow}).gang({part.arg()}, {part.output()}).donate(0, 0);
  world.put(50, HostWorld::row(41));
  world.launch(1, part, {50, 60});
  world.admit(1);
  world.place(1, 0, 1);
  world.core.advance();

  world.cancel(1);
  world.end_gang();

  EXPECT_TRUE(world.core.is_idle());
  EXPECT_EQ(world.value(50), "41");
}

// ---- Spills ---------------------------------------------------------------------------------

TEST(HostMemory, WhatIsSpilledComesBackAsItWas) {
  HostWorld world(2);
  PartMaker next(1, {0, 1});
  next.gang({next.arg()}, {next.output()});
  std::vector<float> both = HostWorld::row(10);
  both.resize(32, 20);
  world.put(50, both, {0, 1});
  world.run(1, next, {50, 60});
  world.free(50);
  EXPECT_EQ(world.used(1), 64u);

  world.spill(60);
  EXPECT_EQ(world.said(), "gangs 1 0-1, spilled 60");
  EXPECT_EQ(world.used(0) + world.used(1), 0u);
  EXPECT_EQ(world.value(60, 2), "11 21");
  world.run(2, next, {60, 61});

  EXPECT_EQ(world.used(0), 128u);
  EXPECT_EQ(world.value(60, 2), "11 21");
  EXPECT_EQ(world.value(61, 2), "12 22");
}

TEST(HostMemory, ASpilledDonationIsLoadedAndHandedOn) {
  HostWorld world(1, 64);
  PartMaker part(1, {0});
  part.gang({part.arg()}, {part.output()}).donate(0, 0);
  world.put(50, HostWorld::row(1));
  world.run(1, part, {50, 60});
  world.spill(60);

  world.run(2, part, {60, 61});

  EXPECT_EQ(world.value(61), "3");
  EXPECT_EQ(world.used(), 64u);
  EXPECT_EQ(world.core.array_count(), 1u);
}

TEST(HostMemory, ASpillOfPoisonGivesItsRoomBack) {
  HostWorld world;
  PartMaker part(1, {0});
  part.gang({}, {part.output()}).gang({}, {}, {.cost_ns = kSlow});
  world.run(1, part, {60});
  world.end_gang(user_function_error("broken"));
  EXPECT_EQ(world.used(), 64u);

  world.spill(60);

  EXPECT_EQ(world.used(), 0u);
  EXPECT_EQ(world.value(60), "USER_FUNCTION_ERROR: broken");
}

TEST(HostMemory, AnArrayIsFreedBehindTheEntriesThatMayReadIt) {
  HostWorld world;
  PartMaker reader(1, {0});
  const std::uint32_t in = reader.arg();
  reader.gang({in}, {}, {.cost_ns = kSlow}).gang({in}, {reader.output()});
  world.put(50, HostWorld::row(41));

  world.run(1, reader, {50, 60});
  world.free(50);
  world.core.advance();
  EXPECT_EQ(world.used(), 64u);
  world.end_gang();

  EXPECT_EQ(world.value(60), "42");
  EXPECT_EQ(world.core.array_count(), 1u);
  EXPECT_EQ(world.used(), 64u);
}

}  // namespace
}  // namespace seaway::device
