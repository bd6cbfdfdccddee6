// Processes that join and are lost: what ends with them, what goes on, what they are told anew.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "unit/controller/controller_world.hpp"

namespace seaway::controller {
namespace {

/// Two islands whose roles have joined; slices on both, and programs on each and on both. Runs are
/// not run again here: see reruns_test.cpp.
struct Members {
  explicit Members(FunctionOptions function = {}) : options(function) {
    world.binder.next = {1, {0}};
    world.said();
  }

  std::string lose_host(IslandId island) {
    world.core.host_lost(island, "no word");
    return world.said();
  }
  ControllerOutbox::View view(IslandId island) { return world.core.view_of(island); }

  struct Joined : ControllerWorld {
    Joined() : ControllerWorld({.islands = 2, .has_members = true, .limits = {.reruns_max = 0}}) {
      join({0, 1});
    }
  };
  FunctionOptions options;
  Joined world;
  ClientId client = world.client();
  SliceId left = world.slice(client, 0), right = world.slice(client, 1);
  FunctionId f = world.function(client, "f", options);
  ProgramId on_left = world.chain(client, {.function = f, .slices = {left}});
  ProgramId on_right = world.chain(client, {.function = f, .slices = {right}});
  ProgramId on_both = world.chain(client, {.function = f, .slices = {left, right}});
  ArrayId input = world.upload(client, left);
  ArrayId far_input = world.upload(client, right);
};

const std::string kLost = "HOST_LOST: the host of island 0 is lost: no word";

TEST(Members, AHostThatJoinsIsToldAllDefinitionsAndCompilesThemBeforeRunsAreStamped) {
  Members some;
  some.world.run(some.client, some.on_right, {some.far_input});
  some.world.said();
  some.world.binder.is_room = false;
  some.lose_host(0);
  some.world.definitions.clear();
  const std::size_t plans = some.world.plans;

  some.world.core.host_joined(0, 2);
  EXPECT_EQ(some.world.said(), "view@0");
  const ArrayId fresh = some.world.upload(some.client, some.left);
  some.world.run(some.client, some.on_left, {fresh});
  EXPECT_EQ(some.world.said(), "");  // It is being compiled there.
  some.world.core.compiled(some.f, 0, {}, 0, 1000);

  EXPECT_EQ(some.world.said(), "launch 2@0");
  EXPECT_EQ(some.world.definitions[0], 4u);  // One function, two specs; and one that is new.
  EXPECT_EQ(some.world.plans, plans + 1);
}

/// The slice keeps its binding because a run is in flight on island 1.
TEST(Members, RestartedHostReceivesPlansAfterCompilation) {
  std::vector<std::function<void()>> lowered;
  ControllerOptions options = {.islands = 2, .has_members = true, .limits = {.reruns_max = 0}};
  options.offload.nodes_min = 0;
  options.offload.offload = [&lowered](const auto& work, auto then) {
    work();
    lowered.push_back(std::move(then));
  };
  ControllerWorld world(options);
  world.binder.is_room = false;
  world.join({0, 1});
  const ClientId client = world.client();
  const SliceId left = world.slice(client, 0), right = world.slice(client, 1);
  const FunctionId f = world.function(client, "f");
  const ProgramId on_both = world.chain(client, {.function = f, .slices = {left, right}});
  const ProgramId on_left = world.chain(client, {.function = f, .slices = {left}});
  const ArrayId input = world.upload(client, left);
  world.run(client, on_both, {input});
  world.said();
  lowered.at(0)();
  EXPECT_EQ(world.said(), "launch 1@0, launch 1@1");
  world.run(client, on_left, {input});
  world.said();
  ASSERT_EQ(lowered.size(), 2u);
  world.core.host_lost(0, "no word");
  world.core.host_joined(0, 2);
  world.said();
  const std::size_t plans = world.plans;

  lowered[1]();
  world.said();
  EXPECT_EQ(world.plans, plans);
  world.finish(1, {1});
  world.compiled(f);
  world.run(client, on_left, {world.upload(client, left)});
  world.said();
  lowered.at(2)();

  EXPECT_TRUE(world.said().starts_with("launch 2@0, run 2 INPUT_LOST")) << world.said();
  EXPECT_EQ(world.plans, plans + 1);
}

TEST(Members, AJoinThatIsSaidAgainMeansNothing) {
  Members some;
  some.world.run(some.client, some.on_left, {some.input});
  some.world.said();

  some.world.join({0});

  EXPECT_EQ(some.world.said(), "");
}

TEST(Members, AHostThatJoinsAgainHasLostItsLifeBefore) {
  Members some;
  some.world.run(some.client, some.on_left, {some.input});
  some.world.said();

  some.world.core.host_joined(0, 2);

  EXPECT_EQ(some.world.said(),
            "view@0, cut 0 to 1@1, "
            "run 1 HOST_LOST: the host of island 0 is lost: it has begun a new life");
}

TEST(Members, WhatWasInFlightOnALostHostEndsAndOtherIslandsGoOn) {
  Members some;
  some.world.run(some.client, some.on_left, {some.input});
  some.world.run(some.client, some.on_right, {some.far_input});
  some.world.said();

  EXPECT_EQ(some.lose_host(0), "cut 0 to 2@1, run 1 " + kLost);
  some.world.finish(2, {1});

  EXPECT_EQ(some.world.said(), "run 2 OK");
}

TEST(Members, ARunOnTwoIslandsIsCancelledOnTheOtherAndEndsOnceThatIsOver) {
  Members some;
  some.world.run(some.client, some.on_both, {some.input});
  EXPECT_EQ(some.world.said(), "launch 1@0, launch 1@1");

  EXPECT_EQ(some.lose_host(0), "cancel 1@1, cut 0 to 1@1");
  some.world.finish(1, {0});  // Said before the host was lost, and heard behind.
  EXPECT_EQ(some.world.said(), "");
  some.world.finish(1, {1});
  EXPECT_EQ(some.world.said(), "run 1 " + kLost);
  some.world.finish(1, {0, 1});

  EXPECT_EQ(some.world.said(), "");
}

TEST(Members, APartThatWasOverBeforeItsHostWasLostIsNotLost) {
  Members some;
  some.world.run(some.client, some.on_both, {some.input});
  some.world.said();
  some.world.finish(1, {0});

  EXPECT_EQ(some.lose_host(0), "cut 0 to 1@1");
  some.world.finish(1, {1});

  EXPECT_EQ(some.world.said(), "run 1 OK");
}

TEST(Members, ArraysOfALostHostFailWithItsLossAndSoDoRunsThatReadThem) {
  Members some;
  const std::string gone = "INPUT_LOST: array 501 lay on island 0: " + kLost;
  some.lose_host(0);
  some.world.join({0}, 2);
  some.world.compiled(some.f);

  some.world.run(some.client, some.on_left, {some.input});
  some.world.core.fetch(some.client, some.input, 10);

  EXPECT_EQ(some.world.said(), "view@0, run 1 " + gone + ", answer 10 " + gone);
  some.world.core.release(some.client, some.input);
  EXPECT_EQ(some.world.said(), "");  // Nobody there knows it.
  some.world.run(some.client, some.on_right, {some.far_input});
  EXPECT_EQ(some.world.said(), "launch 1@1");
}

TEST(Members, ReadsThatWerePassedOnToALostHostFailUnlessTheyWereAnswered) {
  Members some;
  some.world.core.fetch(some.client, some.input, 10);
  some.world.core.fetch(some.client, some.input, 11);
  some.world.core.fetch(some.client, some.far_input, 12);
  EXPECT_EQ(some.world.said(), "fetch 501@0, fetch 501@0, fetch 502@1");

  some.world.core.fetched(some.client, 10);

  EXPECT_EQ(some.lose_host(0), "cut 0 to 0@1, answer 11 " + kLost);
}

TEST(Members, WhatWasNotSaidYetToALostHostIsNeverSaid) {
  Members some;
  some.world.run(some.client, some.on_left, {some.input});
  some.world.core.pump();
  some.world.core.fetch(some.client, some.input, 10);
  some.world.definitions.clear();
  some.world.function(some.client, "g", {.is_compiled = false});

  EXPECT_EQ(some.lose_host(0), "cut 0 to 1@1, run 1 " + kLost + ", answer 10 " + kLost);

  EXPECT_EQ(some.world.definitions[0], 0u);
  EXPECT_EQ(some.world.definitions[1], 1u);
}

TEST(Members, FunctionsDoNotWaitForALostHost) {
  Members some;
  const FunctionId g = some.world.function(some.client, "g", {.is_compiled = false});
  const ProgramId program = some.world.chain(some.client, {.function = g, .slices = {some.right}});
  some.world.core.compiled(g, 1, {}, 0, 1000);
  some.world.run(some.client, program, {some.far_input});
  EXPECT_EQ(some.world.said(), "");

  EXPECT_EQ(some.lose_host(0), "launch 1@1, cut 0 to 0@1");
}

TEST(Members, ASliceOfALostHostMovesToAnotherIsland) {
  Members some;
  some.lose_host(0);

  some.world.run(some.client, some.on_left, {some.world.upload(some.client, some.left)});

  EXPECT_EQ(some.world.said(), "launch 1@1");
  EXPECT_EQ(some.world.binder.held.at(some.left).island, 1u);
}

TEST(Members, WithoutAnotherIslandRunsFailUntilTheHostHasComeBack) {
  Members some;
  some.world.binder.is_room = false;
  some.lose_host(0);

  some.world.run(some.client, some.on_left, {some.input});
  const ArrayId refused = some.world.put(some.client, some.left);
  const std::string said = some.world.said();
  EXPECT_NE(said.find("run 1 HOST_LOST: program chain uses slice 11, but the host of island 0"),
            std::string::npos)
      << said;
  EXPECT_NE(said.find("put 503 HOST_LOST: array 503 is put where the host of island 0 is lost"),
            std::string::npos)
      << said;
  some.world.core.release(some.client, refused);
  some.world.join({0}, 2);
  some.world.compiled(some.f);
  some.world.run(some.client, some.on_left, {some.world.upload(some.client, some.left)});

  EXPECT_EQ(some.world.said(), "launch 1@0, view@0");
  some.world.finish(1);
  EXPECT_EQ(some.world.said(), "run 2 OK");
}

TEST(Members, ARunOnAReleasedSliceOfALostHostFailsAtOnce) {
  Members some;
  const FunctionId g = some.world.function(some.client, "g", {.is_compiled = false});
  const ProgramId program =
      some.world.chain(some.client, {.function = g, .slices = {some.right, some.left}});
  some.world.run(some.client, program, {some.far_input});
  some.world.core.release_slice(some.client, 9, some.left);
  some.world.said();
  some.lose_host(0);

  some.world.core.compiled(g, 1, {}, 0, 1000);

  const std::string said = some.world.said();
  EXPECT_EQ(said.find("run 1 HOST_LOST: program chain uses slice 11, but the host of island 0"), 0u)
      << said;
  EXPECT_FALSE(some.world.binder.held.contains(some.left));
}

TEST(Members, ProgramsKeepTheirPlansUntilWhatIsInFlightElsewhereIsOver) {
  Members some;
  some.world.run(some.client, some.on_both, {some.input});
  some.world.said();
  some.lose_host(0);
  some.world.join({0}, 2);
  some.world.compiled(some.f);
  some.world.said();

  some.world.run(some.client, some.on_both, {some.world.upload(some.client, some.left)});
  EXPECT_EQ(some.world.said(), "");
  some.world.finish(1, {1});

  EXPECT_EQ(some.world.said(), "launch 2@0, launch 2@1, run 1 " + kLost);
}

TEST(Members, AFunctionWithEffectsMayHaveRunOnALostHost) {
  Members some({.idempotent = false});
  some.world.run(some.client, some.on_left, {some.input});
  some.world.said();

  EXPECT_EQ(some.lose_host(0),
            "cut 0 to 1@1, run 1 MAYBE_EXECUTED: function f, which is not idempotent, may have run "
            "or not: the host of island 0 is lost: no word; look at what it has an effect on "
            "before it is run again");
}

TEST(Members, WithoutItsSchedulerAnIslandGoesOnAndTheNextOneIsToldWhatIsUnfinished) {
  Members some;
  const RunIds first = some.world.run(some.client, some.on_left, {some.input});
  some.world.run(some.client, some.on_both, {first.output});
  some.world.run(some.client, some.on_right, {some.far_input});
  some.world.said();

  some.world.core.scheduler_lost(0);
  EXPECT_EQ(some.world.said(), "");
  some.world.core.cancel(some.client, make_id(some.client, 2));
  some.world.run(some.client, some.on_left, {some.input});
  some.world.said();
  some.world.core.scheduler_joined(0, 2);

  EXPECT_EQ(some.world.said(), "view@0");
  const ControllerOutbox::View view = some.view(0);
  ASSERT_EQ(view.launches.size(), 3u);
  std::string told;
  for (const auto& launch : view.launches) {
    told +=
        std::to_string(launch.stamp) + ": " + ControllerWorld::name(view.ids[launch.begin]) + " ";
  }
  EXPECT_EQ(told, "1: 501 2: 1001 4: 501 ");
  std::string named;
  for (const ArrayId array : view.named) named += ControllerWorld::name(array) + " ";
  EXPECT_EQ(named, "501 1001 1004 ");
  EXPECT_EQ(view.plans.size(), 2u);
  ASSERT_EQ(view.cancels.size(), 1u);
  EXPECT_EQ(view.cancels[0].stamp, 2u);
  some.world.finish(1);
  EXPECT_EQ(some.world.said(), "run 1 OK");
}

TEST(Members, AViewLeavesOutWhatIsOverFreedOrTaken) {
  Members some;
  const ProgramId taker =
      some.world.chain(some.client, {.function = some.f, .slices = {some.left}, .donated = true});
  some.world.run(some.client, some.on_left, {some.input});
  some.world.run(some.client, taker, {some.world.upload(some.client, some.left)});
  some.world.said();
  some.world.finish(1);
  some.world.core.release(some.client, make_id(some.client, 1001));
  some.world.said();

  const ControllerOutbox::View view = some.view(0);

  ASSERT_EQ(view.launches.size(), 1u);
  EXPECT_EQ(view.launches[0].stamp, 2u);
  std::string named;
  for (const ArrayId array : view.named) named += ControllerWorld::name(array) + " ";
  EXPECT_EQ(named, "501 1002 ");
}

TEST(Members, AViewTellsOfWhatIsOverThereAndNotElsewhereAsLongAsItsHostLives) {
  Members some;
  some.world.run(some.client, some.on_both, {some.input});
  some.world.said();
  some.world.finish(1, {0});

  const std::size_t over = some.view(0).launches.size();
  some.lose_host(0);
  some.world.core.host_joined(0, 2);
  some.world.said();

  EXPECT_EQ(over, 1u);
  EXPECT_EQ(some.view(0).launches.size(), 0u);
}

TEST(Members, ALostSchedulerAnswersNoQuestions) {
  Members some;
  some.world.run(some.client, some.on_left, {some.input});
  some.world.said();
  some.world.core.why(some.client, 9, make_id(some.client, 1));
  some.world.said();

  some.world.core.scheduler_lost(0);

  EXPECT_EQ(some.world.said(),
            "reply 9 OK run 1 of program chain has stamp 1\n"
            "a scheduler or host that would know more is lost\n");
}

TEST(Members, SchedulerAndHostThatLostEachOthersWordsBeginANewView) {
  Members some;
  const std::uint32_t before = some.view(0).number;

  some.world.core.complain_of_pair(0);
  EXPECT_EQ(some.world.said(), "view@0");
  EXPECT_EQ(some.view(0).number, before + 1);
  some.world.core.scheduler_lost(0);
  some.world.core.complain_of_pair(0);

  EXPECT_EQ(some.world.said(), "");
}

TEST(Members, RunsOfTwoHostsThatCannotReachEachOtherFailAndNoOthers) {
  Members some;
  some.world.run(some.client, some.on_left, {some.input});
  some.world.run(some.client, some.on_both, {some.input});
  some.world.run(some.client, some.on_right, {some.far_input});
  some.world.said();

  some.world.core.complain_of_peer(0, 1, 7);  // Of a life that is over.
  EXPECT_EQ(some.world.said(), "");
  some.world.core.complain_of_peer(0, 1, 1);
  EXPECT_EQ(some.world.said(), "cancel 2@0, cut 1 to 3@0, cancel 2@1, cut 0 to 3@1");
  some.world.finish(1);
  some.world.finish(2, {0, 1});
  some.world.finish(3, {1});

  EXPECT_EQ(some.world.said(),
            "run 1 OK, run 2 HOST_LOST: the hosts of islands 0 and 1 could not reach each other, "
            "run 3 OK");
}

TEST(Members, AComplaintNamesTheLifeOfThePeerAndNotOfWhoComplains) {
  Members some;
  some.world.binder.is_room = false;
  some.lose_host(0);
  some.world.core.host_joined(0, 2);
  some.world.compiled(some.f);
  some.world.said();

  some.world.core.complain_of_peer(0, 1, 2);  // Of no life that host 1 has had.
  EXPECT_EQ(some.world.said(), "");
  some.world.core.complain_of_peer(0, 1, 1);

  EXPECT_NE(some.world.said().find("cut 1 to "), std::string::npos);
}

TEST(Members, ALostClientIsCancelledAndWaitsForNothing) {
  Members some;
  some.world.run(some.client, some.on_left, {some.input});
  some.world.core.fetch(some.client, some.input, 10);
  some.world.said();

  some.world.core.client_lost(some.client);
  some.world.core.pump();
  const auto cancels = some.world.core.outbox().islands[0].cancels;
  EXPECT_EQ(some.world.said(), "free 501@0, free 1001@0, cancel 1@0, free 502@1");
  some.world.finish(1);
  some.world.said();

  // It may live, and hear of it from the host before it finds out by itself.
  ASSERT_EQ(cancels.size(), 1u);
  EXPECT_EQ(cancels[0].status.to_string(),
            "CONTROLLER_RESTARTED: client 1 and its controller lost each other, and what it had is "
            "gone; connect again");
  EXPECT_EQ(some.world.core.client_count(), 0u);
  EXPECT_EQ(some.lose_host(0), "cut 0 to 1@1");
}

TEST(Uploads, OfWhichTheBytesHaveNotArrivedHoldBackTheRunsThatReadThem) {
  Members some;
  const ArrayId coming = some.world.put(some.client, some.left);
  some.world.run(some.client, some.on_left, {coming});
  EXPECT_EQ(some.world.said(), "");

  some.world.core.arrived(coming);

  EXPECT_EQ(some.world.said(), "launch 1@0");
}

TEST(Uploads, ThatAreOnTheirWayFailWithTheirHost) {
  Members some;
  const ArrayId coming = some.world.put(some.client, some.left);
  some.world.run(some.client, some.on_left, {coming});
  some.world.said();
  const std::string gone = "INPUT_LOST: array 503 lay on island 0: " + kLost;

  EXPECT_EQ(some.lose_host(0), "cut 0 to 0@1, put 503 " + gone + ", run 1 " + gone);
  some.world.core.arrived(coming);

  EXPECT_EQ(some.world.said(), "");
}

TEST(Uploads, FailWhereTheirClientAndTheirHostCannotReachEachOther) {
  Members some;
  some.world.put(some.client, some.left);
  const ArrayId far = some.world.put(some.client, some.right);
  some.world.core.fetch(some.client, some.input, 10);
  some.world.said();
  const std::string lost =
      "HOST_LOST: client 1 and the host of island 0 could not reach each other; try again";

  some.world.core.complain_of_reader(some.client, 0);
  EXPECT_EQ(some.world.said(), "put 503 " + lost + ", answer 10 " + lost);
  some.world.core.arrived(far);
  some.world.core.complain_of_reader(some.client, 0);

  EXPECT_EQ(some.world.said(), "");
}

TEST(Uploads, FailWhenTheirTimeIsUpAndSoDoReadsOfThem) {
  Members some;
  const ArrayId coming = some.world.put(some.client, some.left);
  some.world.core.fetch(some.client, some.input, 10);
  some.world.core.fetch(some.client, coming, 11);
  some.world.said();

  some.world.core.cancel(some.client, coming);

  const std::string late =
      "DEADLINE_EXCEEDED: array 503 had not arrived at the host of island 0 when its time was up";
  EXPECT_EQ(some.world.said(), "put 503 " + late + ", answer 11 " + late);
}

TEST(Uploads, AreWaitedForBeforeTheirSliceIsBoundAnew) {
  Members some;
  const ArrayId coming = some.world.put(some.client, some.left);
  some.world.said();
  some.world.core.rebind_slice(some.client, 9, some.left);
  EXPECT_EQ(some.world.said(), "");

  some.world.core.arrived(coming);

  EXPECT_EQ(some.world.said(), "launch 1@0, launch 2@0, launch 1@1, launch 2@1");
}

TEST(Members, AViewNamesAnArrayThatHasArrivedWhileItsMoveGoesOnElsewhere) {
  Members some;
  some.world.core.rebind_slice(some.client, 9, some.left);
  some.world.said();

  some.world.finish(1, {1});

  const std::vector<ArrayId> named = some.view(1).named;
  const auto is_copy = [](ArrayId id) { return ControllerWorld::name(id) == "i1"; };
  EXPECT_EQ(std::ranges::count_if(named, is_copy), 1);
}

TEST(Views, OfTwoLivesOfAControllerHaveNumbersOfTheirOwn) {
  ControllerWorld first({.islands = 1, .has_members = true, .life = 1});
  ControllerWorld second({.islands = 1, .has_members = true, .life = 2});
  for (std::uint32_t epoch = 1; epoch < 100; ++epoch) first.join({0}, epoch);
  second.join({0});

  EXPECT_LT(first.core.view_of(0).number, second.core.view_of(0).number);
}

TEST(Members, ASliceThatMovesAwayIsNotUsedWhereAHostHasComeBack) {
  Members some;
  some.world.lose(0, 0);  // Nobody has asked for the move: nothing but it holds back runs.
  EXPECT_EQ(some.world.said(), "launch 1@0, launch 1@1");
  some.lose_host(0);

  some.world.join({0}, 2);
  some.world.compiled(some.f);
  some.world.run(some.client, some.on_left, {some.world.upload(some.client, some.left)});
  EXPECT_EQ(some.world.said().find("launch"), std::string::npos);
  some.world.finish(1, {1});

  EXPECT_NE(some.world.said().find("launch 2@1"), std::string::npos);
}

TEST(Members, AnArrayThatIsLostWhileItMovesFailsOnce) {
  Members some;
  some.world.core.rebind_slice(some.client, 9, some.left);
  EXPECT_EQ(some.world.said(), "launch 1@0, launch 1@1");

  EXPECT_EQ(some.lose_host(0), "cancel 1@1, cut 0 to 1@1");
  some.world.finish(1, {1});

  EXPECT_EQ(some.world.said(), "free i1@1, reply 9 OK 1 0");
  some.world.core.fetch(some.client, some.input, 10);
  const std::string said = some.world.said();
  EXPECT_NE(said.find("answer 10 INPUT_LOST: "), std::string::npos) << said;
}

}  // namespace
}  // namespace seaway::controller
