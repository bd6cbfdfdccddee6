// Each rule of the island's order and memory, one by one, and the words that the core answers with.

#include "island/scheduler_core.hpp"

#include <gtest/gtest.h>

#include <tuple>
#include <vector>

#include "unit/island/island_by_hand.hpp"
#include "unit/island/plans.hpp"

namespace seaway::island {
namespace {

using Kind = Action::Kind;

// ---- Rule 1: stamps -------------------------------------------------------------------------

TEST(Stamps, MustRise) {
  Island island;
  ASSERT_TRUE(island.launch(5, PlanMaker({0}).gangs(1).make()).ok());

  const Status status = island.launch(5, PlanMaker({0}).gangs(1).make());

  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "launch of stamp 5 after stamp 5: stamps rise (rule 1)");
}

TEST(Stamps, APartThatNeverFitsIsRefusedWithNumbersAndAdvice) {
  Island island;

  const Status status = island.launch(1, PlanMaker({0}, 60).gangs(1).output(0, 41).make(), {}, {7});

  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(),
            "part of plan 0 on island 0 can never run: it needs 101 bytes on device 0, which has "
            "100; split it over more devices, donate arguments, or raise the device memory");
  EXPECT_TRUE(island.core.idle());
}

TEST(Stamps, TheLimitOfLaunchesIsNamedInItsRefusal) {
  CoreOptions options;
  options.limits.launches_max = 1;
  Island island(options);
  ASSERT_TRUE(island.launch(1, PlanMaker({0}).gangs(1).make()).ok());

  const Status status = island.launch(2, PlanMaker({0}).gangs(1).make());

  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(),
            "part of stamp 2 refused: 1 of 1 parts are unfinished; launch again after one has "
            "finished, or raise CoreOptions::Limits::launches_max");
}

