// A host whose devices are lost: what fails, what is poison, and what goes on.

#include "unit/device/host_world.hpp"

namespace seaway::device {
namespace {

const std::string kLoss = "DEVICE_LOST: device 0 of island 0 is lost: it fell off the bus";

std::string gone(ArrayId array) {
  return "INPUT_LOST: array " + std::to_string(array) + " lay on a device that is gone: " + kLoss;
}

/// Makes one array.
PartMaker maker(PlanId id, std::vector<DeviceId> devices, GangOptions options = {}) {
  PartMaker part(id, std::move(devices));
  part.gang({}, {part.output()}, std::move(options));
  return part;
}

TEST(HostLosses, ALossIsToldOnce) {
  HostWorld world(2);

  world.lose(1);
  world.lose(1);

  EXPECT_EQ(world.said(), "lost 1");
  EXPECT_EQ(world.core.loss_of(1)->message(), "device 1 of island 0 is lost: it fell off the bus");
  EXPECT_EQ(world.core.loss_of(0), nullptr);
}

TEST(HostLosses, AGangThatRunsThereFailsOnAllItsDevices) {
  HostWorld world(2);
  world.run(1, maker(1, {0, 1}, {.cost_ns = kSlow, .site = "a.cpp:1"}), {60});

  world.lose(0);
  EXPECT_EQ(world.said(), "lost 0");  // It is the backend's to say when the gang has ended.
  world.end_gang();

  EXPECT_EQ(world.said(), "gangs 1 0-1, failed 1 " + kLoss + "; called at a.cpp:1");
  EXPECT_EQ(world.value(60, 2), kLoss + "; called at a.cpp:1");
  EXPECT_EQ(world.used(0) + world.used(1), 0u);
  EXPECT_TRUE(world.core.is_idle());
}

TEST(HostLosses, LaterGangsThereAreNoOpsInStreamOrderAndOthersRun) {
  HostWorld world(2);
  world.run(1, maker(1, {1}, {.cost_ns = kSlow}), {60});
  world.run(2, maker(2, {0, 1}), {61});
  world.run(3, maker(3, {1}), {62});

  world.lose(0);
  EXPECT_EQ(world.seen(), "start 1.0");
  world.end_gang();

  EXPECT_EQ(world.seen(), "end 1.0, noop 2.0, start 3.0, end 3.0");
  EXPECT_EQ(world.said(), "lost 0, gangs 1 0-1, gangs 2 0-1, gangs 3 0-1, failed 2 " + kLoss);
  EXPECT_EQ(world.value(60), "1");
  EXPECT_EQ(world.value(61, 2), kLoss);
  EXPECT_EQ(world.value(62), "1");
}

TEST(HostLosses, GangsOfARunThatEndedElsewhereAreNoOpsFromTheFirstThatNeedsTheDevice) {
  HostWorld world(2);
  PartMaker part(1, {1});
  const std::uint32_t there = part.group({0});
  part.gang({}, {part.output()}).gang({}, {part.output(there)}, {.group = there});
  part.gang({}, {part.output()});
  world.lose(0);

  world.run(1, part, {60, 61, 62});

  EXPECT_EQ(world.seen(), "start 1.0, end 1.0, noop 1.1, noop 1.2");
  for (const ArrayId array : {60, 61, 62}) EXPECT_EQ(world.value(array), kLoss);
  for (const ArrayId array : {60, 61, 62}) world.free(array);
  EXPECT_EQ(world.used(0) + world.used(1), 0u);
}

TEST(HostLosses, AnArrayWithAShardThereIsLostToWhoeverReadsIt) {
  HostWorld world(3);
  world.run(1, maker(1, {0, 1}), {60});
  PartMaker away(2, {0, 1});
  away.reshard(away.arg(), away.output(away.group({1, 2})));

  world.lose(0);
  world.said();
  world.run(2, away, {60, 61});

  EXPECT_EQ(world.value(60, 2), gone(60));
  EXPECT_EQ(world.value(61, 2), gone(60));
  EXPECT_EQ(world.said(), "gangs 2 0-1, failed 2 " + gone(60));
}

TEST(HostLosses, TheRoomOfALostArrayIsGivenBackOnce) {
  HostWorld world(2);
  world.run(1, maker(1, {0, 1}), {60});
  world.run(2, maker(2, {0, 1}), {61});

  world.lose(0);
  EXPECT_EQ(world.used(0), 128u);
  world.free(60);
  EXPECT_EQ(world.used(0), 64u);
  world.spill(61);

  EXPECT_EQ(world.said(), "lost 0, gangs 1 0-1, gangs 2 0-1, spilled 61");
  EXPECT_EQ(world.used(0) + world.used(1), 0u);
  world.free(61);
  EXPECT_EQ(world.core.array_count(), 0u);
}

TEST(HostLosses, WhatGoesWithADeviceGoesWhenItIsLost) {
  HostWorld world(2);
  world.run(1, maker(1, {0}, {.cost_ns = kSlow}), {60});
  world.clock.advance_to(world.clock.now_ns() + 5'000);
  world.lose(0);
  world.clock.advance_to(world.clock.now_ns() + 5'000);
  world.end_gang();

  const auto& ring = world.events.ring();
  for (std::size_t i = 1; i < ring.size(); ++i) {
    EXPECT_GE(ring.at(i).time_ns, ring.at(i - 1).time_ns) << to_string(ring.at(i));
  }
}

TEST(HostLosses, WhatLiesElsewhereOrInHostRoomIsNotTouched) {
  HostWorld world(2);
  world.run(1, maker(1, {1}), {60});
  world.run(2, maker(2, {0}), {61});
  world.spill(61);
  world.put(62, HostWorld::row(7));

  world.lose(0);

  EXPECT_EQ(world.value(60), "1");
  EXPECT_EQ(world.value(61), "1");
  EXPECT_EQ(world.value(62), "7");
}

TEST(HostLosses, WhatLiesInHostRoomIsCopiedAwayWithoutBeingLoaded) {
  HostWorld world(2);
  PartMaker away(1, {0});
  away.reshard(away.arg(), away.output(away.group({1})));
  world.put(50, HostWorld::row(7));
  world.lose(0);

  world.run(1, away, {50, 60});

  EXPECT_EQ(world.value(60), "7");
  EXPECT_EQ(world.used(0), 0u);
  EXPECT_EQ(world.used(1), 64u);
}

TEST(HostLosses, WhatWasBoundBeforeTheLossIsNotReadBehindIt) {
  HostWorld world(2);
  PartMaker part(1, {0});
  const std::uint32_t there = part.group({1}), in = part.arg();
  part.gang({}, {}, {.group = there, .cost_ns = kSlow}).gang({in}, {});
  part.reshard(in, part.output(there));
  world.put(50, HostWorld::row(7));
  PartMaker blocker(2, {1});
  blocker.gang({}, {}, {.cost_ns = kSlow});
  world.run(2, blocker);
  world.run(3, part, {50, 60});
  EXPECT_EQ(world.seen(), "start 2.0, start 3.1, end 3.1");

  world.lose(0);
  world.end_gang();
  world.end_gang();

  EXPECT_EQ(world.seen(), "end 2.0, start 3.0, end 3.0, noop 3.2");
  EXPECT_EQ(world.value(60), gone(50));
}

TEST(HostLosses, ACopyFromADeviceThatIsLostMeanwhileFails) {
  HostWorld world(2);
  PartMaker away(2, {0});
  away.reshard(away.arg(), away.output(away.group({1})));
  world.run(1, maker(1, {0}), {50});
  world.backend.holds_copies = true;
  world.run(2, away, {50, 60});

  world.lose(0);
  world.end_copy();

  EXPECT_EQ(world.value(60), gone(50));
}

TEST(HostLosses, AValueThatWasNotSentYetIsDeliveredAsPoison) {
  HostWorld world;
  PartMaker part(1, {0});
  const std::uint32_t value = part.inner();
  part.gang({}, {value}).send(value, 7, 1);
  world.run(1, part);

  world.lose(0);
  EXPECT_EQ(world.said(), "lost 0, gangs 1 0-1");
  world.armed(1, 7, 1);
  EXPECT_EQ(world.said(), "delivered 1.7 to 1 " + kLoss + ", failed 1 " + kLoss);
  world.consumed(1, 7, 1);

  EXPECT_EQ(world.said(), "received 1.7");
  EXPECT_EQ(world.used(), 0u);
  EXPECT_TRUE(world.core.is_idle());
}

TEST(HostLosses, AValueInHostRoomIsSentAllTheSame) {
  HostWorld world;
  PartMaker part(1, {0});
  const std::uint32_t value = part.inner();
  part.gang({}, {value}).send(value, 7, 1);
  world.run(1, part);
  world.move_sends(1);

  world.lose(0);
  world.armed(1, 7, 1);

  EXPECT_EQ(world.said(), "lost 0, delivered 1.7 to 1, gangs 1 0-1, moved 1");
  EXPECT_TRUE(world.bulk.take_edge(1, 7).has_value());
  world.consumed(1, 7, 1);
  EXPECT_TRUE(world.core.is_idle());
}

TEST(HostLosses, AValueThatIsToBeMovedToHostRoomIsPoisonInstead) {
  HostWorld world;
  PartMaker part(1, {0});
  const std::uint32_t value = part.inner();
  part.gang({}, {value}).send(value, 7, 1);
  world.run(1, part);
  world.lose(0);
  world.said();

  world.move_sends(1);
  EXPECT_EQ(world.said(), "moved 1, failed 1 " + kLoss);
  world.armed(1, 7, 1);

  EXPECT_EQ(world.said(), "delivered 1.7 to 1 " + kLoss);
}

TEST(HostLosses, AReceiverOnALostDeviceTakesWhatComesAndFails) {
  HostWorld world;
  PartMaker part(1, {0});
  part.gang({part.receive(7, 1)}, {part.output()});
  world.run(1, part, {60});
  world.lose(0);
  world.said();

  world.offer(1, 7, HostWorld::row(41));
  world.delivered(1, 7, 1);

  EXPECT_EQ(world.said(), "consumed 1.7 to 1, gangs 1 0-1, failed 1 " + kLoss);
  EXPECT_EQ(world.value(60), kLoss);
  EXPECT_EQ(world.used(), 0u);
}

TEST(HostLosses, AGangInLineThatFindsItOutFailsWhateverItSays) {
  for (const bool has_starts : {true, false}) {  // Without them, short gangs run in a row.
    HostWorld world;
    if (!has_starts) {
      world.events.enable(events::EventStream::kAll &
                          ~events::EventStream::bit(events::EventKind::kGangStart));
    }
    PartMaker part(1, {0});
    const std::uint32_t inner = part.inner();
    part.gang({}, {inner}).gang({inner}, {part.output()});
    world.backend.during_run = [&world] { world.core.lose_device(0, "it fell off the bus"); };

    world.run(1, part, {60});

    EXPECT_EQ(world.said(), "lost 0, gangs 1 0-2, failed 1 " + kLoss);
    EXPECT_EQ(world.value(60), kLoss);
    EXPECT_EQ(world.used(), 0u);
  }
}

TEST(HostLosses, ShortGangsAreNoExceptions) {
  HostWorld world;
  world.events.enable(events::EventStream::kAll &
                      ~events::EventStream::bit(events::EventKind::kGangStart));
  PartMaker part(1, {0});
  const std::uint32_t inner = part.inner();
  part.gang({}, {inner}).gang({inner}, {part.output()});
  world.lose(0);

  world.run(1, part, {60});

  EXPECT_EQ(world.value(60), kLoss);
}

}  // namespace
}  // namespace seaway::device
