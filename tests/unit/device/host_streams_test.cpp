// Which gang starts when (HO-4), and what failed and cancelled parts do in their turn (HO-2).

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/device/host_world.hpp"

namespace seaway::device {
namespace {

/// `gangs` slow gangs on `devices`, without values.
PartMaker slow_part(PlanId id, std::vector<DeviceId> devices, std::uint32_t gangs = 1) {
  PartMaker part(id, std::move(devices));
  for (std::uint32_t i = 0; i < gangs; ++i) part.gang({}, {}, {.cost_ns = kSlow});
  return part;
}

TEST(HostStreams, AGangStartsWhenItIsTheFirstUnfinishedOnEachOfItsDevices) {
  HostWorld world(2);

  world.run(1, slow_part(1, {0}));
  world.run(2, slow_part(2, {1}));
  world.run(3, slow_part(3, {0, 1}));
  world.run(4, slow_part(4, {1}));
  EXPECT_EQ(world.seen(), "start 1.0, start 2.0");
  world.end_gang({}, 1);
  EXPECT_EQ(world.seen(), "end 2.0");
  world.end_gang();
  EXPECT_EQ(world.seen(), "end 1.0, start 3.0");
  world.end_gang();

  EXPECT_EQ(world.seen(), "end 3.0, start 4.0");
  EXPECT_EQ(world.said(), "gangs 2 0-1, gangs 1 0-1, gangs 3 0-1");
  EXPECT_FALSE(world.core.is_idle());
  world.end_gang();
  EXPECT_TRUE(world.core.is_idle());
}

TEST(HostStreams, AGangWaitsForItsInputAndHoldsBackItsOwnDevicesOnly) {
  HostWorld world(2);
  PartMaker reader(1, {0});
  const std::uint32_t input = reader.receive(7, 1);
  reader.gang({input}, {});

  world.run(1, reader);
  world.run(2, slow_part(2, {0}));
  world.run(3, slow_part(3, {1}));
  EXPECT_EQ(world.seen(), "start 3.0");
  world.offer(1, 7, HostWorld::row(1));
  world.delivered(1, 7, 1);

  EXPECT_EQ(world.seen(), "start 1.0, end 1.0, start 2.0");
}

TEST(HostStreams, OnlyTheGangThatReadsAnEdgeWaitsForIt) {
  HostWorld world;
  PartMaker part(1, {0});
  const std::uint32_t input = part.receive(7, 1);
  part.gang({}, {}).gang({input}, {}).gang({}, {});

  world.run(1, part);
  EXPECT_EQ(world.seen(), "start 1.0, end 1.0");
  world.offer(1, 7, HostWorld::row(1));
  world.delivered(1, 7, 1);

  EXPECT_EQ(world.seen(), "start 1.1, end 1.1, start 1.2, end 1.2");
}

TEST(HostStreams, GangsOfOnePartThatAreDoneTogetherAreOneWord) {
  HostWorld world(2);
  PartMaker part(1, {0, 1});
  for (int i = 0; i < 5; ++i) part.gang({}, {});

  world.run(1, part);

  EXPECT_EQ(world.said(), "gangs 1 0-5");
}

TEST(HostStreams, AGangThatCopiesBetweenGroupsRunsOnTheDevicesOfBoth) {
  HostWorld world(3);
  PartMaker part(2, {0});
  const std::uint32_t from = part.arg(), to = part.output(part.group({1}));
  part.reshard(from, to);
  world.put(50, HostWorld::row(42));
  world.run(1, slow_part(1, {1}));

  world.run(2, part, {50, 60});
  world.run(3, slow_part(3, {0}));
  world.run(4, slow_part(4, {2}));
  EXPECT_EQ(world.seen(), "start 1.0, start 4.0");
  world.end_gang();

  EXPECT_EQ(world.seen(), "end 1.0, start 2.0, end 2.0, start 3.0");
  EXPECT_EQ(world.value(60), "42");
}

TEST(HostStreams, NothingNewStartsOnADeviceThatDrains) {
  HostWorld world(2);
  world.core.device(0).is_draining = true;

  world.run(1, slow_part(1, {0}));
  world.run(2, slow_part(2, {1}));
  EXPECT_EQ(world.seen(), "start 2.0");
  world.core.device(0).is_draining = false;
  world.core.advance();

  EXPECT_EQ(world.seen(), "start 1.0");
}

TEST(HostStreams, OtherMessagesHaveTheirTurnAfterAMillisecondOfKernels) {
  HostWorld world;
  PartMaker part(1, {0});
  for (int i = 0; i < 300; ++i) part.gang({}, {}, {.cost_ns = 9'950});
  world.launch(1, part);
  world.admit(1);
  world.place(1, 0, 300);

  const bool has_more = world.core.advance();

  EXPECT_TRUE(has_more);
  EXPECT_EQ(world.said(), "gangs 1 0-101");
  while (world.core.advance()) {
  }
  EXPECT_EQ(world.said(), "gangs 1 101-300");
}

// ---- Orders and launches --------------------------------------------------------------------

TEST(HostStreams, OrdersThatArriveBeforeTheirLaunchAreHeldInOrder) {
  HostWorld world;
  world.run(1, slow_part(1, {0}));
  world.admit(2);
  world.place(2, 0, 1);
  world.admit(3);
  world.place(3, 0, 1);
  world.cancel(3);
  world.core.advance();
  EXPECT_EQ(world.core.why(2), "");

  world.launch(2, slow_part(2, {0}));
  world.end_gang();
  EXPECT_EQ(world.seen(), "start 1.0, end 1.0, start 2.0");
  world.launch(3, slow_part(3, {0}));
  world.end_gang();

  EXPECT_EQ(world.seen(), "end 2.0, noop 3.0");
  EXPECT_EQ(world.said(), "gangs 1 0-1, fenced 3, gangs 2 0-1, gangs 3 0-1");
}

TEST(HostStreams, AFreeBehindAHeldOrderWaitsForItToo) {
  HostWorld world;
  PartMaker reader(2, {0});
  const std::uint32_t in = reader.arg();
  reader.gang({in}, {reader.output()});
  world.put(50, HostWorld::row(41));
  world.admit(2);
  world.place(2, 0, 1);
  world.free(50);

  world.launch(2, reader, {50, 60});
  world.core.advance();

  EXPECT_EQ(world.value(60), "42");
  EXPECT_EQ(world.core.array_count(), 1u);
}

TEST(HostStreams, AnAcknowledgementComesWhenAllGangsArePlaced) {
  HostWorld world;
  world.launch(1, slow_part(1, {0}, 3), {}, true);
  world.admit(1);

  world.place(1, 0, 2);
  EXPECT_EQ(world.said(), "");
  world.place(1, 2, 3);

  EXPECT_EQ(world.said(), "enqueued 1");
}

TEST(HostStreams, WhyNamesTheEntriesAheadAndTheEdge) {
  HostWorld world;
  PartMaker reader(2, {0});
  const std::uint32_t input = reader.receive(7, 1);
  reader.gang({input}, {});
  world.run(1, slow_part(1, {0}));
  world.run(2, reader);

  EXPECT_EQ(world.core.why(1), "run 101 on island 0: gang 0 runs now\n");
  EXPECT_EQ(world.core.why(2),
            "run 102 on island 0: gang 0 waits behind 1 entries of the order, for edge 7 from "
            "island 1\n");
  EXPECT_EQ(world.core.why(3), "");
}

// ---- Failure and cancel ---------------------------------------------------------------------

TEST(HostStreams, GangsBehindAFailureAreNoOpsInTheirTurn) {
  HostWorld world;
  world.launch(1, slow_part(1, {0}, 2));
  world.launch(2, slow_part(2, {0}));
  world.admit(1);
  world.admit(2);
  world.place(1, 0, 1);
  world.place(2, 0, 1);
  world.place(1, 1, 2);
  world.core.advance();

  world.end_gang(user_function_error("broken"));
  EXPECT_EQ(world.seen(), "start 1.0, end 1.0, start 2.0");
  EXPECT_EQ(world.said(), "gangs 1 0-1, failed 1 USER_FUNCTION_ERROR: broken");
  world.end_gang();

  EXPECT_EQ(world.seen(), "end 2.0, noop 1.1");
  EXPECT_EQ(world.said(), "gangs 2 0-1, gangs 1 1-2");
  EXPECT_TRUE(world.core.is_idle());
}

TEST(HostStreams, APartThatFailsBeforeItHasRoomTakesWhatIsLeftToDo) {
  HostWorld world(2);
  PartMaker bad(1, {0}), late(3, {0});
  bad.gang({}, {bad.output()}, {.cost_ns = kSlow});
  const std::uint32_t poison = late.arg(), input = late.receive(7, 1), other = late.group({1});
  late.gang({poison}, {}).work(2 * kShardBytes).shrinks(0, kShardBytes);
  late.gang({}, {}, {.group = other}).gang({input}, {});
  world.run(1, bad, {60});
  world.run(2, slow_part(2, {1}));
  world.run(3, late, {60});

  world.end_gang(user_function_error("broken"));
  EXPECT_NE(world.seen().find("noop 3.0"), std::string::npos);
  world.end_gang();

  EXPECT_EQ(world.core.device(0).peak_bytes, kShardBytes);
}

TEST(HostStreams, GangsBehindACancelAreNoOpsInTheirTurn) {
  HostWorld world;
  world.launch(1, slow_part(1, {0}, 3));
  world.launch(2, slow_part(2, {0}));
  world.admit(1);
  world.admit(2);
  world.place(1, 0, 1);
  world.place(2, 0, 1);
  world.place(1, 1, 2);
  world.core.advance();

  world.cancel(1);
  world.cancel(1);
  world.core.advance();
  EXPECT_EQ(world.said(), "fenced 1");
  world.end_gang();
  EXPECT_EQ(world.seen(), "start 1.0, end 1.0, start 2.0");
  EXPECT_FALSE(world.core.is_idle());
  world.end_gang();

  EXPECT_EQ(world.seen(), "end 2.0, noop 1.1");
  EXPECT_EQ(world.said(), "gangs 1 0-1, gangs 2 0-1, gangs 1 1-2");
  EXPECT_TRUE(world.core.is_idle());
}

TEST(HostStreams, WhatACancelPoisonsNamesTheCauseThatWasSaidBeforeOrBehindTheLaunch) {
  HostWorld world;
  PartMaker part(1, {0});
  part.gang({}, {part.output()});
  world.launch(1, part, {60});
  const Status cause = user_function_error("broken on island 1");

  world.core.explain_cancel(1, cause);
  world.core.explain_cancel(2, cause);
  world.launch(2, part, {61});
  world.launch(3, part, {62});
  for (const Stamp stamp : {1, 2, 3}) world.cancel(stamp);
  world.core.explain_cancel(1, cause);  // It is over: nobody is concerned.

  EXPECT_EQ(world.value(60), "USER_FUNCTION_ERROR: broken on island 1");
  EXPECT_EQ(world.value(61), "USER_FUNCTION_ERROR: broken on island 1");
  EXPECT_EQ(world.value(62), "CANCELLED: run 103 was cancelled");
  EXPECT_TRUE(world.core.is_idle());
}

TEST(HostStreams, WhatACancelledPartWillNeverMakeIsPoisonBeforeItEnds) {
  HostWorld world(2);
  PartMaker maker(1, {0}), reader(2, {1});
  const std::uint32_t other = maker.group({1}), never = maker.output(other);
  maker.gang({}, {}, {.cost_ns = kSlow}).gang({}, {never}, {.group = other});
  reader.gang({reader.arg()}, {reader.output()});
  world.launch(1, maker, {60});
  world.admit(1);
  world.place(1, 0, 1);
  world.core.advance();

  world.cancel(1);
  world.run(2, reader, {60, 61});

  EXPECT_NE(world.seen().find("noop 2.0"), std::string::npos);
  EXPECT_EQ(world.value(61),
            "INPUT_LOST: array 60, argument 0 of run 102: CANCELLED: run 101 was cancelled");
}

TEST(HostStreams, ACancelThatCrossesTheLastGangIsAnswered) {
  HostWorld world;
  world.run(1, slow_part(1, {0}));
  world.end_gang();
  EXPECT_EQ(world.said(), "gangs 1 0-1");

  world.cancel(1);
  world.move_sends(1);

  EXPECT_EQ(world.said(), "fenced 1, moved 1");
}

TEST(HostStreams, AFailedGangPoisonsItsOwnRunAndNamesTheLineOfItsCall) {
  HostWorld world;
  PartMaker bad(1, {0}), good(2, {0});
  const std::uint32_t in = bad.arg(), inner = bad.inner();
  bad.gang({in}, {inner}, {.site = "bad.cpp:3"}).gang({inner}, {bad.output()});
  good.gang({good.arg()}, {good.output()});
  world.put(50, HostWorld::row(1));
  world.backend.failure = user_function_error("native function 'bad' threw: no");

  world.run(1, bad, {50, 60});
  world.run(2, good, {50, 61});

  const std::string error = "USER_FUNCTION_ERROR: native function 'bad' threw: no";
  EXPECT_EQ(world.said(), "gangs 1 0-2, gangs 2 0-1, failed 1 " + error + "; called at bad.cpp:3");
  EXPECT_EQ(world.value(60), error + "; called at bad.cpp:3");
  EXPECT_EQ(world.value(61), "2");
}

TEST(HostStreams, WhatReadsALostValueIsLostAndSoOnWithTheSameRoot) {
  HostWorld world;
  PartMaker bad(1, {0}), next(2, {0});
  bad.gang({}, {bad.output()}, {.cost_ns = kSlow});
  next.gang({next.arg()}, {next.output()});

  world.run(1, bad, {60});
  world.run(2, next, {60, 61});
  world.run(3, next, {61, 62});
  world.end_gang(user_function_error("broken"));

  const std::string lost =
      "INPUT_LOST: array 60, argument 0 of run 102: USER_FUNCTION_ERROR: broken";
  EXPECT_EQ(world.value(61), lost);
  EXPECT_EQ(world.value(62), lost);
  EXPECT_EQ(world.seen(), "start 1.0, end 1.0, noop 2.0, noop 3.0");
}

/// Short gangs as in a real cluster, where starts are not recorded.
class ShortGangs : public ::testing::Test {
 protected:
  ShortGangs() {
    world_.events.enable(events::EventStream::kAll &
                         ~events::EventStream::bit(events::EventKind::kGangStart));
    std::uint32_t value = part_.arg();
    for (int i = 0; i < 5; ++i) {
      const std::uint32_t next = i < 4 ? part_.inner() : part_.output();
      part_.gang({value}, {next});
      value = next;
    }
    world_.put(50, HostWorld::row(1));
  }

  /// Ends of gangs, and gangs that did nothing, in words.
  std::string ends() const {
    std::string text;
    for (const events::Event& event : world_.events.ring().snapshot()) {
      if (event.kind == events::EventKind::kGangEnd) text += "one ";
      if (event.kind == events::EventKind::kGangNoop) text += "noop ";
      if (event.kind != events::EventKind::kGangsEnd) continue;
      text += std::to_string(event.position) + "-" + std::to_string(event.object) + " in " +
              std::to_string(event.time_ns - event.value) + " ns ";
    }
    return text;
  }

  HostWorld world_;
  PartMaker part_{1, {0}};
};

TEST_F(ShortGangs, OfOnePartShareAnEventAndAllTheirTime) {
  world_.run(1, part_, {50, 60});

  EXPECT_EQ(world_.said(), "gangs 1 0-5");
  EXPECT_EQ(world_.value(60), "6");
  EXPECT_EQ(ends(), "0-5 in 5000 ns ");
  EXPECT_EQ(world_.core.device(0).gangs_done, 5u);
  EXPECT_EQ(world_.core.device(0).busy_ns, 5000u);
}

TEST_F(ShortGangs, BehindOneThatFailsDoNothing) {
  world_.backend.failure = user_function_error("no");
  world_.backend.gangs_to_failure = 2;

  world_.run(1, part_, {50, 60});

  EXPECT_EQ(world_.said(), "gangs 1 0-5, failed 1 USER_FUNCTION_ERROR: no");
  EXPECT_EQ(ends(), "0-3 in 3000 ns noop noop ");
  EXPECT_EQ(world_.core.device(0).gangs_done, 3u);
}

}  // namespace
}  // namespace seaway::device
