// Which run is stamped next, and what its islands are told (rule 1, CO-1, CO-5).

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "unit/controller/controller_world.hpp"

namespace seaway::controller {
namespace {

/// One client with a slice on island 0, a function and a program of one call.
struct OneClient {
  explicit OneClient(ControllerOptions options = {}, FunctionOptions function = {})
      : world(options), f(world.function(client, "f", function)) {}

  RunIds run() { return world.run(client, program, {input}); }

  ControllerWorld world;
  ClientId client = world.client();
  SliceId slice = world.slice(client);
  FunctionId f;
  ProgramId program = world.chain(client, {.function = f, .slices = {slice}});
  ArrayId input = world.put(client, slice);
};

TEST(Stamps, RiseInTheOrderOfSubmission) {
  OneClient one;

  one.run();
  one.run();
  EXPECT_EQ(one.world.said(), "launch 1@0, launch 2@0");
  one.run();

  EXPECT_EQ(one.world.said(), "launch 3@0");
  EXPECT_EQ(one.world.launches[2].run, make_id(one.client, 3));
}

TEST(Stamps, ALaunchIsOneRecordForEachIslandHoweverManyShardsThereAre) {
  for (const std::uint32_t devices : {1u, 4u, 64u}) {
    ControllerWorld world({.islands = 3});
    const ClientId client = world.client();
    const SliceId left = world.slice(client, 0, devices), right = world.slice(client, 2, devices);
    const FunctionId f = world.function(client, "f");
    const ProgramId program =
        world.chain(client, {.function = f, .slices = {left, right, left, right}});

    world.run(client, program, {world.put(client, left)});

    EXPECT_EQ(world.said(), "launch 1@0, launch 1@2") << devices;
    EXPECT_EQ(world.plans, 2u) << devices;
  }
}

TEST(Stamps, APlanIsSentOnceForAllRuns) {
  OneClient one;

  for (int i = 0; i < 5; ++i) one.run();
  one.world.said();

  EXPECT_EQ(one.world.plans, 1u);
  for (const auto& launch : one.world.launches) {
    EXPECT_EQ(launch.plan, one.world.launches[0].plan);
  }
}

TEST(Weights, AreSaidToAllIslandsWhenTheyChange) {
  ControllerWorld world({.islands = 2});

  world.core.hello(1, "plain", 0, 1);
  EXPECT_EQ(world.said(), "reply 1 OK 100000");
  world.core.hello(2, "heavy", 3, 1);
  EXPECT_EQ(world.said(), "weight 1=3@0, weight 1=3@1, reply 1 OK 100000");
  world.core.hello(3, "heavy", 3, 1);
  EXPECT_EQ(world.said(), "reply 1 OK 100000");
  world.core.hello(4, "heavy", 0, 1);
  EXPECT_EQ(world.said(), "reply 1 OK 100000");
  world.core.hello(5, "heavy", 1, 1);
  EXPECT_EQ(world.said(), "weight 1=1@0, weight 1=1@1, reply 1 OK 100000");
}

TEST(Stamps, ARunIsStampedAfterThoseWhoseArraysItReadsAndOthersGoAhead) {
  OneClient one;
  ControllerWorld& world = one.world;
  const FunctionId late = world.function(one.client, "late", {.is_compiled = false});
  const ProgramId waits = world.chain(one.client, {.function = late, .slices = {one.slice}});

  const RunIds producer = world.run(one.client, waits, {one.input});
  world.run(one.client, one.program, {producer.output});
  one.run();
  EXPECT_EQ(world.said(), "launch 1@0");
  EXPECT_EQ(world.launches[0].run, make_id(one.client, 3));
  world.compiled(late);

  EXPECT_EQ(world.said(), "launch 2@0, launch 3@0");
  EXPECT_EQ(world.launches[1].run, producer.run);
  EXPECT_EQ(world.launches[2].run, make_id(one.client, 2));
}

TEST(Stamps, ARunThatReadsARefusedUploadIsNeverStamped) {
  OneClient one({.kept_bytes_max = 128});
  ControllerWorld& world = one.world;

  const ArrayId refused = world.put(one.client, one.slice);
  world.run(one.client, one.program, {refused});

  EXPECT_EQ(
      world.said(),
      "put 502 RESOURCE_EXHAUSTED: array f32[16] as P(\"x\") over mesh(x=1) needs 64 bytes; "
      "live arrays of tenant tenant already keep 64 of the 112 bytes that it may keep on "
      "island 0; drop handles of arrays that are no longer needed, or raise host_memory, "
      "run 1 INPUT_LOST: argument 0 of program chain failed: RESOURCE_EXHAUSTED: array "
      "f32[16] as P(\"x\") over mesh(x=1) needs 64 bytes; live arrays of tenant tenant already "
      "keep 64 of the 112 bytes that it may keep on island 0; drop handles of arrays that "
      "are no longer needed, or raise host_memory");
  EXPECT_TRUE(world.launches.empty());
}

TEST(Stamps, AWindowOfRunsIsInFlight) {
  OneClient one({.limits = {.runs_in_flight_max = 2}});

  for (int i = 0; i < 4; ++i) one.run();
  EXPECT_EQ(one.world.said(), "launch 1@0, launch 2@0");
  one.world.finish(2);

  EXPECT_EQ(one.world.said(), "launch 3@0, run 2 OK");
}

TEST(Stamps, LongRunsFillTheWindowByTheirTimeButTwoAlwaysGo) {
  OneClient one({.limits = {.cost_in_flight_ns_max = 3'000'000}}, {.cost_ns = 1'000'000});

  for (int i = 0; i < 6; ++i) one.run();
  EXPECT_EQ(one.world.said(), "launch 1@0, launch 2@0, launch 3@0");

  OneClient huge({.limits = {.cost_in_flight_ns_max = 3'000'000}}, {.cost_ns = 9'000'000});
  for (int i = 0; i < 6; ++i) huge.run();
  EXPECT_EQ(huge.world.said(), "launch 1@0, launch 2@0");
}

/// The sum of two such costs overflows to 2.
TEST(Stamps, LimitTheCostThatAHostReports) {
  OneClient one({.limits = {.cost_in_flight_ns_max = 3'000'000}},
                {.cost_ns = (std::uint64_t{1} << 63) + 1});

  for (int i = 0; i < 6; ++i) one.run();

  EXPECT_EQ(one.world.said(), "launch 1@0, launch 2@0");
}

TEST(Stamps, RunsBehindTooManyThatWaitAreNotLookedAt) {
  OneClient one({.limits = {.lookahead_max = 3}});
  const FunctionId late = one.world.function(one.client, "late", {.is_compiled = false});
  const ProgramId waits = one.world.chain(one.client, {.function = late, .slices = {one.slice}});

  for (int i = 0; i < 2; ++i) one.world.run(one.client, waits, {one.input});
  one.run();
  EXPECT_EQ(one.world.said(), "launch 1@0");
  one.world.run(one.client, waits, {one.input});
  one.run();

  EXPECT_EQ(one.world.said(), "");
  one.world.compiled(late);
  EXPECT_EQ(one.world.said(), "launch 2@0, launch 3@0, launch 4@0, launch 5@0");
}

TEST(Stamps, TooManyQueuedRunsOfATenantAreRefusedWithNumbers) {
  OneClient one({.limits = {.runs_in_flight_max = 0, .runs_queued_max = 2}});

  for (int i = 0; i < 3; ++i) one.run();

  EXPECT_EQ(one.world.said(),
            "run 3 RESOURCE_EXHAUSTED: 2 of 2 runs of tenant tenant wait; wait for some of them "
            "and try again");
}

// ---- Tenants --------------------------------------------------------------------------------

/// Two tenants of one island that always have runs waiting.
struct TwoTenants {
  /// One run at a time, unless `options` say otherwise.
  TwoTenants(std::uint32_t weight_of_first, std::uint32_t weight_of_second,
             ControllerOptions options = {.limits = {.runs_in_flight_max = 1,
                                                     .runs_shared_in_flight = 1}})
      : world(options) {
    for (const auto& [name, weight] :
         {std::pair{"first", weight_of_first}, std::pair{"second", weight_of_second}}) {
      const ClientId client = world.client(name, weight);
      const SliceId slice = world.slice(client);
      programs.push_back(
          world.chain(client, {.function = world.function(client, "f"), .slices = {slice}}));
      inputs.push_back(world.put(client, slice));
    }
  }
  void submit(ClientId client, int count) {
    for (int i = 0; i < count; ++i) world.run(client, programs[client - 1], {inputs[client - 1]});
  }
  /// The next `count` launches by tenant, each made when the one before it has finished.
  std::vector<int> launch(std::size_t count) {
    std::vector<int> launched(2, 0);
    for (const std::size_t until = world.launches.size() + count; world.launches.size() < until;) {
      world.said();
      for (; seen < world.launches.size(); ++seen) ++launched[world.launches[seen].tenant];
      if (finished < world.launches.size()) world.finish(world.launches[finished++].stamp);
    }
    return launched;
  }

