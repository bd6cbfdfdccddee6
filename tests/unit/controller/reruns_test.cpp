// Runs that fail of a loss and are run again: which can be, in which order, and how often.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/controller/controller_world.hpp"

namespace seaway::controller {
namespace {

const Status kLoss(StatusCode::kDeviceLost, "device 0 of island 0 is lost: no word");
const std::string kLossText = "DEVICE_LOST: device 0 of island 0 is lost: no word";

/// A slice on device 0 of island 0, which is bound anew to device 1; its arrays stay readable.
struct Again {
  explicit Again(ControllerLimits limits = {}, FunctionOptions function = {})
      : world({.islands = 2, .limits = limits}), options(function) {
    world.binder.next = {0, {1}};
    world.said();
  }

  RunIds run(ProgramId which, ArrayId argument) { return world.run(client, which, {argument}); }
  /// What a host and its scheduler say of a part of which a gang was on a lost device.
  void fail(Stamp stamp, std::vector<IslandId> islands = {0}, const Status& status = kLoss) {
    world.core.part_failed(stamp, status);
    world.finish(stamp, std::move(islands));
  }
  std::string fetch(ArrayId array, std::uint64_t request, bool is_again = false) {
    world.core.fetch(client, array, request, {.again = is_again});
    return world.said();
  }
  std::string names(Stamp stamp) {
    std::string text;
    for (const ArrayId id : world.named[stamp]) text += ControllerWorld::name(id) + " ";
    return text;
  }
  std::vector<std::pair<RunId, std::uint64_t>> reruns() {
    std::vector<std::pair<RunId, std::uint64_t>> found;
    for (const events::Event& event : world.events.ring().snapshot()) {
      if (event.kind == events::EventKind::kRerun) found.emplace_back(event.object, event.value);
    }
    return found;
  }

