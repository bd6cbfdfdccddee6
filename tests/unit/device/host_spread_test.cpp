// A host whose island has other hosts: gangs, copies and transfers of values that lie on both.

#include "unit/device/spread_world.hpp"

namespace seaway::device {
namespace {

TEST(HostSpread, AGangRunsOnAllHostsAndItsValueIsWhole) {
  SpreadWorld world;
  world.put(50, SpreadWorld::rows(10), kAll);

  world.run(1, next(1), {50, 60});
  EXPECT_EQ(world.said(), "");
  EXPECT_FALSE(world.core.is_idle());
  world.carry();

  EXPECT_EQ(world.seen(), "start 1.0, end 1.0");
  EXPECT_EQ(world.said(), "gangs 1 0-1");
  EXPECT_EQ(world.read(60), "11 12 13 14");
  EXPECT_EQ(world.used(0), 2 * kShardBytes);
  EXPECT_EQ(world.used(3), 2 * kShardBytes);
  EXPECT_EQ(world.annex.room_count(), 2u);
  EXPECT_TRUE(world.core.is_idle());

  world.free(50);
  world.free(60);
  world.carry();
  EXPECT_EQ(world.annex.room_count(), 0u);
  EXPECT_EQ(world.used(3), 0u);
}

TEST(HostSpread, AnExchangeSeesTheShardsOfAllHosts) {
  SpreadWorld world;
  world.define(kernel_id(1, 1), std::make_shared<TotalKernel>());
  world.put(50, SpreadWorld::rows(10), kAll);

  world.run(1, next(1), {50, 60});
  world.carry();

  EXPECT_EQ(world.read(60), "51 51 51 51");  // 11 + 12 + 13 + 14, and 1.
}

/// A gang of BesideKernel that has begun on both hosts, of which the first computes when the test
/// says so.
void begin_beside(SpreadWorld& world) {
  world.define(kernel_id(1, 2), std::make_shared<BesideKernel>());
  world.put(50, SpreadWorld::rows(10), kAll);
  world.backend.holds_stages = true;
  PartMaker part(1, kAll);
  const std::uint32_t in = part.arg();
  part.gang({in}, {part.output(), part.output()});
  world.run(1, part, {50, 60, 61});
  world.carry_orders();
}

TEST(HostSpread, StagesThatDoNotNeedAnExchangeRunBesideIt) {
  for (const bool is_exchange_first : {false, true}) {
    SpreadWorld world;
    begin_beside(world);
    EXPECT_FALSE(world.core.exchanges().is_quiet());
    EXPECT_EQ(world.backend.stages(), 1u);

    if (is_exchange_first) {
      world.carry();
      EXPECT_EQ(world.backend.stages(), 1u);  // The stage before goes on.
      world.backend.end_stage();
    } else {
      world.backend.end_stage();
      EXPECT_EQ(world.backend.stages(), 0u);  // The exchange is needed.
      world.carry();
    }
    EXPECT_EQ(world.backend.stages(), 1u);
    world.backend.end_stage();
    world.carry();

    EXPECT_EQ(world.said(), "gangs 1 0-1");
    EXPECT_EQ(world.read(60), "46 46 46 46");
    EXPECT_EQ(world.read(61), "57 58 59 60");
  }
}

TEST(HostSpread, AnExchangeThatFailsBesideAStageFailsTheGangWhenThatHasEnded) {
  SpreadWorld world;
  begin_beside(world);

  world.annex.exchanges().fail(1, {{0, 0, 2}, {1, 2, 4}}, resource_exhausted("no memory"));
  world.carry();
  EXPECT_EQ(world.said(), "");
  world.backend.end_stage();
  world.core.advance();
  world.carry();

  EXPECT_EQ(world.backend.stages(), 0u);
  const std::string said = world.said();
  EXPECT_NE(said.find("no memory"), std::string::npos) << said;
  EXPECT_EQ(said.find("failed"), said.rfind("failed"));
  EXPECT_TRUE(world.core.exchanges().is_quiet());
  EXPECT_TRUE(world.annex.exchanges().is_quiet());
}

/// What the host says to its annex in the exchange is lost.
TEST(HostSpread, EndsItsLifeWhenAnExchangeDoesNotEndInTime) {
  SpreadWorld world;
  world.define(kernel_id(1, 1), std::make_shared<TotalKernel>());
  world.put(50, SpreadWorld::rows(10), kAll);
  world.run(1, next(1), {50, 60});
  do {
    world.core.exchanges().outbox().clear();
  } while (world.carry_orders() || world.carry_words() || world.carry_answers());
  ASSERT_TRUE(world.core.due_ns().has_value());

  world.clock.advance_to(*world.core.due_ns() - 1);
  world.core.tick(world.clock.now_ns());
  EXPECT_TRUE(world.core.outbox().wrong.empty());
  world.clock.advance_to(world.clock.now_ns() + 1);
  world.core.tick(world.clock.now_ns());

  ASSERT_EQ(world.core.outbox().wrong.size(), 1u);
  const HostOutbox::Wrong& wrong = world.core.outbox().wrong[0];
  EXPECT_EQ(wrong.role, actor::Role::kAnnex);
  EXPECT_EQ(wrong.index, actor::annex_of(0, 1));
  EXPECT_EQ(wrong.why.code(), StatusCode::kDeadlineExceeded);  // Nobody has lied.
  EXPECT_EQ(
      wrong.why.message(),
      "gang 0 of run 101 did not end within 10000 ms (estimated 0 ms), and host 1 of island 0 "
      "is at it");
  EXPECT_EQ(world.core.due_ns(), std::nullopt);  // Once is enough.
}

TEST(HostSpread, WaitsAsLongAsItTakesForAGangWithoutExchanges) {
  SpreadWorld world;
  world.put(50, SpreadWorld::rows(10), kAll);
  world.run(1, next(1), {50, 60});
  EXPECT_FALSE(world.core.is_idle());
  EXPECT_EQ(world.core.due_ns(), std::nullopt);
}

TEST(HostSpread, WhatIsOfferedInAnExchangeStaysForConnectionsThatReadOn) {
  SpreadWorld world(SpreadWorld::Way::kFetches);
  const std::vector<DeviceId> devices = {0, 2};
  world.define(kernel_id(1, 1), std::make_shared<TotalKernel>(2));
  world.put(50, SpreadWorld::rows(10, 2), devices);
  world.put(51, SpreadWorld::rows(90, 2), {0, 1});
  world.run(1, next(1, devices), {50, 60});
  world.carry_orders();
  EXPECT_EQ(world.planes->first.open(), 1u);

  const std::vector<HostShare> hosts = {{0, 0, 1}, {1, 1, 2}};
  world.annex.exchanges().fail(1, hosts, resource_exhausted("no memory on host 1"));
  world.carry();
  EXPECT_NE(world.said().find("no memory on host 1"), std::string::npos);
  world.free(60);
  PartMaker other(2, {0, 1});  // It writes where that lay, if it is given up.
  const std::uint32_t in = other.arg();
  other.gang({in, in}, {other.output()});
  for (Stamp stamp = 2; stamp < 8; ++stamp) world.run(stamp, other, {51, 68 + stamp});

  ASSERT_EQ(world.planes->first.withdrawn.size(), 1u);
  const transport::DataSource& source = world.planes->first.withdrawn[0];
  std::vector<std::span<const std::byte>> pieces;
  source.pieces(0, source.bytes, pieces);
  float number = 0;
  std::memcpy(&number, pieces.front().data(), sizeof(number));
  EXPECT_EQ(number, 11);
}

TEST(HostSpread, WhatIsFetchedInAnExchangeIsSentInTheNameOfItsTenant) {
  SpreadWorld world(SpreadWorld::Way::kFetches);
  world.tenant = 7;
  world.define(kernel_id(1, 1), std::make_shared<TotalKernel>());
  world.put(50, SpreadWorld::rows(10), kAll);
  world.run(1, next(1), {50, 60});
  FakeDataPlane &first = world.planes->first, &second = world.planes->second;
  do {
    world.carry();
  } while (first.step() || second.step());

  EXPECT_EQ(world.said(), "gangs 1 0-1");
  EXPECT_EQ(world.read(60), "51 51 51 51");
  for (const FakeDataPlane* const plane : {&first, &second}) {
    ASSERT_EQ(plane->withdrawn.size(), 1u);
    EXPECT_EQ(plane->withdrawn[0].tenant, 7u);
  }
}

TEST(HostSpread, WhatIsStillOnItsWayFromAnAnnexIsNotOfferedToAClientThatIsForgotten) {
  SpreadWorld world(SpreadWorld::Way::kFetches);
  world.put(50, SpreadWorld::rows(10), kAll);
  world.run(1, next(1), {50, 60});
  world.carry();
  world.core.outbox().fetched.clear();
  constexpr ClientId kGone = 5, kOther = 6;
  world.core.fetch(60, kGone, 1, true);
  world.core.fetch(60, kOther, 1, true);

  world.core.forget_client(kGone);
  world.carry();

  ASSERT_EQ(world.core.outbox().fetched.size(), 1u);
  const HostOutbox::Fetched answer = world.core.outbox().fetched.front();
  EXPECT_EQ(answer.client, kOther);
  EXPECT_EQ(world.planes->first.open(), 1u);
  world.core.taken(kOther, 1, answer.offer);
  EXPECT_EQ(world.planes->first.open(), 0u);
  world.planes->first.withdrawn.clear();  // It has memory of the host.
}

TEST(HostSpread, GangsOfOneHostAloneAskNobodyElse) {
  SpreadWorld world;
  world.put(50, SpreadWorld::rows(10, 2), {0, 1});
  world.put(51, SpreadWorld::rows(20, 2), {2, 3});

  world.run(1, next(1, {0, 1}), {50, 60});
  EXPECT_TRUE(world.core.annexes().outbox()[1].empty());
  EXPECT_EQ(world.said(), "gangs 1 0-1");
  world.run(2, next(2, {2, 3}), {51, 61});
  world.carry();

  EXPECT_EQ(world.read(60, 2), "11 12");
  EXPECT_EQ(world.read(61, 2), "21 22");
}

TEST(HostSpread, ChainsOfGangsGoOnWhereTheirValuesAre) {
  SpreadWorld world;
  world.put(50, SpreadWorld::rows(10), kAll);
  PartMaker part(1, kAll);
  const std::uint32_t in = part.arg(), one = part.inner(), two = part.inner();
  part.gang({in}, {one}).gang({one}, {two}).gang({two}, {part.output()});

  world.run(1, part, {50, 60});
  world.carry();

  EXPECT_EQ(world.said(), "gangs 1 0-3");
  EXPECT_EQ(world.read(60), "13 14 15 16");
}

TEST(HostSpread, AnOutputTakesOverTheRoomOfItsDonor) {
  SpreadWorld world;
  world.put(50, SpreadWorld::rows(10), kAll);
  PartMaker part = next(1);
  part.donate(0, 0);

  world.run(1, part, {50, 60});
  world.carry();

  EXPECT_EQ(world.read(60), "11 12 13 14");
  EXPECT_EQ(world.annex.room_count(), 1u);
  EXPECT_EQ(world.used(3), kShardBytes);
}

TEST(HostSpread, AFailureOnAnotherHostFailsTheGang) {
  SpreadWorld world;
  function::NativeFunction native;
  native.parameters = native.outputs = {f32({16})};
  native.body = [](auto, auto, std::byte*) { return invalid_argument("it is too large"); };
  world.annex.add_function(kernel_id(1, 1), function::make_native(native));
  world.put(50, SpreadWorld::rows(10), kAll);

  world.run(1, next(1), {50, 60});
  world.carry();

  EXPECT_NE(world.said().find("USER_FUNCTION_ERROR"), std::string::npos);
  EXPECT_NE(world.read(60).find("it is too large"), std::string::npos);
}

TEST(HostSpread, ASpilledArrayComesBack) {
  SpreadWorld world;
  world.put(50, SpreadWorld::rows(10), kAll);
  world.run(1, next(1), {50, 60});
  world.carry();
  world.said();

  world.spill(60);
  world.launch(2, next(2), {60, 61});
  world.admit(2);
  world.place(2, 0, 1);
  world.core.advance();
  EXPECT_EQ(world.said(), "");  // What is ordered behind it waits.
  EXPECT_EQ(world.used(3), 2 * kShardBytes);
  world.carry_orders();
  world.carry_answers();
  EXPECT_EQ(world.said(), "spilled 60");
  world.carry();

  EXPECT_EQ(world.said(), "gangs 2 0-1");
  EXPECT_EQ(world.read(61), "12 13 14 15");
}

TEST(HostSpread, ASpillOfAnEarlierViewIsNone) {
  SpreadWorld world;
  world.put(50, SpreadWorld::rows(10), kAll);
  world.run(1, next(1), {50, 60});
  world.carry();
  world.said();

  world.spill(60);
  world.core.begin_view();
  world.carry();

  EXPECT_EQ(world.said(), "");
  EXPECT_EQ(world.used(3), 2 * kShardBytes);
  EXPECT_EQ(world.read(60), "11 12 13 14");
  world.spill(60);
  world.carry();
  EXPECT_EQ(world.said(), "spilled 60");
  EXPECT_EQ(world.used(3), kShardBytes);
}

TEST(HostSpread, WhoAskedBeforeAnArrayWentGetsIt) {
  SpreadWorld world;
  world.put(50, SpreadWorld::rows(10), kAll);
  world.run(1, next(1), {50, 60});
  world.carry();

  world.core.fetch(60, 5, 1);
  world.free(60);
  world.put(51, SpreadWorld::rows(90), kAll);
  world.run(2, next(1), {51, 61});
  world.carry();

  EXPECT_EQ(world.fetched(), "11 12 13 14");
  EXPECT_EQ(world.read(61), "91 92 93 94");
}

TEST(HostSpread, AnArrayThatIsFreedWhileItsRunGoesOnWaitsInHostRoom) {
  SpreadWorld world;
  world.put(50, SpreadWorld::rows(10), kAll);
  PartMaker part(1, kAll);
  const std::uint32_t in = part.arg(), made = part.output();
  part.gang({in}, {made}).gang({in}, {part.output()});
  world.launch(1, part, {50, 60, 61});
  world.admit(1);
  world.place(1, 0, 1);
  world.core.advance();
  world.carry();
  world.core.fetch(60, 5, 1);

  world.free(60);
  EXPECT_EQ(world.used(3), kShardBytes);
  world.carry();
  EXPECT_EQ(world.annex.room_count(), 1u);
  EXPECT_EQ(world.fetched(), "nothing");
  world.place(1, 1, 2);
  world.core.advance();
  world.carry();

  EXPECT_EQ(world.fetched(), "11 12 13 14");
}

/// Sends an argument.
PartMaker announcer() {
  PartMaker part(1, kAll);
  const std::uint32_t in = part.arg();
  part.announce(in).send(in, 7, 1);
  return part;
}

TEST(HostSpread, AValueForAnotherIslandComesWithTheEndOfItsGang) {
  SpreadWorld world;
  world.put(50, SpreadWorld::rows(10), kAll);
  world.run(1, sender(), {50});
  world.carry();
  EXPECT_EQ(world.said(), "gangs 1 0-1");

  world.armed(1, 7, 1);

  EXPECT_EQ(world.said(), "delivered 1.7 to 1");
  expect_delivered(world, 11);
  EXPECT_EQ(world.annex.room_count(), 1u);
}

TEST(HostSpread, AnArgumentIsSentWhenAllOfItIsHere) {
  SpreadWorld world;
  world.put(50, SpreadWorld::rows(10), kAll);
  world.run(1, announcer(), {50});
  world.carry();
  EXPECT_EQ(world.said(), "gangs 1 0-1");

  world.armed(1, 7, 1);
  EXPECT_EQ(world.said(), "");
  world.carry();

  EXPECT_EQ(world.said(), "delivered 1.7 to 1");
  expect_delivered(world, 10);
}

TEST(HostSpread, ASendThatIsOverWhileItIsReadIsOver) {
  for (const bool is_cancelled : {false, true}) {
    SpreadWorld world;
    world.put(50, SpreadWorld::rows(10), kAll);
    world.run(1, announcer(), {50});
    world.carry();
    world.armed(1, 7, 1);
    world.said();

    if (is_cancelled) {
      world.cancel(1);
      EXPECT_EQ(world.said(), "delivered 1.7 to 1 CANCELLED: run 101 was cancelled");
      world.consumed(1, 7, 1);
    } else {
      world.declined(1, 7, 1);
    }
    world.carry();

    EXPECT_EQ(world.said(), is_cancelled ? "received 1.7, fenced 1" : "received 1.7");
    EXPECT_TRUE(world.core.is_idle());
    EXPECT_FALSE(world.bulk.take_edge(1, 7).has_value());
  }
}

TEST(HostSpread, SendsMoveToHostRoomWhenTheyHaveBeenRead) {
  SpreadWorld world;
  world.put(50, SpreadWorld::rows(10), kAll);
  world.run(1, announcer(), {50});
  world.carry();
  world.said();

  world.move_sends(1);
  EXPECT_EQ(world.said(), "");
  world.carry();

  EXPECT_EQ(world.said(), "moved 1");
  world.armed(1, 7, 1);
  EXPECT_EQ(world.said(), "delivered 1.7 to 1");
}

TEST(HostSpread, WhatHasComeWithTheEndOfItsGangMovesToHostRoomAtOnce) {
  SpreadWorld world;
  world.put(50, SpreadWorld::rows(10), kAll);
  world.run(1, sender(), {50});
  world.carry();
  world.said();
  const std::uint64_t before = world.used(3);

  world.move_sends(1);

  EXPECT_EQ(world.said(), "moved 1");
  EXPECT_LT(world.used(3), before);
  world.armed(1, 7, 1);
  EXPECT_EQ(world.said(), "delivered 1.7 to 1");
  expect_delivered(world, 11);
}

TEST(HostSpread, WhatIsReceivedReachesTheOtherHosts) {
  SpreadWorld world;
  PartMaker part(2, kAll);
  const std::uint32_t in = part.receive(7, 1);
  part.gang({in}, {part.output()});
  world.run(1, part, {60});
  EXPECT_EQ(world.said(), "armed 1.7 to 1");

  world.offer(1, 7, SpreadWorld::rows(20));
  world.delivered(1, 7, 1);
  world.carry();

  EXPECT_EQ(world.said(), "consumed 1.7 to 1, gangs 1 0-1");
  EXPECT_EQ(world.read(60), "21 22 23 24");
}

TEST(HostSpread, ValuesAreCopiedBetweenGroupsOnOtherHosts) {
  SpreadWorld world;
  PartMaker part(1, {0, 2});
  const std::uint32_t there = part.group({2, 3}), back = part.group({0, 1});
  const std::uint32_t in = part.arg(), moved = part.inner(there), made = part.inner(there);
  part.reshard(in, moved).gang({moved}, {made}, {.group = there}).reshard(made, part.output(back));
  world.put(50, SpreadWorld::rows(10, 2), {0, 2});

  world.run(1, part, {50, 60});
  world.carry();

  EXPECT_EQ(world.said(), "gangs 1 0-3");
  EXPECT_EQ(world.read(60, 2), "11 12");
}

TEST(HostSpread, AnAnswerThatNobodyAskedForIsAnError) {
  SpreadWorld world;
  EXPECT_EQ(world.core.annexes().answer({7, {}, {}}).code(), StatusCode::kProtocolError);

  world.put(50, SpreadWorld::rows(10), kAll);
  world.run(1, next(1), {50, 60});
  world.carry();
  world.core.fetch(60, 5, 1);
  const auto orders = std::exchange(world.core.annexes().outbox()[1], {});
  const std::uint64_t ticket = std::get<ReadRoom>(orders.back()).ticket;

  EXPECT_EQ(world.core.annexes().answer({ticket, {}, std::vector<std::byte>(3)}).code(),
            StatusCode::kProtocolError);
}

}  // namespace
}  // namespace seaway::device