  ControllerWorld world;
  std::vector<ProgramId> programs;
  std::vector<ArrayId> inputs;
  std::size_t seen = 0, finished = 0;
};

TEST(Stamps, AreSharedByWeight) {
  TwoTenants two(1, 3);
  two.submit(1, 100);
  two.submit(2, 100);

  const std::vector<int> launched = two.launch(80);

  EXPECT_NEAR(launched[0], 20, 1);
  EXPECT_NEAR(launched[1], 60, 1);
}

TEST(Stamps, AWeightThatIsNotSaidStaysAsItIs) {
  TwoTenants two(0, 3);
  two.world.client("second", 0);
  two.submit(1, 100);
  two.submit(2, 100);

  EXPECT_NEAR(two.launch(80)[1], 60, 1);
}

TEST(Stamps, ATenantThatWasIdleHasSavedNoCredit) {
  TwoTenants two(1, 1);
  two.submit(1, 100);
  two.launch(40);

  two.submit(2, 100);
  const std::vector<int> launched = two.launch(20);

  EXPECT_NEAR(launched[0], 10, 1);
  EXPECT_NEAR(launched[1], 10, 1);
}

TEST(Stamps, ATenantThatWaitedAloneHasSavedNoCreditEither) {
  TwoTenants two(1, 1);
  two.submit(1, 40);
  two.launch(40);
  two.submit(2, 60);
  two.launch(20);

  two.submit(1, 60);
  const std::vector<int> launched = two.launch(20);

  EXPECT_NEAR(launched[0], 10, 1);
  EXPECT_NEAR(launched[1], 10, 1);
}

TEST(Stamps, ATenantWhoseRunsCouldNotBeStampedHasSavedNoCredit) {
  TwoTenants two(1, 1);
  const FunctionId late = two.world.function(2, "late", {.is_compiled = false});
  const SliceId slice = two.world.slice(2);
  const ProgramId waits = two.world.chain(2, {.function = late, .slices = {slice}});
  for (int i = 0; i < 60; ++i) two.world.run(2, waits, {two.world.put(2, slice)});
  two.submit(2, 1);
  two.submit(1, 100);
  two.launch(41);

  two.world.compiled(late);
  const std::vector<int> launched = two.launch(20);

  EXPECT_NEAR(launched[0], 10, 1);
  EXPECT_NEAR(launched[1], 10, 1);
}

TEST(Stamps, ATenantWithARunInFlightSavesNoCreditEither) {
  TwoTenants two(1, 1, {.limits = {.runs_in_flight_max = 2, .runs_shared_in_flight = 2}});
  two.submit(1, 1);
  two.world.said();
  ++two.finished;  // The first run of the first one takes as long as all that follows.
  two.submit(2, 60);
  two.launch(60);

  two.submit(1, 60);
  two.submit(2, 60);
  const std::vector<int> launched = two.launch(20);

  EXPECT_NEAR(launched[0], 10, 1);
  EXPECT_NEAR(launched[1], 10, 1);
}

TEST(Stamps, NorDoesOneWhoseNextRunHasToWait) {
  TwoTenants two(1, 1, {.limits = {.runs_in_flight_max = 2, .runs_shared_in_flight = 2}});
  const SliceId slice = two.world.slice(1);
  const FunctionId late = two.world.function(1, "late", {.is_compiled = false});
  const ProgramId waits = two.world.chain(1, {.function = late, .slices = {slice}});
  const ArrayId input = two.world.put(1, slice);
  two.submit(1, 1);
  two.world.run(1, waits, {input});
  two.world.said();
  ++two.finished;  // The first run takes as long as all that follows, and the other one waits.
  two.submit(2, 60);
  two.launch(60);

  two.world.compiled(late);
  two.submit(1, 60);
  two.submit(2, 60);
  const std::vector<int> launched = two.launch(20);

  EXPECT_NEAR(launched[0], 10, 1);
  EXPECT_NEAR(launched[1], 10, 1);
}

TEST(Stamps, TheWindowIsSmallerWhileTenantsCompete) {
  TwoTenants two(1, 1, {.limits = {.runs_in_flight_max = 10, .runs_shared_in_flight = 4}});
  two.submit(1, 20);
  two.submit(2, 20);

  two.world.said();

  EXPECT_EQ(two.world.launches.size(), 4u);
}

// ---- Islands --------------------------------------------------------------------------------

/// Two tenants on two islands, and programs on each of these and on both. A window has two places.
struct TwoByTwo {
  struct User {
    ClientId client = 0;
    std::vector<ProgramId> on;  // By island.
    ProgramId both = 0;
    std::vector<ArrayId> inputs;  // By island.
  };