  ControllerWorld world;
  FunctionOptions options;
  ClientId client = world.client();
  SliceId slice = world.slice(client);
  FunctionId f = world.function(client, "f", options);
  ProgramId program = world.chain(client, {.function = f, .slices = {slice}});
  ProgramId taker = world.chain(client, {.function = f, .slices = {slice}, .donated = true});
  ArrayId input = world.put(client, slice);
};

TEST(Reruns, ARunThatFailedOfALossGetsANewStampAndMakesItsOutputsUnderNewNames) {
  Again one;
  one.run(one.program, one.input);
  EXPECT_EQ(one.world.said(), "launch 1@0");

  one.fail(1);
  EXPECT_EQ(one.world.said(), "launch 2@0, free 1001@0, cancel 1@0");
  one.world.finish(2);

  EXPECT_EQ(one.world.said(), "run 1 OK");
  EXPECT_EQ(one.names(1), "501 1001 ");
  EXPECT_EQ(one.names(2), "501 i1 ");
  EXPECT_EQ(one.fetch(make_id(one.client, 1001), 10), "fetch i1@0");
  const std::vector<std::pair<RunId, std::uint64_t>> expected = {{make_id(one.client, 1), 1}};
  EXPECT_EQ(one.reruns(), expected);
}

TEST(Reruns, ItsRoomIsCountedOnceAndGivenBack) {
  Again one;
  one.world.core.release(one.client, one.run(one.program, one.input).output);
  const std::string before = one.world.kept(one.client);

  one.fail(1);
  EXPECT_EQ(one.world.kept(one.client), before);
  one.world.finish(2);
  one.world.core.release(one.client, one.input);

  EXPECT_EQ(one.world.kept(one.client), "0");
  EXPECT_EQ(one.world.core.array_count(), 0u);
}

TEST(Reruns, AreSoManyAndThenTheLastLossIsTheOutcome) {
  Again one({.reruns_max = 2});
  one.run(one.program, one.input);
  one.world.said();

  one.fail(1);
  one.world.said();
  one.fail(2);
  EXPECT_EQ(one.world.said(), "launch 3@0, free i1@0, cancel 2@0");
  one.fail(3);

  EXPECT_EQ(one.world.said(), "cancel 3@0, run 1 " + kLossText + "; it was tried 3 times");
}

TEST(Reruns, OfNoneAreMadeWhereTheLimitIsNone) {
  Again one({.reruns_max = 0});
  one.run(one.program, one.input);
  one.world.said();

  one.fail(1);

  EXPECT_EQ(one.world.said(), "cancel 1@0, run 1 " + kLossText);
}

TEST(Reruns, OnlyALossIsACause) {
  Again one;
  one.run(one.program, one.input);
  one.run(one.program, one.input);
  one.world.said();
  const Status thrown(StatusCode::kUserFunctionError, "f: division by zero");

  one.fail(1, {0}, thrown);
  one.fail(2, {0}, input_lost("argument 0 of program chain failed: " + thrown.to_string()));

  EXPECT_EQ(one.world.said(),
            "cancel 1@0, cancel 2@0, run 1 USER_FUNCTION_ERROR: f: division by zero, run 2 "
            "INPUT_LOST: argument 0 of program chain failed: USER_FUNCTION_ERROR: f: division by "
            "zero");
}

TEST(Reruns, AFunctionThatIsNotIdempotentIsNotRunAgain) {
  Again one({}, {.idempotent = false});
  one.run(one.program, one.input);
  one.world.said();

  one.fail(1);

  EXPECT_EQ(
      one.world.said(),
      "cancel 1@0, run 1 MAYBE_EXECUTED: function f, which is not idempotent, may have run or "
      "not: device 0 of island 0 is lost: no word; look at what it has an effect on before it "
      "is run again");
}

TEST(Reruns, ARunWaitsInItsPlaceAmongTheOthersOfItsClient) {
  Again one({.runs_in_flight_max = 2});
  for (int i = 0; i < 4; ++i) one.run(one.program, one.input);
  EXPECT_EQ(one.world.said(), "launch 1@0, launch 2@0");

  one.fail(1);
  EXPECT_EQ(one.world.said(), "launch 3@0, free 1001@0, cancel 1@0");

  EXPECT_EQ(one.world.launches[2].run, make_id(one.client, 1));
}

TEST(Reruns, WhatReadsItsOutputsWaitsForItAndIsRunAgainBehindIt) {
  Again one;
  const RunIds first = one.run(one.program, one.input);
  const RunIds second = one.run(one.program, first.output);
  one.world.core.release(one.client, first.output);  // Only its reader keeps it.
  EXPECT_EQ(one.world.said(), "launch 1@0, launch 2@0, free 1001@0");

  one.fail(1);
  EXPECT_EQ(one.world.said(), "launch 3@0, cancel 1@0");
  one.run(one.program, second.output);
  one.fail(2, {0}, input_lost("argument 0 of program chain failed: " + kLoss.to_string()));
  const std::string said = one.world.said();
  one.world.finish(3);
  one.world.finish(4);

  EXPECT_EQ(said, "launch 4@0, launch 5@0, free 1002@0, free i1@0, cancel 2@0");
  EXPECT_EQ(one.names(3), "501 i1 ");
  EXPECT_EQ(one.names(4), "i1 i2 ");
  EXPECT_EQ(one.names(5), "i2 1003 ");
}

TEST(Reruns, AReaderWhoseFailureIsHeardOfBeforeItsCauseIsRunAgainToo) {
  Again one;
  const RunIds first = one.run(one.program, one.input);
  one.run(one.program, first.output);
  one.world.core.release(one.client, first.output);
  one.world.said();
  const Status gone = input_lost("argument 0 of program chain failed: " + kLoss.to_string());

  one.world.core.part_failed(2, gone);
  one.fail(1);
  one.world.finish(2);

  EXPECT_EQ(one.world.said(),
            "launch 3@0, launch 4@0, free 1002@0, free i1@0, cancel 2@0, cancel 1@0");
}

TEST(Reruns, AReaderOfAValueThatWasMadeInTimeSucceedsWithIt) {
  Again one;
  const RunIds first = one.run(one.program, one.input);
  one.run(one.program, first.output);
  one.world.said();

  one.fail(1);
  EXPECT_EQ(one.world.said(), "launch 3@0, free 1001@0, cancel 1@0");
  one.world.finish(2);
  one.world.finish(3);

  EXPECT_EQ(one.world.said(), "run 2 OK, run 1 OK");
}

TEST(Reruns, AnArgumentThatWasFreedOrTakenIsNotThereAnyMore) {
  Again one;
  one.run(one.program, one.input);
  one.run(one.taker, one.world.put(one.client, one.slice));
  one.world.core.release(one.client, one.input);
  one.world.said();

  one.fail(1);
  one.fail(2);

  EXPECT_EQ(one.world.said(),
            "free 502@0, cancel 1@0, cancel 2@0, run 1 " + kLossText + ", run 2 " + kLossText);
}

TEST(Reruns, AnArgumentThatWasTakenIsThereAgainWhenItIsMadeAgain) {
  Again one;
  const RunIds first = one.run(one.program, one.input);
  one.run(one.taker, first.output);
  one.world.said();

  one.fail(1);
  one.fail(2, {0}, input_lost("argument 0 of program chain failed: " + kLoss.to_string()));
  EXPECT_EQ(one.world.said(),
            "launch 3@0, launch 4@0, free 1001@0, free 1002@0, cancel 1@0, cancel 2@0");
  one.world.finish(3);
  one.world.finish(4);

  EXPECT_EQ(one.world.said(), "free i1@0, run 1 OK, run 2 OK");
  EXPECT_EQ(one.names(4), "i1 i2 ");
}

TEST(Reruns, WhoeverTakesAnArrayWaitsForReadersThatMayHaveToReadItAgain) {
  Again one;
  const RunIds first = one.run(one.program, one.input);
  one.run(one.program, first.output);
  one.run(one.taker, first.output);
  EXPECT_EQ(one.world.said(), "launch 1@0, launch 2@0, launch 3@0");
  const Status gone = input_lost("argument 0 of program chain failed: " + kLoss.to_string());

  one.fail(1);
  one.fail(3, {0}, gone);
  EXPECT_EQ(one.world.said(), "launch 4@0, free 1001@0, free 1003@0, cancel 1@0, cancel 3@0");
  one.fail(2, {0}, gone);

  EXPECT_EQ(one.world.said(), "launch 5@0, launch 6@0, free 1002@0, cancel 2@0");
  EXPECT_EQ(one.names(5), "i1 i3 ");
  EXPECT_EQ(one.names(6), "i1 i2 ");
}

TEST(Reruns, AnArgumentThatIsLostItselfEndsThem) {
  Again one;
  one.world.binder.next = {1, {2}};
  one.run(one.program, one.input);
  one.world.said();
  one.world.lose(0, 0);
  one.fail(1);
  EXPECT_EQ(one.world.said(), "launch 2@0, free 1001@0, cancel 1@0, launch 2@1");

  const std::string gone = "array 501 lay on a device that is gone: " + kLossText;
  one.fail(2, {0, 1}, input_lost(gone));

  EXPECT_EQ(one.world.said(),
            "free 501@0, cancel 2@0, free i2@1, cancel 2@1, run 1 INPUT_LOST: " + gone);
}

TEST(Reruns, OnAReleasedSliceThatHasALostDeviceNothingIsRunAgain) {
  Again one;
  one.run(one.program, one.input);
  one.world.said();
  one.world.core.release_slice(one.client, 9, one.slice);
  one.world.lose(0, 0);
  one.world.said();

  one.fail(1);

  EXPECT_EQ(one.world.said(), "cancel 1@0, run 1 " + kLossText);
}

TEST(Reruns, AReleasedSliceThatHasItsDevicesIsKeptForThem) {
  Again one;
  one.run(one.program, one.input);
  one.world.said();
  one.world.core.release_slice(one.client, 9, one.slice);
  one.world.said();

  one.fail(1);
  EXPECT_EQ(one.world.said(), "launch 2@0, free 1001@0, cancel 1@0");
  EXPECT_FALSE(one.world.binder.held.empty());
  one.world.finish(2);
  one.world.said();

  EXPECT_TRUE(one.world.binder.held.empty());
}

TEST(Reruns, AReadThatAHostCouldNotServeWaitsForTheOutcome) {
  Again one;
  const ArrayId output = one.run(one.program, one.input).output;
  one.world.said();
  EXPECT_EQ(one.fetch(output, 10), "fetch 1001@0");

  EXPECT_EQ(one.fetch(output, 10, true), "");  // Ahead of the scheduler's word.
  one.fail(1);
  EXPECT_EQ(one.world.said(), "launch 2@0, free 1001@0, cancel 1@0");
  EXPECT_EQ(one.fetch(output, 11), "");
  one.world.core.release(one.client, output);
  one.world.finish(2);

  EXPECT_EQ(one.world.said(), "fetch i1@0, fetch i1@0, free i1@0, run 1 OK");
}

TEST(Reruns, ACancelTakesARunBackThatWaitsForAnotherStamp) {
  Again one({.runs_in_flight_max = 1});
  one.run(one.program, one.input);
  const RunIds second = one.run(one.program, one.input);
  one.world.said();
  one.fail(1);
  EXPECT_EQ(one.world.said(), "launch 2@0, free 1001@0, cancel 1@0");

  one.world.core.cancel(one.client, second.run);
  one.world.core.cancel(one.client, make_id(one.client, 1));
  one.fail(2);

  EXPECT_EQ(
      one.world.said(),
      "cancel 2@0, run 2 CANCELLED: run 2 was cancelled by its client, run 1 CANCELLED: run 1 "
      "was cancelled by its client");
}

/// Programs on two islands, whose second device has another slice.
struct Wide : Again {
  explicit Wide(program::Dispatch dispatch = program::Dispatch::kParallel) {
    wide = world.chain(client, {.function = f, .slices = {slice, far}, .dispatch = dispatch});
  }

