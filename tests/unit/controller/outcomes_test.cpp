// How runs end: one outcome each (CO-2), poison of whole runs, cancels, compile errors, refusals.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "unit/controller/controller_world.hpp"

namespace seaway::controller {
namespace {

/// A client with a slice on each of two islands, a program on the first and one over both.
struct TwoIslands {
  explicit TwoIslands(ControllerOptions options = {.islands = 2}) : world(options) {}

  RunIds run_near() { return world.run(client, near, {input}); }
  RunIds run_over_both() { return world.run(client, both, {input}); }

  ControllerWorld world;
  ClientId client = world.client();
  SliceId left = world.slice(client, 0), right = world.slice(client, 1);
  FunctionId f = world.function(client, "f");
  ProgramId near = world.chain(client, {.function = f, .slices = {left}});
  ProgramId both = world.chain(client, {.function = f, .slices = {left, right}});
  ArrayId input = world.put(client, left);
};

TEST(Outcomes, ARunEndsWhenAllItsPartsHaveFinishedInAnyOrder) {
  for (const std::vector<IslandId>& order : {std::vector<IslandId>{0, 1}, {1, 0}}) {
    TwoIslands two;
    two.run_over_both();
    EXPECT_EQ(two.world.said(), "launch 1@0, launch 1@1");

    two.world.finish(1, {order[0]});
    EXPECT_EQ(two.world.said(), "");
    two.world.finish(1, {order[1]});

    EXPECT_EQ(two.world.said(), "run 1 OK");
    EXPECT_EQ(two.world.core.runs_unfinished(), 0u);
  }
}

TEST(Outcomes, AFailureOfOnePartIsTheOutcomeOfTheWholeRun) {
  TwoIslands two;
  const RunIds run = two.run_over_both();
  two.world.said();

  two.world.core.part_failed(1, user_function_error("broken"));
  EXPECT_EQ(two.world.said(), "cancel 1@0, cancel 1@1");
  two.world.core.part_failed(1, input_lost("an echo"));
  two.world.finish(1, {1, 0});

  EXPECT_EQ(two.world.said(), "run 1 USER_FUNCTION_ERROR: broken");
  two.world.core.fetch(two.client, run.output, 9);
  EXPECT_EQ(two.world.said(), "answer 9 USER_FUNCTION_ERROR: broken");
}

TEST(Outcomes, OnlyIslandsWithAPartMaySpeakOfARun) {
  TwoIslands two;
  two.run_near();
  two.world.said();

  EXPECT_TRUE(two.world.core.has_part(1, 0));
  EXPECT_FALSE(two.world.core.has_part(1, 1));
  EXPECT_FALSE(two.world.core.has_part(2, 0));
}

TEST(Outcomes, WordsAboutARunThatHasItsOutcomeChangeNothing) {
  TwoIslands two;
  two.run_near();
  two.world.said();
  two.world.finish(1);
  EXPECT_EQ(two.world.said(), "run 1 OK");

  two.world.core.part_failed(1, user_function_error("late"));
  two.world.core.part_finished(1, 0);
  two.world.core.part_enqueued(1);
  two.world.core.cancel(two.client, make_id(two.client, 1));

  EXPECT_EQ(two.world.said(), "");
}

TEST(Outcomes, WhatReadsALostArrayIsLostWithTheSameRoot) {
  TwoIslands two;
  const RunIds first = two.run_near();
  two.world.said();
  two.world.core.part_failed(1, user_function_error("broken"));
  two.world.finish(1);

  const RunIds second = two.world.run(two.client, two.near, {first.output});
  two.world.run(two.client, two.near, {second.output});
  two.run_near();

  const std::string lost =
      "INPUT_LOST: argument 0 of program chain failed: USER_FUNCTION_ERROR: broken";
  EXPECT_EQ(two.world.said(), "launch 2@0, cancel 1@0, run 1 USER_FUNCTION_ERROR: broken, run 2 " +
                                  lost + ", run 3 " + lost);
}

TEST(Outcomes, ACompileErrorIsTheOutcomeOfTheRunsThatUseTheFunctionAndOfNoOthers) {
  TwoIslands two;
  const FunctionId bad = two.world.function(two.client, "bad", {.is_compiled = false});
  const ProgramId uses = two.world.chain(two.client, {.function = bad, .slices = {two.left}});
  const RunIds run = two.world.run(two.client, uses, {two.input});
  two.world.core.fetch(two.client, run.output, 9);
  const RunIds next = two.world.run(two.client, two.near, {run.output});
  two.run_near();
  EXPECT_EQ(two.world.said(), "launch 1@0");

  two.world.core.compiled(bad, 0, {}, 0, 1000);
  EXPECT_EQ(two.world.said(), "");
  two.world.core.compiled(bad, 1, invalid_argument("no such axis"), 0, 0);

  const std::string error =
      "INVALID_ARGUMENT: function bad does not compile on host 1: no such axis";
  EXPECT_EQ(two.world.said(), "run 1 " + error + ", run 2 INPUT_LOST: argument 0 of program " +
                                  "chain failed: " + error + ", answer 9 " + error);
  two.world.core.fetch(two.client, next.output, 10);
  two.world.run(two.client, uses, {two.input});
  two.world.finish(1);
  EXPECT_EQ(two.world.said(), "run 3 OK, run 4 " + error + ", answer 10 INPUT_LOST: argument 0 " +
                                  "of program chain failed: " + error);
}

TEST(Outcomes, AnUnknownFunctionIsNamedWithTheLineOfItsCall) {
  TwoIslands two;
  const FunctionId unknown = make_id(two.client, 99);
  const ProgramId uses = two.world.chain(two.client, {.function = unknown, .slices = {two.left}});

  two.world.run(two.client, uses, {two.input});

  EXPECT_EQ(two.world.said(), "run 1 INVALID_ARGUMENT: program chain calls function " +
                                  std::to_string(unknown) + " at test.cpp:1, which is not defined");
}

TEST(Outcomes, WrongArgumentsAreRefusedByName) {
  TwoIslands two;
  const ClientId other = two.world.client("other");
  const ArrayId foreign = two.world.put(other, two.world.slice(other, 0));
  const ArrayId elsewhere = two.world.put(two.client, two.right);

  two.world.run(two.client, make_id(two.client, 99), {});
  two.world.run(other, two.near, {});
  two.world.run(two.client, two.near, {});
  two.world.run(two.client, two.near, {foreign});
  two.world.run(two.client, two.near, {make_id(two.client, 77)});
  two.world.run(two.client, two.near, {elsewhere});

  const std::string said = two.world.said();
  for (const char* refusal :
       {" is not one of this client's", "program chain takes 1 arguments, not 0",
        "argument 0 of program chain: array 501 does not exist",
        "argument 0 of program chain: array 77 does not exist", "reshard it first"}) {
    EXPECT_NE(said.find(refusal), std::string::npos) << refusal << "\n" << said;
  }
  EXPECT_EQ(std::count(said.begin(), said.end(), '_'), 6) << said;  // Of INVALID_ARGUMENT.
  EXPECT_TRUE(two.world.launches.empty());
}

TEST(Outcomes, WhatALostActorWasToMakeIsLostAndNotWrong) {
  TwoIslands two;
  const ArrayId never = make_id(two.client, kDelegateSequences + 3);

  two.world.run(two.client, two.near, {never});
  two.world.core.fetch(two.client, never, 9);

  const std::string why = "array " + std::to_string(kDelegateSequences + 3) +
                          " is lost: the session of the actors on its host ended before it had "
                          "said how the array is made; make it again";
  EXPECT_EQ(two.world.said(), "run 1 INPUT_LOST: argument 0 of program chain: " + why +
                                  ", answer 9 INPUT_LOST: " + why);
}

TEST(Outcomes, AProgramThatCanNeverFitIsRefusedWithNumbers) {
  TwoIslands two({.islands = 2, .device_bytes = 127});

  two.run_near();

  EXPECT_EQ(two.world.said(),
            "run 1 RESOURCE_EXHAUSTED: program chain needs 128 bytes at once on device 0 of island "
            "0, which has 127; shard it over more devices, split it into smaller programs, donate "
            "its arguments, or raise device_memory");
}

// ---- Cancel ---------------------------------------------------------------------------------

TEST(Outcomes, ARunThatHasNoStampIsCancelledAtOnce) {
  TwoIslands two({.islands = 2, .limits = {.runs_in_flight_max = 1}});
  two.run_near();
  const RunIds queued = two.run_near();
  two.world.said();

  two.world.core.cancel(two.client, queued.run);
  two.world.core.cancel(two.client, queued.run);

  EXPECT_EQ(two.world.said(), "run 2 CANCELLED: run 2 was cancelled by its client");
  two.world.finish(1);
  EXPECT_EQ(two.world.said(), "run 1 OK");
}

TEST(Outcomes, AStampedRunIsCancelledOnAllItsIslandsAndEndsWithThem) {
  TwoIslands two;
  const RunIds run = two.run_over_both();
  two.world.said();

  two.world.core.cancel(two.client, run.run);
  two.world.core.cancel(two.client, run.run);
  EXPECT_EQ(two.world.said(), "cancel 1@0, cancel 1@1");
  two.world.finish(1, {0, 1});

  EXPECT_EQ(two.world.said(), "run 1 CANCELLED: run 1 was cancelled by its client");
}

TEST(Outcomes, ACancelBetweenSegmentsLaunchesNoMore) {
  ControllerWorld world;
  const ClientId client = world.client();
  const SliceId slice = world.slice(client);
  const FunctionId f = world.function(client, "f", {.irregular = true});
  const ProgramId chain = world.chain(client, {.function = f, .slices = {slice, slice, slice}});
  const RunIds run = world.run(client, chain, {world.put(client, slice)});
  world.said();
  world.finish(1);
  EXPECT_EQ(world.said(), "launch 2@0");

  world.core.cancel(client, run.run);
  EXPECT_EQ(world.said(), "cancel 2@0");
  world.finish(2);

  EXPECT_EQ(world.said(), "free i2@0, run 1 CANCELLED: run 1 was cancelled by its client");
  EXPECT_EQ(world.kept(client), "128");  // The input, and the room of the output until its handle.
  world.core.release(client, run.output);
  EXPECT_EQ(world.kept(client), "64");
}

TEST(Outcomes, OnlyItsOwnClientCancelsARun) {
  TwoIslands two;
  const ClientId other = two.world.client("other");
  const RunIds run = two.run_near();
  two.world.said();

  two.world.core.cancel(other, run.run);

  EXPECT_EQ(two.world.said(), "");
}

// ---- Reads ----------------------------------------------------------------------------------

TEST(Outcomes, AReadOfARunOnOneIslandGoesAlongWithIt) {
  TwoIslands two({.islands = 2, .limits = {.runs_in_flight_max = 1}});
  two.run_near();
  const RunIds queued = two.run_near();
  two.world.core.fetch(two.client, queued.output, 9);
  EXPECT_EQ(two.world.said(), "launch 1@0");

  two.world.finish(1);
  EXPECT_EQ(two.world.said(), "launch 2@0, fetch 1002@0, run 1 OK");
  two.world.core.fetch(two.client, queued.output, 10);

  EXPECT_EQ(two.world.said(), "fetch 1002@0");
}

TEST(Outcomes, AReadOfARunOverIslandsWaitsForItsOutcome) {
  TwoIslands two;
  const RunIds run = two.run_over_both();
  two.world.core.fetch(two.client, run.output, 9);
  EXPECT_EQ(two.world.said(), "launch 1@0, launch 1@1");
  two.world.finish(1, {1});
  EXPECT_EQ(two.world.said(), "");

  two.world.finish(1, {0});

  EXPECT_EQ(two.world.said(), "fetch 1001@1, run 1 OK");
}

TEST(Outcomes, AReadOfWhatIsNotThereIsRefused) {
  TwoIslands two;
  const ClientId other = two.world.client("other");
  two.world.core.release(two.client, two.input);
  EXPECT_EQ(two.world.said(), "free 501@0");

  two.world.core.fetch(two.client, two.input, 9);
  const ArrayId mine = two.world.put(two.client, two.left);
  two.world.core.fetch(other, mine, 10);

  EXPECT_EQ(two.world.said(),
            "answer 9 INVALID_ARGUMENT: array 501 does not exist, "
            "answer 10 INVALID_ARGUMENT: array 502 does not exist");
}

TEST(Outcomes, ADrainIsAnsweredBehindTheLastOutcome) {
  TwoIslands two;
  two.run_near();
  two.run_near();
  two.world.core.drain(two.client, 9);
  EXPECT_EQ(two.world.said(), "launch 1@0, launch 2@0");

  two.world.finish(2);
  EXPECT_EQ(two.world.said(), "run 2 OK");
  two.world.finish(1);

  EXPECT_EQ(two.world.said(), "run 1 OK, reply 9 OK");
}

// ---- Arrays and quotas ----------------------------------------------------------------------

TEST(Outcomes, AnArrayIsFreedOnceWhenNeitherHandlesNorRunsNeedIt) {
  TwoIslands two;
  const RunIds run = two.run_near();
  two.world.said();

  two.world.core.release(two.client, two.input);
  two.world.core.release(two.client, two.input);
  two.world.core.release(two.client, run.output);
  // Both are launched: their room ends behind them, without word of their end.
  EXPECT_EQ(two.world.said(), "free 501@0, free 1001@0");
  EXPECT_EQ(two.world.core.array_count(), 2u);
  two.world.finish(1);

  EXPECT_EQ(two.world.said(), "run 1 OK");
  EXPECT_EQ(two.world.core.array_count(), 0u);
  EXPECT_EQ(two.world.kept(two.client), "0");
}

TEST(Outcomes, ARunThatWouldKeepTooMuchWaitsForRoomWhileSomethingIsUnfinished) {
  TwoIslands two({.islands = 2, .kept_bytes_max = 256});  // Three arrays and a half, of 64 bytes.
  const RunIds first = two.run_near();
  two.run_near();
  two.run_near();
  EXPECT_EQ(two.world.said(), "launch 1@0, launch 2@0");

  two.world.core.release(two.client, first.output);
  EXPECT_EQ(two.world.said(), "free 1001@0");
  two.world.finish(1);

  EXPECT_EQ(two.world.said(), "launch 3@0, run 1 OK");
}

TEST(Outcomes, ARunThatWouldKeepTooMuchIsRefusedWhenNothingCanMakeRoom) {
  TwoIslands two({.islands = 2, .kept_bytes_max = 256});
  for (int i = 0; i < 3; ++i) two.run_near();
  two.world.said();

  two.world.finish(1);
  EXPECT_EQ(two.world.said(), "run 1 OK");
  two.world.finish(2);

  EXPECT_EQ(two.world.said(),
            "run 2 OK, run 3 RESOURCE_EXHAUSTED: run of program chain would keep 64 bytes; live "
            "arrays of tenant tenant already keep 192 of the 224 bytes that it may keep on island "
            "0; drop handles of arrays that are no longer needed, donate them, or raise "
            "host_memory");
}

TEST(Outcomes, AnotherTenantHasRoomHoweverMuchTheFirstKeeps) {
  TwoIslands two({.islands = 2, .kept_bytes_max = 1024});
  while (two.world.said().find("RESOURCE_EXHAUSTED") == std::string::npos) {
    two.world.put(two.client, two.left);
  }
  const ClientId other = two.world.client("other");

  two.world.put(other, two.world.slice(other, 0));

  EXPECT_EQ(two.world.said(), "");
}

// ---- Clients that go ------------------------------------------------------------------------

TEST(Outcomes, AClientThatGoesLeavesNothingBehindAndHarmsNobody) {
  TwoIslands two({.islands = 2, .limits = {.runs_in_flight_max = 2}});
  const ClientId other = two.world.client("other");
  const SliceId slice = two.world.slice(other, 0);
  const ProgramId theirs =
      two.world.chain(other, {.function = two.world.function(other, "g"), .slices = {slice}});
  const ArrayId kept = two.world.put(other, slice);
  const RunIds launched = two.run_over_both();
  two.world.core.fetch(two.client, launched.output, 9);
  two.world.run(other, theirs, {kept});
  two.run_near();
  EXPECT_EQ(two.world.said(), "launch 1@0, launch 2@0, launch 1@1");

  two.world.core.goodbye(two.client);
  two.world.core.goodbye(two.client);
  EXPECT_EQ(two.world.said(), "free 501@0, cancel 1@0, cancel 1@1");
  EXPECT_EQ(two.world.binder.held.size(), 3u);  // What runs on the slices has to end first.
  two.world.finish(1, {0, 1});
  two.world.finish(2);

  EXPECT_EQ(two.world.said(), "forget client 1@0, free 1001@1, forget client 1@1, run 2/1 OK");
  EXPECT_EQ(two.world.forgotten_plans[0].size(), 2u);
  EXPECT_EQ(two.world.forgotten_plans[1].size(), 1u);
  EXPECT_EQ(two.world.binder.held.size(), 1u);
  EXPECT_EQ(two.world.core.client_count(), 1u);
  EXPECT_EQ(two.world.core.runs_unfinished(), 0u);
  EXPECT_EQ(two.world.core.array_count(), 2u);
  EXPECT_EQ(two.world.kept(other), "128");
}

TEST(Outcomes, DropsWaitingPutsWithTheirClient) {
  ControllerWorld world({.kept_bytes_max = 256});
  const ClientId client = world.client("tenant", 0, true);
  const SliceId slice = world.slice(client);
  for (int i = 0; i < 5; ++i) world.put(client, slice);
  world.said();
  EXPECT_EQ(world.kept(client), "192");  // Three puts; two wait.
  EXPECT_EQ(world.core.array_count(), 5u);

  world.core.goodbye(client);
  world.said();

  EXPECT_EQ(world.core.array_count(), 0u);
  EXPECT_EQ(world.core.client_count(), 0u);
}

TEST(Outcomes, AClientThatGoesIsForgottenWhenNoHostCompilesForIt) {
  ControllerWorld world({.islands = 2});
  const ClientId client = world.client();
  const FunctionId late = world.function(client, "late", {.is_compiled = false});

  world.core.goodbye(client);
  EXPECT_EQ(world.said(), "");
  world.core.compiled(late, 0, {}, 0, 1);
  EXPECT_EQ(world.said(), "");
  world.core.compiled(late, 1, cancelled("by the test"), 0, 1);

  EXPECT_EQ(world.said(), "forget client 1@0, forget client 1@1");
  EXPECT_TRUE(world.forgotten_plans[0].empty());
}

TEST(Outcomes, HostsHearNothingOfTheEndOfAClientThatDefinedNothing) {
  ControllerWorld world({.islands = 2});
  const ClientId client = world.client();

  world.core.goodbye(client);

  EXPECT_EQ(world.said(), "");
  EXPECT_EQ(world.core.client_count(), 0u);
}

TEST(Outcomes, WhatAClientWasToHearIsDroppedWithIt) {
  ControllerWorld world;
  const ClientId other = world.client("other"), client = world.client();
  world.core.drain(client, 7);
  world.core.drain(other, 8);

  world.core.goodbye(client);
  world.core.pump();

  EXPECT_FALSE(world.core.outbox().clients.contains(client));
  EXPECT_EQ(world.said(), "reply 8 OK");
}

// ---- Any order ------------------------------------------------------------------------------

/// Runs over both islands, chained and not, while parts end and fail, clients cancel, and handles
/// go, in an order of its own for each seed.
TEST(Outcomes, EachRunHasOneOutcomeAndEachArrayIsFreedOnceWhateverComesFirst) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomStream random(seed, 0);
    TwoIslands two({.islands = 2, .kept_bytes_max = 2048, .limits = {.runs_in_flight_max = 4}});
    std::vector<RunIds> runs;
    std::vector<ArrayId> handles = {two.input};
    std::vector<std::pair<Stamp, IslandId>> parts;
    std::map<std::string, int> outcomes, freed;
    const auto listen = [&] {
      std::string said = two.world.said() + ", ";
      for (std::size_t end; (end = said.find(", ")) != std::string::npos; said.erase(0, end + 2)) {
        const std::string word = said.substr(0, end);
        const auto number = [&word](std::size_t from) { return std::stoull(word.substr(from)); };
        if (word.starts_with("run ")) ++outcomes[word.substr(0, word.find(' ', 4))];
        if (word.starts_with("free ")) ++freed[word];
        if (!word.starts_with("launch ")) continue;
        parts.push_back({number(7), static_cast<IslandId>(number(word.find('@') + 1))});
      }
    };