  TwoByTwo()
      : world({.islands = 2, .limits = {.runs_in_flight_max = 2, .runs_shared_in_flight = 2}}) {
    for (const char* name : {"first", "second"}) {
      User user;
      user.client = world.client(name);
      const FunctionId f = world.function(user.client, "f", {.cost_ns = 1'000});
      const SliceId left = world.slice(user.client, 0), right = world.slice(user.client, 1);
      for (const SliceId slice : {left, right}) {
        user.on.push_back(world.chain(user.client, {.function = f, .slices = {slice}}));
        user.inputs.push_back(world.put(user.client, slice));
      }
      user.both = world.chain(user.client, {.function = f, .slices = {left, right}});
      users.push_back(user);
    }
    world.said();
  }
  void run(std::size_t user, IslandId island, int count = 1) {
    const User& of = users[user];
    for (int i = 0; i < count; ++i) world.run(of.client, of.on[island], {of.inputs[island]});
  }
  void run_over_both(std::size_t user) {
    world.run(users[user].client, users[user].both, {users[user].inputs[0]});
  }

  ControllerWorld world;
  std::vector<User> users;
};

TEST(Windows, RunsOfOneTenantDoNotHoldUpAnotherIsland) {
  TwoByTwo two;
  two.run(0, 0, 5);
  two.run(1, 1, 3);
  EXPECT_EQ(two.world.said(), "launch 1@0, launch 2@0, launch 3@1, launch 4@1");

  two.world.finish(3, {1});

  EXPECT_EQ(two.world.said(), "launch 5@1, run 2/1 OK");
}

/// Its places of the two islands come at different times.
TEST(Windows, ARunOnTwoBusyIslandsGetsItsTurn) {
  TwoByTwo two;
  two.run(0, 0, 20);
  two.run(0, 1, 20);
  two.world.said();
  two.run_over_both(1);

  two.world.finish(1, {0});
  EXPECT_EQ(two.world.said(), "launch 5@0, run 1 OK");
  two.world.finish(3, {1});

  EXPECT_EQ(two.world.said(), "launch 6@0, launch 6@1, run 21 OK");
}

/// Island 1 does not move: no place of island 0 is kept for runs that wait for it.
TEST(Windows, ARunThatWaitsForAnIslandHoldsUpNoOther) {
  TwoByTwo two;
  two.run(0, 1, 2);
  EXPECT_EQ(two.world.said(), "launch 1@1, launch 2@1");
  two.run_over_both(0);
  two.run(1, 0, 4);
  EXPECT_EQ(two.world.said(), "launch 3@0, launch 4@0");

  two.world.finish(3, {0});
  two.world.finish(4, {0});

  EXPECT_EQ(two.world.said(), "launch 5@0, launch 6@0, run 2/1 OK, run 2/2 OK");
}

TEST(Windows, WhatATenantHasHadOfOneIslandIsNotHeldAgainstItOnAnother) {
  TwoByTwo two;
  two.run(0, 1, 100);
  for (Stamp stamp = 1; stamp <= 100; ++stamp) {
    two.world.said();
    two.world.finish(stamp, {1});
  }
  two.world.said();
  two.world.launches.clear();

  two.run(0, 0, 10);
  two.run(1, 0, 10);
  for (Stamp stamp = 101; stamp <= 108; ++stamp) {
    two.world.said();
    two.world.finish(stamp, {0});
  }

  const auto is_of_first = [](const auto& launch) { return launch.tenant == 0; };
  EXPECT_EQ(std::ranges::count_if(two.world.launches, is_of_first), 5);
}

// ---- Segments -------------------------------------------------------------------------------

TEST(Stamps, WhatFollowsAnIrregularNodeIsStampedWhenThatHasFinished) {
  OneClient one({}, {.irregular = true});
  const ProgramId chain =
      one.world.chain(one.client, {.function = one.f, .slices = {one.slice, one.slice}});

  const RunIds first = one.world.run(one.client, chain, {one.input});
  one.world.run(one.client, one.program, {first.output});
  EXPECT_EQ(one.world.said(), "launch 1@0");
  one.world.finish(1);
  EXPECT_EQ(one.world.said(), "launch 2@0, launch 3@0");
  one.world.finish(2);

  EXPECT_EQ(one.world.said(), "run 1 OK");
}

TEST(Stamps, SequentialDispatchLaunchesTheNextNodeWhenTheLastIsEnqueued) {
  OneClient one;
  const ProgramId chain = one.world.chain(one.client, {.function = one.f,
                                                       .slices = {one.slice, one.slice, one.slice},
                                                       .dispatch = program::Dispatch::kSequential});

  one.world.run(one.client, chain, {one.input});
  EXPECT_EQ(one.world.said(), "launch 1@0");
  EXPECT_TRUE(one.world.launches[0].acknowledge);
  one.world.core.part_enqueued(1);
  EXPECT_EQ(one.world.said(), "launch 2@0");
  one.world.core.part_enqueued(1);
  EXPECT_EQ(one.world.said(), "");
  one.world.core.part_enqueued(2);

  EXPECT_EQ(one.world.said(), "launch 3@0");
  EXPECT_FALSE(one.world.launches[2].acknowledge);
}

// ---- Donation -------------------------------------------------------------------------------

TEST(Stamps, ALaunchSaysHowManyArraysWereFreedBeforeIt) {
  OneClient one;
  ControllerWorld& world = one.world;

  for (int i = 0; i < 3; ++i) {
    const RunIds run = world.run(one.client, one.program, {one.input});
    world.core.pump();
    world.core.release(one.client, run.output);
  }

  EXPECT_EQ(world.said(),
            "launch 1@0, launch 2@0, launch 3@0, free 1001@0, free 1002@0, free 1003@0");
  for (std::uint32_t i = 0; i < 3; ++i) EXPECT_EQ(world.launches[i].frees_before, i);
}

TEST(Stamps, WhoTakesAnArrayUpWaitsForThoseThatReadItInLaterSegments) {
  OneClient one({}, {.irregular = true});
  ControllerWorld& world = one.world;
  const ProgramId reads =
      world.chain(one.client, {.function = one.f, .slices = {one.slice, one.slice}});
  const ProgramId takes =
      world.chain(one.client, {.function = one.f, .slices = {one.slice}, .donated = true});

  world.run(one.client, reads, {one.input});
  world.run(one.client, takes, {one.input});
  EXPECT_EQ(world.said(), "launch 1@0");
  world.finish(1);

  EXPECT_EQ(world.said(), "launch 2@0, launch 3@0");
}

TEST(Stamps, ADonatedArrayIsNobodysInputAnyMore) {
  OneClient one;
  const ProgramId takes =
      one.world.chain(one.client, {.function = one.f, .slices = {one.slice}, .donated = true});

  one.world.run(one.client, takes, {one.input});
  one.run();

  EXPECT_EQ(one.world.said(),
            "launch 1@0, run 2 INVALID_ARGUMENT: argument 0 of program chain: array 501 was "
            "donated to an earlier run; put or compute it again");
}

}  // namespace
}  // namespace seaway::controller