  SliceId far = world.slice(client, 1);
  ProgramId wide = 0;
};

TEST(Reruns, ARunOnTwoIslandsIsRunAgainWhenAllItsPartsAreOver) {
  Wide one;
  one.run(one.wide, one.input);
  EXPECT_EQ(one.world.said(), "launch 1@0, launch 1@1");

  one.fail(1, {0});
  EXPECT_EQ(one.world.said(), "cancel 1@0, free 1001@1, cancel 1@1");
  EXPECT_EQ(one.fetch(make_id(one.client, 1001), 10), "");
  one.world.finish(1, {1});

  EXPECT_EQ(one.world.said(), "launch 2@0, launch 2@1");
}

TEST(Reruns, AnArgumentStaysForARunThatIsToReadItAgain) {
  Wide one;
  one.run(one.wide, one.input);
  one.world.said();
  one.fail(1, {0});
  one.world.said();

  one.world.core.release(one.client, one.input);
  EXPECT_EQ(one.world.said(), "");
  one.world.finish(1, {1});

  EXPECT_EQ(one.world.said(), "launch 2@0, free 501@0, launch 2@1");
}

TEST(Reruns, ACancelEndsARunOfWhichPartsAreNotOver) {
  Wide one;
  const RunIds run = one.run(one.wide, one.input);
  one.world.said();
  one.fail(1, {0});
  one.world.said();

  one.world.core.cancel(one.client, run.run);
  one.world.finish(1, {1});

  EXPECT_EQ(one.world.said(), "run 1 CANCELLED: run 1 was cancelled by its client");
}

TEST(Reruns, ARunOfSeveralSegmentsBeginsAnewWithTheFirst) {
  Again one;
  const ProgramId chain = one.world.chain(one.client, {.function = one.f,
                                                       .slices = {one.slice, one.slice},
                                                       .dispatch = program::Dispatch::kSequential});
  one.run(chain, one.input);
  EXPECT_EQ(one.world.said(), "launch 1@0");
  one.world.core.part_enqueued(1);
  EXPECT_EQ(one.world.said(), "launch 2@0");

  one.world.finish(1);
  one.fail(2);
  EXPECT_EQ(one.world.said(), "launch 3@0, free 1001@0, cancel 2@0");
  one.world.core.part_enqueued(3);
  EXPECT_EQ(one.world.said(), "launch 4@0");
  one.world.finish(3);
  one.world.finish(4);

  EXPECT_EQ(one.world.said(), "run 1 OK");
  EXPECT_EQ(one.names(1) + one.names(2), "501 i1 i1 1001 ");
  EXPECT_EQ(one.names(3) + one.names(4), "501 i3 i3 i2 ");
}

TEST(Reruns, AReaderWithSegmentsToComeCannotGoOn) {
  Again one;
  const ProgramId chain = one.world.chain(one.client, {.function = one.f,
                                                       .slices = {one.slice, one.slice},
                                                       .dispatch = program::Dispatch::kSequential});
  const RunIds first = one.run(one.program, one.input);
  one.run(chain, first.output);
  EXPECT_EQ(one.world.said(), "launch 1@0, launch 2@0");

  one.fail(1);
  EXPECT_EQ(one.world.said(), "launch 3@0, free 1001@0, free 1002@0, cancel 1@0, cancel 2@0");
  one.world.core.part_enqueued(2);
  EXPECT_EQ(one.world.said(), "");
  one.world.finish(2);

  EXPECT_EQ(one.world.said(), "launch 4@0, free i1@0");  // The old one between its segments.
  EXPECT_EQ(one.names(3), "501 i2 ");
  EXPECT_EQ(one.names(4), "i2 i4 ");
}

/// The roles are processes; slices of island 0 are bound anew on island 1.
struct AgainWithMembers {
  struct Joined : ControllerWorld {
    Joined() : ControllerWorld({.islands = 2, .has_members = true}) { join({0, 1}); }
  };
  explicit AgainWithMembers(FunctionOptions function = {}) : options(function) {
    world.binder.next = {1, {0}};
    world.said();
  }