TEST(Stamps, BadLaunchesAreRefusedAndChangeNothing) {
  Island island;
  const auto donor = PlanMaker({0}).gangs(1).arg(0, 10).arg(0, 10).donate(0).make();

  EXPECT_EQ(island.launch(1, donor, {4}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(island.launch(1, donor, {4, 4}).message(),
            "part of stamp 1 donates array 4 and names it twice");
  EXPECT_EQ(island.launch(1, nullptr).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(island.launch(1, PlanMaker({3}).gangs(1).make()).message(),
            "part of plan 0 on island 0 names device 3; the island has 1");
  ASSERT_TRUE(island.launch(1, donor, {4, 5}).ok());
  EXPECT_EQ(island.launch(2, donor, {4, 5}).message(),
            "part of stamp 2 names array 4, which was donated or freed before");
}

// ---- Rule 2: order --------------------------------------------------------------------------

TEST(Order, AFreePartIsPlacedAsOneRange) {
  Island island;

  ASSERT_TRUE(island.launch(1, PlanMaker({0}).gangs(128).make()).ok());

  EXPECT_EQ(island.seen(), "admit 1, place 1 0-128");
  island.core.done(1, 0, 128);
  EXPECT_EQ(island.seen(), "finished 1");
  EXPECT_TRUE(island.core.idle());
}

TEST(Order, AGangWaitsForItsEdgeWhileFreeGangsPassIt) {
  CoreOptions options;
  options.early = EarlyPlacement::kNever;
  Island island(options);
  ASSERT_TRUE(island.launch(1, PlanMaker({0}).gangs(3).receive(1, 9, 2, 8).make()).ok());
  ASSERT_TRUE(island.launch(2, PlanMaker({0}).gangs(1).make()).ok());
  EXPECT_EQ(island.seen(), "admit 1, place 1 0-1, admit 2, place 2 0-1");
  EXPECT_EQ(island.core.why(1),
            "part 1 waits to place gang 1 of 3 (position 1): edge 9 from island 2 does not exist "
            "yet");

  island.core.exists(1, 9);

  EXPECT_EQ(island.seen(), "place 1 1-3");
}

TEST(Order, AnEdgeThatExistsBeforeItsLaunchIsRemembered) {
  Island island;

  island.core.exists(1, 9);
  ASSERT_TRUE(island.launch(1, PlanMaker({0}).gangs(2).receive(1, 9, 2, 8).make()).ok());

  EXPECT_EQ(island.seen(), "admit 1, place 1 0-2");
}

TEST(Order, TheLicenceForAGangThatIsNotFreeIsIslandWide) {
  CoreOptions options;
  options.devices = 2;
  options.manual = true;
  Island by_hand(options);
  ASSERT_TRUE(by_hand.launch(1, PlanMaker({0}).gangs(1).receive(0, 3, 1, 8).make()).ok());
  ASSERT_TRUE(by_hand.launch(2, PlanMaker({1}).gangs(1).receive(0, 3, 1, 8).make()).ok());
  by_hand.core.apply({.kind = Choice::Kind::kAdmit, .stamp = 1});
  by_hand.core.apply({.kind = Choice::Kind::kAdmit, .stamp = 2});

  std::vector<Choice> choices;
  by_hand.core.choices(choices);

  // Part 2 is on another device, and may still not pass the unplaced gang of part 1.
  EXPECT_EQ(choices, (std::vector<Choice>{{.kind = Choice::Kind::kPlaceEarly, .stamp = 1}}));
}

TEST(Order, AReaderFollowsTheGangThatMakesItsArgument) {
  CoreOptions options;
  options.early = EarlyPlacement::kNever;
  Island island(options);
  const auto maker = PlanMaker({0}).gangs(1).receive(0, 3, 1, 8).output(0, 10).make();
  ASSERT_TRUE(island.launch(1, maker, {}, {7}).ok());
  ASSERT_TRUE(island.launch(2, PlanMaker({0}).gangs(1).arg(0, 10).make(), {7}).ok());
  EXPECT_EQ(island.seen(), "admit 1, admit 2");
  EXPECT_EQ(island.core.why(2),
            "part 2 waits to place gang 0 of 1 (position 0): the gang that makes array 7 is not "
            "placed yet");

  island.core.exists(1, 3);

  EXPECT_EQ(island.seen(), "place 1 0-1, place 2 0-1");
}

// ---- Rule 3: admission ----------------------------------------------------------------------

TEST(Admission, ReusesRoomInStreamOrderBeforeAnythingIsDone) {
  Island island;
  const auto step = PlanMaker({0}, 90).gangs(2).make();

  ASSERT_TRUE(island.launch(1, step).ok());
  ASSERT_TRUE(island.launch(2, step).ok());

  EXPECT_EQ(island.seen(), "admit 1, place 1 0-2, admit 2, place 2 0-2");
}

TEST(Admission, TheReservationShrinksWithEachPlacement) {
  CoreOptions options;
  options.early = EarlyPlacement::kNever;
  Island island(options);
  ASSERT_TRUE(
      island.launch(1, PlanMaker({0}, 52).gangs(2).receive(1, 3, 1, 8).step(1, 20).make()).ok());
  EXPECT_EQ(island.core.used_bytes(0), 20u);

  ASSERT_TRUE(island.launch(2, PlanMaker({0}, 80).gangs(1).make()).ok());

  EXPECT_EQ(island.seen(), "admit 1, place 1 0-1, admit 2, place 2 0-1");
}

TEST(Admission, SharedArraysAreChargedOnce) {
  Island island;
  island.core.put(7, {0}, 60);
  const auto reader = PlanMaker({0}, 20).gangs(1).receive(0, 3, 1, 0).arg(0, 60).make();

  ASSERT_TRUE(island.launch(1, reader, {7}).ok());
  ASSERT_TRUE(island.launch(2, reader, {7}).ok());

  EXPECT_EQ(island.core.counters().admitted, 2u);
  EXPECT_LE(island.core.used_bytes(0), 100u);
}

TEST(Admission, ALaterPartThatIsNotFreeDoesNotOvertake) {
  CoreOptions options;
  options.early = EarlyPlacement::kNever;
  Island island(options);
  const auto waits = PlanMaker({0}, 60).gangs(1).receive(0, 3, 1, 0).make();
  ASSERT_TRUE(island.launch(1, waits).ok());
  ASSERT_TRUE(island.launch(2, waits).ok());
  ASSERT_TRUE(island.launch(3, PlanMaker({0}, 10).gangs(1).receive(0, 3, 1, 0).make()).ok());
  EXPECT_EQ(island.seen(), "admit 1");
  EXPECT_EQ(island.core.why(2),
            "part 2 waits for room: it needs 60 bytes on device 0, where 60 of 100 are reserved, 0 "
            "of them by arrays that can be spilled; spill room has 0 of 1000 in use");
  EXPECT_EQ(island.core.why(3),
            "part 3 waits for room: part 2 before it waits for room on the same devices, and its "
            "inputs do not all exist, so that it may not overtake");

  ASSERT_TRUE(island.launch(4, PlanMaker({0}, 40).gangs(1).make()).ok());

  EXPECT_EQ(island.seen(), "admit 4, place 4 0-1");
}

TEST(Admission, AnOvertakerThatFeedsItsRunNeedsHostRoom) {
  CoreOptions options;
  options.early = EarlyPlacement::kNever;
  options.send_room_bytes = 10;
  Island island(options);
  const auto waits = PlanMaker({0}, 60).gangs(1).receive(0, 3, 1, 0).make();
  const auto feeds = PlanMaker({0}).gangs(1).send(0, 4, 1, 10).make();
  ASSERT_TRUE(island.launch(1, waits).ok());
  ASSERT_TRUE(island.launch(2, waits).ok());
  island.seen();

  ASSERT_TRUE(island.launch(3, feeds).ok());
  ASSERT_TRUE(island.launch(4, feeds).ok());

  EXPECT_EQ(island.seen(), "admit 3, place 3 0-1");
  EXPECT_EQ(island.core.counters().send_room_used_bytes, 10u);
  island.core.done(3, 0, 1);
  EXPECT_EQ(island.seen(), "exists 3.4, move 3");  // Part 2 lacks room.
  island.core.received(3, 4);
  EXPECT_EQ(island.seen(), "finished 3, admit 4, place 4 0-1");
}

TEST(Admission, DonationNeedsNoSecondBuffer) {
  Island island;
  island.core.put(7, {0}, 60);

  ASSERT_TRUE(
      island
          .launch(1, PlanMaker({0}).gangs(1).arg(0, 60).output(0, 60).donate(0, 0).make(), {7}, {8})
          .ok());

  EXPECT_EQ(island.seen(), "admit 1, place 1 0-1");
  EXPECT_EQ(island.core.used_bytes(0), 60u);
  island.core.done(1, 0, 1);
  EXPECT_EQ(island.core.array_count(), 1u);
}

TEST(Admission, ADonatedBufferIsNotWrittenBeforeEarlierReadersArePlaced) {
  CoreOptions options;
  options.early = EarlyPlacement::kNever;
  Island island(options);
  island.core.put(7, {0}, 10);
  const auto reader = PlanMaker({0}).gangs(1).arg(0, 10).receive(0, 3, 1, 8).make();
  ASSERT_TRUE(island.launch(1, reader, {7}).ok());
  ASSERT_TRUE(
      island
          .launch(2, PlanMaker({0}).gangs(1).arg(0, 10).output(0, 10).donate(0, 0).make(), {7}, {8})
          .ok());
  EXPECT_EQ(island.seen(), "admit 1, admit 2");
  EXPECT_EQ(island.core.why(2),
            "part 2 waits to place gang 0 of 1 (position 0): it overwrites the donated array 7, "
            "which 1 earlier uses still read");

  island.core.exists(1, 3);

  EXPECT_EQ(island.seen(), "place 1 0-1, place 2 0-1");
}

// ---- Rule 4: door ---------------------------------------------------------------------------

TEST(Door, OvertakersTogetherLeaveRoomForTheOldestWaitingPart) {
  CoreOptions options;
  options.early = EarlyPlacement::kNever;
  Island island(options);
  const auto small = PlanMaker({0}).gangs(1).output(0, 30).make();
  const auto never = PlanMaker({0}, 30).gangs(1).receive(0, 3, 1, 0).make();
  ASSERT_TRUE(island.launch(1, never).ok());
  ASSERT_TRUE(island.launch(2, PlanMaker({0}, 80).gangs(1).make()).ok());
  ASSERT_TRUE(island.launch(3, small, {}, {30}).ok());
  EXPECT_EQ(island.seen(), "admit 1, admit 3, place 3 0-1");  // Part 1 is in the way of part 2.

  island.core.cancel(1);
  island.core.fenced(1);
  ASSERT_TRUE(island.launch(4, small, {}, {40}).ok());

  // Now only part 3 is in its way, and part 4 would not fit beside it.
  EXPECT_EQ(island.seen(), "cancel 1, finished 1");
  island.core.done(3, 0, 1);
  EXPECT_EQ(island.seen(), "finished 3, spill 30");
  island.core.spilled(30);
  EXPECT_EQ(island.seen(), "admit 2, place 2 0-1, admit 4, place 4 0-1");
}

/// What they have made counts as well, as long as it has to stay.
TEST(Door, OvertakersBesideTheWaitingPartAreCountedTogether) {
  CoreOptions options;
  options.early = EarlyPlacement::kNever;
  Island island(options);
  const auto tiny = PlanMaker({0}).gangs(1).output(0, 15).make();
  const auto never = PlanMaker({0}, 30).gangs(1).receive(0, 3, 1, 0).make();
  ASSERT_TRUE(island.launch(1, never).ok());
  ASSERT_TRUE(island.launch(2, PlanMaker({0}, 80).gangs(1).make()).ok());
  ASSERT_TRUE(island.launch(3, PlanMaker({0}).gangs(1).output(0, 30).make(), {}, {30}).ok());
  EXPECT_EQ(island.seen(), "admit 1, admit 3, place 3 0-1");
  island.core.cancel(1);
  island.core.fenced(1);
  EXPECT_EQ(island.seen(), "cancel 1, finished 1");

  // 80 and 15 bytes fit into 100, and a second 15 would not.
  ASSERT_TRUE(island.launch(4, tiny, {}, {40}).ok());
  ASSERT_TRUE(island.launch(5, tiny, {}, {50}).ok());

  EXPECT_EQ(island.seen(), "admit 4, place 4 0-1");
}

// ---- Rule 5: release ------------------------------------------------------------------------

TEST(Release, SendsHoldTheirRoomUntilTheyAreReceived) {
  Island island;
  const auto feeds = PlanMaker({0}, 20).gangs(1).send(0, 4, 1, 60).make();
  ASSERT_TRUE(island.launch(1, feeds).ok());
  ASSERT_TRUE(island.launch(2, feeds).ok());
  EXPECT_EQ(island.seen(), "admit 1, place 1 0-1");
  island.core.done(1, 0, 1);
  EXPECT_EQ(island.seen(), "exists 1.4");
  EXPECT_EQ(island.core.used_bytes(0), 60u);

  island.core.received(1, 4);

  EXPECT_EQ(island.seen(), "finished 1, admit 2, place 2 0-1");
}

TEST(Release, AFinishedOvertakerGivesItsSendsToHostRoom) {
  CoreOptions options;
  options.early = EarlyPlacement::kNever;
  options.send_room_bytes = 60;
  Island island(options);
  const auto waits = PlanMaker({0}, 40).gangs(1).receive(0, 3, 1, 0).make();
  ASSERT_TRUE(island.launch(1, waits).ok());
  ASSERT_TRUE(island.launch(2, PlanMaker({0}, 70).gangs(1).receive(0, 3, 1, 0).make()).ok());
  ASSERT_TRUE(island.launch(3, PlanMaker({0}).gangs(1).send(0, 4, 1, 60).make()).ok());
  EXPECT_EQ(island.seen(), "admit 1, admit 3, place 3 0-1");
  island.core.exists(1, 3);
  EXPECT_EQ(island.seen(), "place 1 0-1");

  island.core.done(3, 0, 1);

  EXPECT_EQ(island.seen(), "exists 3.4, move 3");
  island.core.moved(3);
  EXPECT_EQ(island.seen(), "admit 2");
  EXPECT_EQ(island.core.counters().send_room_used_bytes, 60u);
  island.core.received(3, 4);
  EXPECT_EQ(island.core.counters().send_room_used_bytes, 0u);
  EXPECT_EQ(island.seen(), "finished 3");
}

TEST(Release, ADroppedArrayGoesBehindItsLastReader) {
  CoreOptions options;
  options.early = EarlyPlacement::kNever;
  Island island(options);
  island.core.put(7, {0}, 10);
  const auto reader = PlanMaker({0}).gangs(2).arg(0, 10).receive(0, 3, 1, 0).make();
  ASSERT_TRUE(island.launch(1, reader, {7}).ok());
  island.core.free(7);
  EXPECT_EQ(island.seen(), "admit 1");

  island.core.exists(1, 3);

  EXPECT_EQ(island.seen(), "place 1 0-2, free 7");
  EXPECT_EQ(island.core.used_bytes(0), 0u);
  island.core.done(1, 0, 2);
  EXPECT_EQ(island.core.array_count(), 0u);
}

TEST(Release, TheLeastRecentlyUsedArrayIsSpilledForAnAdmissionInOrder) {
  Island island;
  const auto keep = PlanMaker({0}).gangs(1).output(0, 40).make();
  ASSERT_TRUE(island.launch(1, keep, {}, {7}).ok());
  ASSERT_TRUE(island.launch(2, keep, {}, {8}).ok());
  island.core.done(1, 0, 1);
  island.core.done(2, 0, 1);
  island.seen();

  ASSERT_TRUE(island.launch(3, PlanMaker({0}, 50).gangs(1).make()).ok());

  EXPECT_EQ(island.seen(), "spill 7");
  island.core.spilled(7);
  EXPECT_EQ(island.seen(), "admit 3, place 3 0-1");
  EXPECT_EQ(island.core.counters().spilled_bytes, 40u);
}

TEST(Release, AnArrayThatAPlacedGangReadsIsNotSpilled) {
  Island island;
  ASSERT_TRUE(island.launch(1, PlanMaker({0}).gangs(1).output(0, 60).make(), {}, {7}).ok());
  island.core.done(1, 0, 1);
  ASSERT_TRUE(island.launch(2, PlanMaker({0}).gangs(1).arg(0, 60).make(), {7}).ok());
  island.seen();

  ASSERT_TRUE(island.launch(3, PlanMaker({0}, 50).gangs(1).make()).ok());

  EXPECT_EQ(island.seen(), "");
  island.core.done(2, 0, 1);
  EXPECT_EQ(island.seen(), "finished 2, spill 7");
}

TEST(Release, ASpilledArrayIsChargedWhenItIsLoadedAndLeavesSpillRoomWhenRead) {
  Island island;
  ASSERT_TRUE(island.launch(1, PlanMaker({0}).gangs(1).output(0, 60).make(), {}, {7}).ok());
  island.core.done(1, 0, 1);
  ASSERT_TRUE(island.launch(2, PlanMaker({0}, 90).gangs(1).make()).ok());
  island.core.spilled(7);
  island.core.done(2, 0, 1);
  EXPECT_EQ(island.core.used_bytes(0), 0u);

  ASSERT_TRUE(island.launch(3, PlanMaker({0}).gangs(1).arg(0, 60).make(), {7}).ok());

  EXPECT_EQ(island.core.used_bytes(0), 60u);
  EXPECT_EQ(island.core.counters().spilled_bytes, 60u);
  island.core.done(3, 0, 1);
  EXPECT_EQ(island.core.counters().spilled_bytes, 0u);
}

// ---- Rule 6: cancel -------------------------------------------------------------------------

TEST(Cancel, UnplacedGangsVanishAndPlacedOnesAreStillReported) {
  CoreOptions options;
  options.early = EarlyPlacement::kNever;
  Island island(options);
  ASSERT_TRUE(
      island
          .launch(1, PlanMaker({0}, 50).gangs(3).receive(1, 3, 1, 8).output(2, 20).make(), {}, {7})
          .ok());
  ASSERT_TRUE(island.launch(2, PlanMaker({0}, 60).gangs(1).arg(0, 20).make(), {7}).ok());
  EXPECT_EQ(island.seen(), "admit 1, place 1 0-1");

  island.core.cancel(1);

  // Array 7 is poison now: it exists, and needs no room.
  EXPECT_EQ(island.seen(), "cancel 1");  // Its room may still be written into.
  island.core.fenced(1);
  EXPECT_EQ(island.seen(), "admit 2, place 2 0-1");
  island.core.done(1, 0, 1);
  EXPECT_EQ(island.seen(), "finished 1");
  island.core.done(2, 0, 1);
  EXPECT_EQ(island.core.used_bytes(0), 0u);
}

TEST(Cancel, AWaitingPartIsOverAtOnceAndACancelOfAnUnknownOneIsIgnored) {
  CoreOptions options;
  options.early = EarlyPlacement::kNever;
  Island island(options);
  const auto waits = PlanMaker({0}, 60).gangs(1).receive(0, 3, 1, 0).make();
  ASSERT_TRUE(island.launch(1, waits).ok());
  ASSERT_TRUE(island.launch(2, waits).ok());
  island.seen();

  island.core.cancel(2);
  island.core.cancel(2);
  island.core.cancel(77);

  EXPECT_EQ(island.seen(), "cancel 2, finished 2");
}

// ---- Rule 7: policy -------------------------------------------------------------------------

TEST(Policy, SharesFollowWeightsWhileTenantsCompete) {
  CoreOptions options;
  options.policy = Policy::kShares;
  options.window_ns = 1000;
  Island island(options);
  island.core.set_weight(1, 1);
  island.core.set_weight(2, 3);
  const auto plan = PlanMaker({0}).gangs(1).make();
  Stamp stamp = 0;
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(island.launch(++stamp, plan, {}, {}, 1).ok());
    ASSERT_TRUE(island.launch(++stamp, plan, {}, {}, 2).ok());
  }
  int placed_of_2 = 0, placed = 0;
  while (placed < 80) {
    const std::vector<Action> actions = island.core.actions();
    island.core.actions().clear();
    for (const Action& action : actions) {
      if (action.kind != Kind::kPlace) continue;
      ++placed;
      placed_of_2 += action.stamp % 2 == 0;
      island.core.done(action.stamp, action.first, action.last);
    }
  }

  EXPECT_NEAR(placed_of_2, 60, 2);
}

TEST(Policy, ALoneTenantIsNotHeldByTheWindow) {
  CoreOptions options;
  options.policy = Policy::kShares;
  options.window_ns = 1;
  Island island(options);

  ASSERT_TRUE(island.launch(1, PlanMaker({0}).gangs(50).make()).ok());

  EXPECT_EQ(island.seen(), "admit 1, place 1 0-50");
}

// ---- Queries --------------------------------------------------------------------------------

TEST(Queries, EachStateOfAPartIsExplained) {
  Island island;
  EXPECT_EQ(island.core.why(1), "part 1 is not launched to this island");
  ASSERT_TRUE(island.launch(1, PlanMaker({0}).gangs(2).send(0, 4, 1, 60).make()).ok());
  EXPECT_EQ(island.core.why(1), "part 1 runs: 0 of 2 placed gangs are done");
  island.core.done(1, 0, 2);
  EXPECT_EQ(island.core.why(1),
            "part 1 has run; 1 of 1 values for other islands are not received yet");
  EXPECT_NE(island.core.to_string().find("device 0: 60 of 100 bytes"), std::string::npos);
  island.core.received(1, 4);

  EXPECT_EQ(island.core.why(1), "part 1 is finished, or was never launched to this island");
}

TEST(Queries, ACopyGoesOnAlone) {
  Island island;
  ASSERT_TRUE(island.launch(1, PlanMaker({0}).gangs(2).make()).ok());
  Island copy = island;
  EXPECT_EQ(copy.core.hash(), island.core.hash());

  copy.core.done(1, 0, 2);

  EXPECT_TRUE(copy.core.idle());
  EXPECT_FALSE(island.core.idle());
  EXPECT_NE(copy.core.hash(), island.core.hash());
}

TEST(Queries, PlansThatNoPartUsesAreForgotten) {
  CoreOptions options;
  options.limits.plans_max = 2;
  Island island(options);
  for (Stamp stamp = 1; stamp <= 100; ++stamp) {
    ASSERT_TRUE(island.launch(stamp, PlanMaker({0}).gangs(1).make()).ok());
    island.core.done(stamp, 0, 1);
  }
  EXPECT_EQ(island.core.counters().finished, 100u);
}

/// The second time its output may be gone.
TEST(Checks, RefuseAGangThatIsDoneTwice) {
  Island island;
  const auto plan = PlanMaker({0}).gangs(2).output(0, 10).make();
  ASSERT_TRUE(island.launch(5, plan, {}, {7}).ok());

  EXPECT_TRUE(island.core.check_done(5, 0, 1).ok());
  island.core.done(5, 0, 1);

  EXPECT_EQ(island.core.check_done(5, 0, 1).code(), StatusCode::kProtocolError);
  EXPECT_TRUE(island.core.check_done(5, 1, 2).ok());
}

TEST(Checks, RefuseReportsThatNoHostCanMean) {
  Island island;
  ASSERT_TRUE(island.launch(5, PlanMaker({0}).gangs(2).make()).ok());
  ASSERT_EQ(island.seen(), "admit 5, place 5 0-2");

  EXPECT_TRUE(island.core.check_done(5, 0, 2).ok());
  using Gangs = std::tuple<Stamp, std::uint32_t, std::uint32_t>;
  const std::vector<Gangs> wrong = {{6, 0, 1}, {5, 0, 3}, {5, 1, 1}, {5, 1, 0}};
  for (const auto& [stamp, first, last] : wrong) {
    EXPECT_EQ(island.core.check_done(stamp, first, last).code(), StatusCode::kProtocolError);
  }
  island.core.done(5, 0, 1);
  EXPECT_FALSE(island.core.check_done(5, 0, 2).ok());
  EXPECT_FALSE(island.core.check_spilled(9).ok());
  EXPECT_FALSE(island.core.check_put(9, {7}).ok());
  EXPECT_TRUE(island.core.check_put(9, {0}).ok());
}

}  // namespace
}  // namespace seaway::island
