// Islands that are to be left: what moves off them, what stays, and when they are for use again.

#include <gtest/gtest.h>

#include <string>

#include "unit/controller/controller_world.hpp"

namespace seaway::controller {
namespace {

/// Two islands whose roles have joined, and a slice with an array on island 0, which may go to
/// island 1.
struct Drained {
  explicit Drained(std::uint64_t kept_bytes_max = 0)
      : world({.islands = 2, .kept_bytes_max = kept_bytes_max, .has_members = true}) {
    world.binder.next = {1, {0}};
  }

  std::string drain(IslandId island, Drain how = Drain::kUntilEnded) {
    const Status status = world.core.drain_island(island, how);
    return status.ok() ? world.said() : status.to_string();
  }
  /// "1 slices, 2 arrays, 0 parts, 0 reads".
  std::string left(IslandId island) {
    const ControllerCore::Left left = world.core.left_on(island);
    return std::to_string(left.slices) + " slices, " + std::to_string(left.arrays) + " arrays, " +
           std::to_string(left.parts) + " parts, " + std::to_string(left.reads) + " reads";
  }
  bool is_bound_to_new_slices(IslandId island) { return !world.binder.lost.contains({island, 0}); }

  struct Joined : ControllerWorld {
    explicit Joined(ControllerOptions options) : ControllerWorld(std::move(options)) {
      join({0, 1});
    }
  };
  Joined world;
  ClientId client = world.client();
  SliceId slice = world.slice(client);
  FunctionId f = world.function(client, "f");
  ProgramId program = world.chain(client, {.function = f, .slices = {slice}});
  ArrayId input = world.upload(client, slice);
};

TEST(Drains, SlicesLeaveWithTheirArraysAndRunsFollow) {
  Drained some;
  EXPECT_EQ(some.left(0), "1 slices, 1 arrays, 0 parts, 0 reads");

  EXPECT_EQ(some.drain(0), "launch 1@0, launch 1@1");
  some.world.run(some.client, some.program, {some.input});
  EXPECT_EQ(some.world.said(), "") << "it waits until all has moved";
  some.world.finish(1, {0, 1});

  EXPECT_EQ(some.world.said(), "free 501@0, launch 2@1");
  EXPECT_EQ(some.left(0), "0 slices, 0 arrays, 0 parts, 0 reads");
  EXPECT_EQ(some.left(1), "1 slices, 2 arrays, 1 parts, 0 reads");
  some.world.finish(2, {1});
  EXPECT_EQ(some.world.said(), "run 1 OK");
  EXPECT_FALSE(some.is_bound_to_new_slices(0));
}

TEST(Drains, ASliceThatIsOnItsWayIsLeftAtBothEnds) {
  Drained some;
  EXPECT_EQ(some.left(1), "0 slices, 0 arrays, 0 parts, 0 reads");

  EXPECT_EQ(some.drain(0), "launch 1@0, launch 1@1");

  EXPECT_TRUE(some.left(0).starts_with("1 slices, ")) << some.left(0);
  EXPECT_TRUE(some.left(1).starts_with("1 slices, ")) << some.left(1);
}

TEST(Drains, WhatIsInFlightComesToItsEndFirst) {
  Drained some;
  some.world.run(some.client, some.program, {some.input});
  EXPECT_EQ(some.world.said(), "launch 1@0");

  EXPECT_EQ(some.drain(0), "");
  EXPECT_EQ(some.left(0), "1 slices, 2 arrays, 1 parts, 0 reads");
  some.world.finish(1);

  EXPECT_EQ(some.world.said(), "launch 2@0, launch 3@0, launch 2@1, launch 3@1, run 1 OK");
}

TEST(Drains, WhatCanGoNowhereStaysAndWorksOnUntilItCan) {
  Drained some;
  some.world.binder.is_room = false;

  EXPECT_EQ(some.drain(0), "");
  some.world.run(some.client, some.program, {some.input});
  EXPECT_EQ(some.world.said(), "launch 1@0");
  some.world.finish(1);
  EXPECT_EQ(some.world.said(), "run 1 OK");
  EXPECT_EQ(some.left(0), "1 slices, 2 arrays, 0 parts, 0 reads");

  some.world.binder.is_room = true;
  EXPECT_EQ(some.world.said(), "") << "nobody has asked again";
  EXPECT_EQ(some.drain(0), "launch 2@0, launch 3@0, launch 2@1, launch 3@1");
}

TEST(Drains, NothingIsLostForWhichThereIsNoRoomElsewhere) {
  Drained some(100);
  const SliceId far = some.world.slice(some.client, 1);
  const ArrayId far_array = some.world.upload(some.client, far);

  EXPECT_EQ(some.drain(0), "");
  some.world.core.fetch(some.client, some.input, 10);
  EXPECT_EQ(some.world.said(), "fetch 501@0");

  some.world.core.release(some.client, far_array);
  some.world.said();
  EXPECT_EQ(some.drain(0), "launch 1@0, launch 1@1");
}

TEST(Drains, AHostThatJoinsIsAPlaceToGoTo) {
  Drained some;
  some.world.core.host_lost(1, "no word");
  some.world.binder.is_room = false;
  some.drain(0);

  some.world.binder.is_room = true;
  some.world.core.host_joined(1, 2);
  some.world.compiled(some.f);

  EXPECT_EQ(some.world.said(), "launch 1@0, launch 1@1, view@1");
  EXPECT_EQ(some.world.core.born_stamp(1), 0u) << "the move is of its life";
}

TEST(Drains, TheNextHostIsForUseUnlessTheDrainIsToLast) {
  for (const Drain how : {Drain::kUntilJoined, Drain::kUntilEnded}) {
    Drained some;
    some.drain(0, how);
    // A host that leaves says so, too.
    some.drain(0, Drain::kUntilJoined);
    some.world.core.host_lost(0, "it has left");
    some.world.core.host_joined(0, 2);

    const bool is_over = how == Drain::kUntilJoined;
    EXPECT_EQ(some.world.core.is_draining(0), !is_over);
    EXPECT_EQ(some.is_bound_to_new_slices(0), is_over);
    EXPECT_TRUE(some.world.core.end_drain(0).ok());
    EXPECT_TRUE(some.is_bound_to_new_slices(0));
  }
}

TEST(Drains, ALostDeviceStaysLostWhenTheDrainEnds) {
  Drained some;
  some.world.binder.is_room = false;
  some.drain(0);
  some.world.lose(0, 0);
  some.world.said();

  EXPECT_TRUE(some.world.core.end_drain(0).ok());
  EXPECT_FALSE(some.is_bound_to_new_slices(0));
  some.world.run(some.client, some.program, {some.input});
  EXPECT_NE(some.world.said().find("DEVICE_LOST"), std::string::npos);
}

TEST(Drains, OfWhatIsNotThereNobodyLeaves) {
  Drained some;
  EXPECT_EQ(some.drain(2),
            "INVALID_ARGUMENT: there is no island 2; the cluster has islands 0 to 1");
  EXPECT_FALSE(some.world.core.end_drain(2).ok());

  ControllerWorld embedded({.islands = 2});
  EXPECT_EQ(embedded.core.drain_island(0, Drain::kUntilEnded).to_string(),
            "INVALID_ARGUMENT: islands of one process come and go with it; there is none to drain");
}

}  // namespace
}  // namespace seaway::controller