  FunctionOptions options;
  Joined world;
  ClientId client = world.client();
  SliceId left = world.slice(client, 0), right = world.slice(client, 1);
  FunctionId f = world.function(client, "f", options);
  ProgramId wide = world.chain(client, {.function = f, .slices = {right, left}});
  ArrayId input = world.upload(client, right);
};

TEST(Reruns, ARunWhoseHostIsLostIsRunAgainOnAnotherIsland) {
  AgainWithMembers one;
  one.world.run(one.client, one.wide, {one.input});
  EXPECT_EQ(one.world.said(), "launch 1@0, launch 1@1");

  one.world.core.host_lost(0, "no word");
  EXPECT_EQ(one.world.said(), "cancel 1@1, cut 0 to 1@1");
  one.world.finish(1, {1});
  EXPECT_EQ(one.world.said(), "launch 2@1");
  one.world.finish(2, {1});

  EXPECT_EQ(one.world.said(), "run 1 OK");
}

TEST(Reruns, ARunWhoseHostIsLostForGoodFailsOfIt) {
  AgainWithMembers one;
  one.world.binder.is_room = false;
  one.world.run(one.client, one.wide, {one.input});
  one.world.said();
  one.world.core.host_lost(0, "no word");
  one.world.said();

  one.world.finish(1, {1});

  const std::string said = one.world.said();
  EXPECT_EQ(said.find("run 1 HOST_LOST: program chain uses slice 11, but the host of island 0 is "
                      "lost: no word, and no other device can take its place"),
            0u)
      << said;
}

TEST(Reruns, RunsOfHostsThatCouldNotReachEachOtherAreRunAgain) {
  AgainWithMembers one;
  one.world.run(one.client, one.wide, {one.input});
  one.world.said();

  one.world.core.complain_of_peer(0, 1, 1);
  one.world.said();
  one.world.finish(1, {0, 1});

  EXPECT_EQ(one.world.said(), "launch 2@0, launch 2@1");
  EXPECT_EQ(one.world.core.view_of(0).launches.size(), 1u);
}

TEST(Reruns, WhatMayHaveHadAnEffectIsNotHiddenByWhatItReads) {
  AgainWithMembers one({.idempotent = false});
  const FunctionId pure = one.world.function(one.client, "pure");
  const ProgramId maker = one.world.chain(one.client, {.function = pure, .slices = {one.left}});
  const ProgramId reader =
      one.world.chain(one.client, {.function = one.f,
                                   .slices = {one.left, one.left},
                                   .dispatch = program::Dispatch::kSequential});
  const RunIds made = one.world.run(one.client, maker, {one.world.upload(one.client, one.left)});
  one.world.run(one.client, reader, {made.output});
  EXPECT_EQ(one.world.said(), "launch 1@0, launch 2@0");

  one.world.core.host_lost(0, "no word");

  const std::string said = one.world.said();
  EXPECT_NE(said.find("run 2 MAYBE_EXECUTED: function f"), std::string::npos) << said;
  EXPECT_NE(said.find("run 1 INPUT_LOST: "), std::string::npos) << said;  // Its upload is gone.
}

}  // namespace
}  // namespace seaway::controller
