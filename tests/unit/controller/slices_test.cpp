// Slices that are released or bound anew while runs and arrays depend on them.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/controller/controller_world.hpp"

namespace seaway::controller {
namespace {

/// Two islands; a slice on island 0 that moves to island 1 when it is bound anew.
struct Movable {
  explicit Movable(ControllerOptions options = {.islands = 2}) : world(options) {
    world.binder.next = {1, {2}};
  }

  RunIds run() { return world.run(client, program, {input}); }
  void rebind(std::uint64_t request = 9) { world.core.rebind_slice(client, request, slice); }
  /// Whether one more array has room on `island`. It is gone again afterwards.
  bool has_room(IslandId island) {
    const ArrayId array = world.put(client, world.slice(client, island));
    const std::string said = world.said();
    world.core.release(client, array);
    world.said();
    return said.find("RESOURCE_EXHAUSTED") == std::string::npos;
  }

  ControllerWorld world;
  ClientId client = world.client();
  SliceId slice = world.slice(client);
  FunctionId f = world.function(client, "f");
  ProgramId program = world.chain(client, {.function = f, .slices = {slice}});
  ArrayId input = world.put(client, slice);
};

// ---- Release --------------------------------------------------------------------------------

TEST(Slices, WhatWasEnqueuedBeforeASliceIsReleasedIsDoneAndNothingElse) {
  Movable one;
  const FunctionId late = one.world.function(one.client, "late", {.is_compiled = false});
  const ProgramId waits = one.world.chain(one.client, {.function = late, .slices = {one.slice}});
  one.world.run(one.client, waits, {one.input});
  one.world.said();

  one.world.core.release_slice(one.client, 9, one.slice);
  one.run();
  one.world.put(one.client, one.slice);
  one.world.core.fetch(one.client, one.input, 10);
  const std::string refused = "which was released; acquire another";
  EXPECT_EQ(one.world.said(),
            "fetch 501@0, run 2 INVALID_ARGUMENT: program chain uses slice 11, " + refused +
                " and capture the program anew, put 502 INVALID_ARGUMENT: array 502 is put on a "
                "slice that was released; acquire another one, reply 9 OK");
  EXPECT_EQ(one.world.binder.held.size(), 1u);
  one.world.compiled(late);
  EXPECT_EQ(one.world.said(), "launch 1@0");
  one.world.finish(1);

  EXPECT_EQ(one.world.said(), "run 1 OK");
  EXPECT_TRUE(one.world.binder.held.empty());
}

TEST(Slices, OnlyASliceThatIsHeldIsReleasedOrBoundAnew) {
  Movable one;
  const ClientId other = one.world.client("other");

  one.world.core.release_slice(other, 1, one.slice);
  one.world.core.rebind_slice(other, 2, one.slice);
  EXPECT_EQ(one.world.said(),
            "reply 1 INVALID_ARGUMENT: slice 11 is not held, "
            "reply 2 INVALID_ARGUMENT: slice 11 is not held");
  one.world.core.release_slice(one.client, 3, one.slice);
  one.world.core.release_slice(one.client, 4, one.slice);
  one.world.core.rebind_slice(one.client, 5, one.slice);

  EXPECT_EQ(one.world.said(),
            "reply 3 OK, reply 4 INVALID_ARGUMENT: slice 11 is not held, "
            "reply 5 INVALID_ARGUMENT: slice 11 is not held");
}

// ---- Binding anew ---------------------------------------------------------------------------

TEST(Slices, RunsWaitWhileTheSliceMovesAndThenGoWhereItIs) {
  Movable one;
  one.run();
  EXPECT_EQ(one.world.said(), "launch 1@0");

  one.rebind();
  one.run();
  EXPECT_EQ(one.world.said(), "");  // The first run has to drain.
  one.world.finish(1);
  EXPECT_EQ(one.world.said(), "launch 2@0, launch 3@0, launch 2@1, launch 3@1, run 1 OK");
  one.world.finish(2, {0, 1});
  EXPECT_EQ(one.world.said(), "free 501@0");
  one.world.finish(3, {1, 0});

  EXPECT_EQ(one.world.said(), "free 1001@0, launch 4@1, reply 9 OK 1 2");
  one.world.core.fetch(one.client, one.input, 10);
  EXPECT_EQ(one.world.said(), "fetch i1@1");
  EXPECT_EQ(one.world.kept(one.client), "192");
}

TEST(Slices, OnOneIslandAMoveIsOnePart) {
  Movable one;
  one.world.binder.next = {0, {1}};

  one.rebind();
  EXPECT_EQ(one.world.said(), "launch 1@0");
  one.world.finish(1);

  EXPECT_EQ(one.world.said(), "free 501@0, reply 9 OK 0 1");
  EXPECT_EQ(one.world.forgotten_plans[0], std::vector<PlanId>{one.world.launches[0].plan});
}

TEST(Slices, ASliceWithoutArraysMovesAtOnceAndProgramsAreLoweredAnew) {
  Movable one;
  one.run();
  one.world.said();
  one.world.finish(1);
  one.world.core.release(one.client, one.input);
  one.world.core.release(one.client, make_id(one.client, 1001));
  one.world.said();
  const std::size_t plans_before = one.world.plans;

  one.rebind();
  EXPECT_EQ(one.world.said(), "reply 9 OK 1 2");
  one.world.run(one.client, one.program, {one.world.put(one.client, one.slice)});

  EXPECT_TRUE(one.world.forgotten_plans[0].empty());
  EXPECT_EQ(one.world.said(), "launch 2@1");
  EXPECT_EQ(one.world.plans, plans_before + 1);
  EXPECT_EQ(one.world.forgotten_plans[0], std::vector<PlanId>{one.world.launches[0].plan});
  EXPECT_TRUE(one.world.forgotten_plans[1].empty());
}

TEST(Slices, PlansOfAReleasedSliceAreForgottenOnceItsRunsAreOver) {
  Movable one;
  one.run();
  one.world.said();

  one.world.core.release_slice(one.client, 9, one.slice);
  one.world.said();
  EXPECT_TRUE(one.world.forgotten_plans[0].empty());
  one.world.finish(1);
  EXPECT_EQ(one.world.said(), "run 1 OK");

  EXPECT_EQ(one.world.forgotten_plans[0], std::vector<PlanId>{one.world.launches[0].plan});
  one.world.core.goodbye(one.client);
  one.world.said();
  EXPECT_EQ(one.world.core.client_count(), 0u);
  EXPECT_EQ(one.world.forgotten_plans[0].size(), 1u);  // Said once.
}

TEST(Slices, WhatIsPutWhileTheSliceMovesGoesWhereItWillBe) {
  Movable one;
  one.rebind();
  EXPECT_EQ(one.world.said(), "launch 1@0, launch 1@1");

  const ArrayId late = one.world.put(one.client, one.slice);
  one.world.run(one.client, one.program, {late});
  EXPECT_EQ(one.world.said(), "");
  EXPECT_EQ(one.world.puts.at(late), 1u);
  one.world.finish(1, {0, 1});

  EXPECT_EQ(one.world.said(), "free 501@0, launch 2@1, reply 9 OK 1 2");
}

TEST(Slices, AnArrayReleasedWhileItMovesIsFreedAtBothEnds) {
  Movable one;
  one.rebind();
  one.world.said();

  one.world.core.release(one.client, one.input);
  EXPECT_EQ(one.world.said(), "free 501@0");
  one.world.finish(1, {0, 1});

  EXPECT_EQ(one.world.said(), "free i1@1, reply 9 OK 1 2");
  EXPECT_EQ(one.world.core.array_count(), 0u);
  EXPECT_EQ(one.world.kept(one.client), "0");
}

TEST(Slices, AnArrayThatCannotBeMovedIsLostAndTheSliceMovesAllTheSame) {
  Movable one;
  one.rebind();
  one.world.said();

  one.world.core.part_failed(1, Status(StatusCode::kDeviceLost, "device 0 is gone"));
  EXPECT_EQ(one.world.said(), "cancel 1@0, cancel 1@1");
  one.world.finish(1, {0, 1});
  one.run();

  const std::string lost =
      "INPUT_LOST: the move to other devices failed: DEVICE_LOST: device 0 is gone";
  EXPECT_EQ(one.world.said(), "free 501@0, free i1@1, run 1 " + lost + ", reply 9 OK 1 2");
  one.world.core.fetch(one.client, one.input, 10);
  EXPECT_EQ(one.world.said(), "answer 10 " + lost);
}

/// 126 bytes on each island for one tenant, and an array has 64.
const ControllerOptions kRoomForOne{.islands = 2, .kept_bytes_max = 144};

TEST(Slices, WhileItMovesAnArrayIsKeptAtBothEnds) {
  Movable one(kRoomForOne);
  EXPECT_TRUE(one.has_room(1));
  one.rebind();
  one.world.said();

  EXPECT_EQ(one.world.kept(one.client), "128");
  EXPECT_FALSE(one.has_room(0));
  EXPECT_FALSE(one.has_room(1));
  one.world.finish(1, {0, 1});
  one.world.said();

  EXPECT_EQ(one.world.kept(one.client), "64");
  EXPECT_TRUE(one.has_room(0));
  EXPECT_FALSE(one.has_room(1));
}

TEST(Slices, WhatDidNotArriveIsNotKeptWhereItWasToGo) {
  Movable one(kRoomForOne);
  one.rebind();
  one.world.said();

  one.world.core.part_failed(1, Status(StatusCode::kDeviceLost, "device 0 is gone"));
  one.world.finish(1, {0, 1});
  one.world.said();
  EXPECT_TRUE(one.has_room(1));
  EXPECT_FALSE(one.has_room(0));  // As long as there is a handle.
  one.world.core.release(one.client, one.input);
  one.world.said();

  EXPECT_TRUE(one.has_room(0));
}

TEST(Slices, AnArrayForWhichThereIsNoRoomElsewhereIsLostAndTheSliceMoves) {
  Movable one(kRoomForOne);
  one.world.put(one.client, one.world.slice(one.client, 1));
  one.world.said();
  one.rebind();

  EXPECT_EQ(one.world.said(), "free 501@0, reply 9 OK 1 2");
  one.world.core.fetch(one.client, one.input, 10);

  EXPECT_EQ(one.world.said(),
            "answer 10 INPUT_LOST: array 501 cannot move off lost devices: it needs 64 bytes, and "
            "live arrays of tenant tenant already keep 64 of the 126 bytes that it may keep on "
            "island 1; drop handles of arrays there, or raise host_memory, and make it again");
  EXPECT_EQ(one.world.kept(one.client), "128");
  one.world.core.release(one.client, one.input);
  EXPECT_EQ(one.world.kept(one.client), "64");
}

TEST(Slices, ASliceGoesWhereThereIsRoomForItsArrays) {
  Movable one(kRoomForOne);
  one.world.put(one.client, one.world.slice(one.client, 1));
  one.world.said();
  one.rebind();
  one.world.said();

  EXPECT_EQ(one.world.binder.refused, (std::vector<IslandId>{1}));
}

TEST(Slices, ASliceIsBoundAnewOnceAtATime) {
  Movable one;
  one.run();
  one.world.said();
  one.rebind(9);

  one.rebind(10);

  EXPECT_EQ(one.world.said(),
            "reply 10 INVALID_ARGUMENT: slice 11 is being bound anew; wait for that first");
}

TEST(Slices, AClientThatGoesWhileItsSliceMovesLeavesNothingBehind) {
  Movable one;
  one.rebind();
  EXPECT_EQ(one.world.said(), "launch 1@0, launch 1@1");

  one.world.core.goodbye(one.client);
  one.world.finish(1, {0, 1});
  one.world.said();

  EXPECT_EQ(one.world.core.runs_unfinished(), 0u);
  EXPECT_EQ(one.world.core.array_count(), 0u);
  EXPECT_TRUE(one.world.binder.held.empty());
}

TEST(Slices, OneMovesThoughAnotherOfTheSameProgramWasReleased) {
  Movable one;
  const SliceId far = one.world.slice(one.client, 1);
  const ProgramId both =
      one.world.chain(one.client, {.function = one.f, .slices = {one.slice, far}});
  one.world.run(one.client, both, {one.input});
  EXPECT_EQ(one.world.said(), "launch 1@0, launch 1@1");
  one.world.core.release_slice(one.client, 8, one.slice);
  one.world.run(one.client, both, {one.input});  // Refused.
  one.world.said();

  one.world.binder.next = {0, {3}};
  one.world.core.rebind_slice(one.client, 9, far);
  EXPECT_EQ(one.world.said(), "");
  one.world.finish(1, {0, 1});

  EXPECT_EQ(one.world.said(), "launch 2@0, launch 2@1, run 1 OK");
  one.world.finish(2, {0, 1});
  EXPECT_EQ(one.world.said(), "free 1001@1, reply 9 OK 0 3");
}

}  // namespace
}  // namespace seaway::controller
