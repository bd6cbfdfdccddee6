// Values between islands: armed, delivered, consumed, or declined; each edge ends once (HO-3).

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/device/host_world.hpp"

namespace seaway::device {
namespace {

/// Makes a value from an argument and sends it as edge 7 to island 1.
PartMaker sender() {
  PartMaker part(1, {0});
  const std::uint32_t in = part.arg(), sent = part.inner();
  part.gang({in}, {sent}).send(sent, 7, 1);
  return part;
}

/// Adds 1 to what comes as edge 7 from island 1; the sum is an output.
PartMaker receiver() {
  PartMaker part(2, {0});
  const std::uint32_t in = part.receive(7, 1);
  part.gang({in}, {part.output()});
  return part;
}

/// What the host offers as edge 7 of `stamp`: its first number; -1 for nothing.
float offered(HostWorld& world, Stamp stamp) {
  const auto payload = world.bulk.take_edge(stamp, 7);
  if (!payload) return -1;
  float value = 0;
  std::memcpy(&value, payload->base, sizeof(value));
  world.bulk.offer_edge(stamp, 7, *payload);
  return value;
}

// ---- The sender's end -----------------------------------------------------------------------

TEST(HostEdges, AValueIsDeliveredWhenItIsMadeAndTheReceiverHasRoom) {
  HostWorld world;
  world.put(50, HostWorld::row(41));

  world.run(1, sender(), {50});
  EXPECT_EQ(world.said(), "gangs 1 0-1");
  world.armed(1, 7, 1);
  EXPECT_EQ(world.said(), "delivered 1.7 to 1");
  EXPECT_EQ(offered(world, 1), 42);
  EXPECT_FALSE(world.core.is_idle());
  world.consumed(1, 7, 1);

  EXPECT_EQ(world.said(), "received 1.7");
  EXPECT_TRUE(world.core.is_idle());
}

TEST(HostEdges, AReceiverThatIsReadyFirstIsRememberedUntilTheValueIsMade) {
  HostWorld world;
  world.put(50, HostWorld::row(41));
  world.launch(1, sender(), {50});
  world.armed(1, 7, 1);
  EXPECT_EQ(world.said(), "");

  world.admit(1);
  world.place(1, 0, 1);
  world.core.advance();

  EXPECT_EQ(world.said(), "delivered 1.7 to 1, gangs 1 0-1");
}

TEST(HostEdges, WordsThatOvertakeTheLaunchAreHeld) {
  HostWorld world;
  PartMaker two(1, {0});
  const std::uint32_t first = two.inner(), second = two.inner();
  two.gang({}, {first, second}).send(first, 7, 1).send(second, 8, 2);
  world.armed(1, 7, 1);
  world.declined(1, 8, 2);
  EXPECT_EQ(world.said(), "");

  world.run(1, two);
  EXPECT_EQ(world.said(), "delivered 1.7 to 1, received 1.8, gangs 1 0-1");
  world.consumed(1, 7, 1);

  EXPECT_EQ(world.said(), "received 1.7");
  EXPECT_TRUE(world.core.is_idle());
}

TEST(HostEdges, AnArgumentIsSentAsItIs) {
  HostWorld world;
  PartMaker part(1, {0});
  const std::uint32_t in = part.arg();
  part.announce(in).send(in, 7, 1);
  world.put(50, HostWorld::row(41));

  world.run(1, part, {50});
  world.armed(1, 7, 1);

  EXPECT_EQ(world.said(), "delivered 1.7 to 1, gangs 1 0-1");
  EXPECT_EQ(offered(world, 1), 41);
}

TEST(HostEdges, AReceiverThatDeclinesEndsTheEdge) {
  HostWorld world;
  world.put(50, HostWorld::row(41));
  world.run(1, sender(), {50});

  world.declined(1, 7, 1);

  EXPECT_EQ(world.said(), "gangs 1 0-1, received 1.7");
  EXPECT_TRUE(world.core.is_idle());
  EXPECT_EQ(world.used(), 64u);  // The argument.
}

TEST(HostEdges, AFailedPartDeliversItsErrorInsteadOfAValue) {
  HostWorld world;
  world.put(50, HostWorld::row(41));
  world.backend.failure = user_function_error("broken");
  world.run(1, sender(), {50});

  world.armed(1, 7, 1);
  EXPECT_EQ(world.said(),
            "delivered 1.7 to 1 USER_FUNCTION_ERROR: broken, gangs 1 0-1, "
            "failed 1 USER_FUNCTION_ERROR: broken");
  EXPECT_EQ(world.bulk.size(), 0u);
  world.consumed(1, 7, 1);

  EXPECT_EQ(world.said(), "received 1.7");
  EXPECT_TRUE(world.core.is_idle());
}

TEST(HostEdges, ACancelledSenderDeliversPoisonToWhoeverArms) {
  HostWorld world;
  world.put(50, HostWorld::row(41));
  world.launch(1, sender(), {50});
  world.admit(1);

  world.cancel(1);
  EXPECT_EQ(world.said(), "");  // Not fenced: the receiver has not said what it does.
  world.armed(1, 7, 1);
  EXPECT_EQ(world.said(), "delivered 1.7 to 1 CANCELLED: run 101 was cancelled");
  world.consumed(1, 7, 1);

  EXPECT_EQ(world.said(), "received 1.7, fenced 1");
  EXPECT_TRUE(world.core.is_idle());
}

// ---- The receiver's end ---------------------------------------------------------------------

TEST(HostEdges, AReceiverArmsTakesAndConsumes) {
  HostWorld world;
  world.run(1, receiver(), {60});
  EXPECT_EQ(world.said(), "armed 1.7 to 1");

  world.offer(1, 7, HostWorld::row(41));
  world.delivered(1, 7, 1);

  EXPECT_EQ(world.said(), "consumed 1.7 to 1, gangs 1 0-1");
  EXPECT_EQ(world.value(60), "42");
  EXPECT_EQ(world.bulk.size(), 0u);
  EXPECT_TRUE(world.core.is_idle());
}

TEST(HostEdges, AValueIsWaitedForFromWhenItsReceiverIsArmedToWhenItsEdgeIsCutOff) {
  HostWorld world;
  EXPECT_FALSE(world.core.awaits_edge(1, 7)) << "of a part that nobody has launched";
  world.run(1, receiver(), {60});
  EXPECT_TRUE(world.core.awaits_edge(1, 7));
  EXPECT_FALSE(world.core.awaits_edge(1, 8));
  EXPECT_FALSE(world.core.awaits_edge(2, 7));

  world.core.cut_edges(1, 1, {StatusCode::kHostLost, "no word"});

  EXPECT_FALSE(world.core.awaits_edge(1, 7));
}

TEST(HostEdges, APoisonedEdgeFailsItsReceiverAndNamesTheIsland) {
  HostWorld world;
  world.run(1, receiver(), {60});

  world.delivered(1, 7, 1, user_function_error("broken"));

  const std::string error = "INPUT_LOST: edge 7 from island 1: USER_FUNCTION_ERROR: broken";
  EXPECT_EQ(world.said(), "armed 1.7 to 1, consumed 1.7 to 1, gangs 1 0-1, failed 1 " + error);
  EXPECT_EQ(world.value(60), error);
  EXPECT_EQ(world.used(), 0u);
}

TEST(HostEdges, APartCancelledBeforeItHasRoomDeclines) {
  HostWorld world;
  world.launch(1, receiver(), {60});

  world.cancel(1);

  EXPECT_EQ(world.said(), "declined 1.7 to 1, fenced 1");
  EXPECT_TRUE(world.core.is_idle());
}

TEST(HostEdges, APartCancelledInTheOrderDeclinesAtOnceAndTakesItsTurnLater) {
  HostWorld world;
  PartMaker blocker(1, {0});
  blocker.gang({}, {}, {.cost_ns = kSlow});
  PartMaker part(2, {0});
  part.gang({part.receive(7, 1)}, {});
  world.run(1, blocker);
  world.run(2, part);

  world.cancel(2);
  EXPECT_EQ(world.said(), "declined 2.7 to 1, fenced 2");
  EXPECT_FALSE(world.core.is_idle());
  world.end_gang();

  EXPECT_EQ(world.seen(), "start 1.0, end 1.0, noop 2.0");
  EXPECT_EQ(world.said(), "gangs 1 0-1, gangs 2 0-1");
}

TEST(HostEdges, APartThatFailsBeforeItIsArmedStillTakesWhatComes) {
  HostWorld world(2);
  PartMaker bad(1, {0}), blocker(2, {1}), part(3, {0});
  bad.gang({}, {bad.output()});
  blocker.gang({}, {}, {.cost_ns = kSlow});
  const std::uint32_t other = part.group({1}), in = part.receive(7, 1, other);
  part.gang({part.arg()}, {}).gang({in}, {}, {.group = other});
  world.backend.failure = user_function_error("broken");
  world.run(1, bad, {50});
  world.run(2, blocker);
  world.said();

  world.run(3, part, {50});
  EXPECT_EQ(world.said(),
            "gangs 3 0-1, failed 3 INPUT_LOST: array 50, argument 0 of run 103: "
            "USER_FUNCTION_ERROR: broken");
  world.end_gang();
  EXPECT_EQ(world.said(), "armed 3.7 to 1, gangs 2 0-1");
  world.offer(3, 7, HostWorld::row(1));
  world.delivered(3, 7, 1);

  EXPECT_EQ(world.said(), "consumed 3.7 to 1, gangs 3 1-2");
  EXPECT_TRUE(world.core.is_idle());
  EXPECT_EQ(world.bulk.size(), 0u);
}

TEST(HostEdges, ACancelWhileArmedWaitsForTheDelivery) {
  HostWorld world;
  world.run(1, receiver(), {60});
  EXPECT_EQ(world.said(), "armed 1.7 to 1");

  world.cancel(1);
  world.core.advance();
  EXPECT_EQ(world.said(), "");
  EXPECT_EQ(world.used(), 64u);
  world.offer(1, 7, HostWorld::row(41));
  world.delivered(1, 7, 1);

  EXPECT_EQ(world.said(), "consumed 1.7 to 1, fenced 1, gangs 1 0-1");
  EXPECT_EQ(world.used(), 0u);
  EXPECT_TRUE(world.core.is_idle());
}

TEST(HostEdges, ACancelDuringTheCopyIsFencedBehindIt) {
  HostWorld world;
  world.backend.holds_copies = true;
  world.launch(1, receiver(), {60});
  world.admit(1);
  world.core.advance();
  world.offer(1, 7, HostWorld::row(41));
  world.delivered(1, 7, 1);
  EXPECT_EQ(world.said(), "armed 1.7 to 1");
  ASSERT_EQ(world.backend.copies(), 1u);

  world.cancel(1);
  world.core.advance();
  EXPECT_EQ(world.said(), "");
  EXPECT_EQ(world.used(), 64u);  // The copy still writes into it.
  world.end_copy();

  EXPECT_EQ(world.said(), "consumed 1.7 to 1, fenced 1");
  EXPECT_EQ(world.used(), 0u);
  EXPECT_TRUE(world.core.is_idle());
}

// ---- Plans that are forgotten ---------------------------------------------------------------

TEST(HostEdges, AForgottenPlanStaysUntilTheEdgesOfItsLastPartAreClosed) {
  HostWorld world;
  world.put(50, HostWorld::row(41));
  world.launch(1, sender(), {50});
  world.cancel(1);

  world.core.forget_plan(1);
  world.core.advance();
  EXPECT_EQ(world.core.plan_count(), 1u);
  world.armed(1, 7, 1);
  world.consumed(1, 7, 1);

  EXPECT_TRUE(world.core.is_idle());
  EXPECT_EQ(world.core.plan_count(), 0u);
}

// ---- Moving sends to host room --------------------------------------------------------------

TEST(HostEdges, ValuesThatNobodyHasAskedForMoveToHostRoom) {
  HostWorld world(1, 64);
  PartMaker part(1, {0});
  const std::uint32_t sent = part.inner();
  part.gang({}, {sent}).send(sent, 7, 1);
  PartMaker next(2, {0});
  next.work(64).gang({}, {});
  world.run(1, part);
  EXPECT_EQ(world.used(), 64u);

  world.move_sends(1);
  EXPECT_EQ(world.said(), "gangs 1 0-1, moved 1");
  EXPECT_EQ(world.used(), 0u);
  world.run(2, next);
  world.armed(1, 7, 1);

  EXPECT_EQ(world.said(), "delivered 1.7 to 1, gangs 2 0-1");
  EXPECT_EQ(offered(world, 1), 1);
  world.consumed(1, 7, 1);
  EXPECT_EQ(world.said(), "received 1.7");
  EXPECT_TRUE(world.core.is_idle());
}

TEST(HostEdges, AValueOnItsWayIsOfferedAnewFromHostRoom) {
  HostWorld world;
  world.put(50, HostWorld::row(41));
  world.run(1, sender(), {50});
  world.armed(1, 7, 1);
  EXPECT_EQ(world.said(), "delivered 1.7 to 1, gangs 1 0-1");

  world.move_sends(1);

  EXPECT_EQ(world.said(), "moved 1");
  EXPECT_EQ(offered(world, 1), 42);
  EXPECT_EQ(world.used(), 64u);  // The argument.
}

TEST(HostEdges, AValueThatIsBeingCopiedKeepsItsRoomUntilItIsReceived) {
  HostWorld world;
  world.put(50, HostWorld::row(41));
  world.run(1, sender(), {50});
  world.armed(1, 7, 1);
  EXPECT_EQ(world.said(), "delivered 1.7 to 1, gangs 1 0-1");
  EXPECT_TRUE(world.bulk.take_edge(1, 7).has_value());  // The receiver copies now.

  world.move_sends(1);
  EXPECT_EQ(world.said(), "");
  EXPECT_EQ(world.used(), 128u);
  world.consumed(1, 7, 1);

  EXPECT_EQ(world.said(), "received 1.7, moved 1");
  EXPECT_EQ(world.used(), 64u);
}

// ---- What no host can mean ------------------------------------------------------------------

/// Who is to be lost, and how often.
std::vector<std::uint32_t> wrong_hosts(HostWorld& world) {
  std::vector<std::uint32_t> hosts;
  for (const HostOutbox::Wrong& wrong : world.core.outbox().wrong) {
    EXPECT_EQ(wrong.role, actor::Role::kHost);
    EXPECT_EQ(wrong.why.code(), StatusCode::kProtocolError);
    hosts.push_back(wrong.index);
  }
  world.core.outbox().wrong.clear();
  return hosts;
}

TEST(HostEdges, RefusesReportsOfUnknownParts) {
  HostWorld world;

  world.consumed(9, 7, 1);
  world.delivered(9, 7, 2);

  EXPECT_EQ(wrong_hosts(world), (std::vector<std::uint32_t>{1, 2}));
}

TEST(HostEdges, RefusesReportsOutOfTheirOrder) {
  HostWorld world;
  world.put(50, HostWorld::row(41));
  world.run(1, sender(), {50});

  world.consumed(1, 7, 1);  // It was not sent.
  world.armed(1, 8, 1);     // There is no such edge,
  world.armed(1, 7, 2);     // and the receiver is another one.
  EXPECT_EQ(wrong_hosts(world), (std::vector<std::uint32_t>{1, 1, 2}));
  world.armed(1, 7, 1);
  world.armed(1, 7, 1);
  world.declined(1, 7, 1);

  EXPECT_EQ(wrong_hosts(world), (std::vector<std::uint32_t>{1, 1}));
}

TEST(HostEdges, RefusesValuesWithoutBytesOrRoom) {
  HostWorld world;
  world.launch(2, receiver(), {60});

  world.delivered(2, 7, 1);  // Not armed.
  world.admit(2);
  world.core.advance();
  world.delivered(2, 7, 1);  // No bytes came ahead.
  world.delivered(2, 9, 1);  // No such edge.

  EXPECT_EQ(wrong_hosts(world), (std::vector<std::uint32_t>{1, 1, 1}));
}

TEST(HostOrders, RefusesWhatNoSchedulerCanMean) {
  HostWorld world;
  world.put(50, HostWorld::row(41));
  world.launch(1, sender(), {50});
  const auto refused = [&world] {
    const std::size_t count = world.core.outbox().wrong.size();
    for (const auto& wrong : world.core.outbox().wrong) {
      EXPECT_EQ(wrong.role, actor::Role::kIsland);
    }
    world.core.outbox().wrong.clear();
    return count;
  };

  world.place(1, 0, 1);  // Before it is admitted,
  world.admit(1);
  world.admit(1);        // which is once.
  world.place(1, 0, 2);  // It has one gang.
  world.place(0, 0, 1);  // No such part,
  world.spill(99);       // and no such array.
  EXPECT_EQ(refused(), 5u);
  world.place(1, 0, 1);
  world.place(1, 0, 1);

  EXPECT_EQ(refused(), 1u);
}

TEST(HostLaunches, RefusesUnknownPlansArraysAndStamps) {
  HostWorld world;
  world.put(50, HostWorld::row(41));
  world.launch(5, sender(), {50});

  world.launch(5, sender(), {50});
  world.launch(6, sender(), {51});
  world.core.launch(7, 107, 99, 0, false, [](std::uint32_t) { return ArrayId{50}; });

  ASSERT_EQ(world.core.outbox().wrong.size(), 3u);
  for (const auto& wrong : world.core.outbox().wrong) {
    EXPECT_EQ(wrong.role, actor::Role::kController);
  }
}

}  // namespace
}  // namespace seaway::device