    for (int step = 0; step < 200; ++step) {
      const std::uint64_t choice = random.below(10);
      if (choice < 3 && runs.size() < 40) {
        const ArrayId from =
            random.chance(50) || runs.empty() ? two.input : runs[random.below(runs.size())].output;
        const bool is_near = from == two.input;
        runs.push_back(
            two.world.run(two.client, is_near && random.chance(50) ? two.near : two.both, {from}));
        handles.push_back(runs.back().output);
      } else if (choice < 7 && !parts.empty()) {
        const auto at = parts.begin() + static_cast<std::ptrdiff_t>(random.below(parts.size()));
        if (random.chance(20)) two.world.core.part_failed(at->first, user_function_error("broken"));
        two.world.finish(at->first, {at->second});
        parts.erase(at);
      } else if (choice == 7 && !runs.empty()) {
        two.world.core.cancel(two.client, runs[random.below(runs.size())].run);
      } else if (choice == 8 && handles.size() > 1) {
        const std::size_t at = 1 + random.below(handles.size() - 1);
        two.world.core.release(two.client, handles[at]);
        handles.erase(handles.begin() + static_cast<std::ptrdiff_t>(at));
      }
      listen();
    }
    while (!parts.empty()) {
      two.world.finish(parts.back().first, {parts.back().second});
      parts.pop_back();
      listen();
    }
    for (const ArrayId handle : handles) two.world.core.release(two.client, handle);
    listen();

    EXPECT_EQ(outcomes.size(), runs.size());
    for (const auto& [run, count] : outcomes) EXPECT_EQ(count, 1) << run;
    for (const auto& [array, count] : freed) EXPECT_EQ(count, 1) << array;
    EXPECT_EQ(two.world.core.runs_unfinished(), 0u);
    EXPECT_EQ(two.world.core.array_count(), 0u);
    EXPECT_EQ(two.world.kept(two.client), "0");
    if (::testing::Test::HasFailure()) break;
  }
}

}  // namespace
}  // namespace seaway::controller
