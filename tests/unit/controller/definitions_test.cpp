// When functions, programs, specs and slices are forgotten, and how many of them a client may have.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/controller/controller_world.hpp"

namespace seaway::controller {
namespace {

/// One client with a slice, a function and a program of one call of it.
struct OneProgram {
  explicit OneProgram(ControllerOptions options = {})
      : world(options),
        client(world.client()),
        slice(world.slice(client)),
        function(world.function(client, "f")),
        program(world.chain(client, {.function = function, .slices = {slice}})) {}

  std::size_t definitions() {
    world.said();
    return world.core.definition_count();
  }
  void release(std::uint64_t id) { world.core.release_definition(client, id); }

  ControllerWorld world;
  ClientId client;
  SliceId slice;
  FunctionId function;
  ProgramId program;
};

TEST(Definitions, GoAtOnceWhenNothingNeedsThem) {
  OneProgram one;
  ASSERT_EQ(one.definitions(), 2u);

  one.release(one.program);
  one.release(one.function);

  EXPECT_EQ(one.definitions(), 0u);
  EXPECT_EQ(one.world.forgotten_definitions[0], std::vector<std::uint64_t>{one.function});
}

TEST(Definitions, AFunctionStaysWhileAProgramCallsIt) {
  OneProgram one;

  one.release(one.function);

  EXPECT_EQ(one.definitions(), 2u);
  const ArrayId array = one.world.put(one.client, one.slice);
  const RunIds run = one.world.run(one.client, one.program, {array});
  EXPECT_EQ(one.world.said(), "launch 1@0");
  one.release(one.program);
  one.world.finish(1);
  one.world.core.release(one.client, run.output);
  one.world.core.release(one.client, array);
  one.release(array);  // The spec of the upload has its number.
  EXPECT_EQ(one.definitions(), 0u);
}

TEST(Definitions, AProgramStaysForItsRunsAndTheirArrays) {
  OneProgram one;
  const ArrayId array = one.world.put(one.client, one.slice);
  const RunIds run = one.world.run(one.client, one.program, {array});
  one.world.said();

  one.release(one.program);
  EXPECT_EQ(one.definitions(), 3u);
  one.world.finish(1);
  EXPECT_EQ(one.world.said(), "run 1 OK");
  EXPECT_EQ(one.definitions(), 3u);
  EXPECT_TRUE(one.world.forgotten_plans[0].empty());
  one.world.core.release(one.client, run.output);

  EXPECT_EQ(one.world.said(), "free 1001@0");
  EXPECT_EQ(one.definitions(), 2u);
  EXPECT_EQ(one.world.forgotten_plans[0].size(), 1u);
}

TEST(Definitions, ASpecStaysWhileARunReadsAnArrayOfIt) {
  OneProgram one;
  const ArrayId array = one.world.put(one.client, one.slice);
  one.world.run(one.client, one.program, {array});
  one.world.said();

  one.world.core.release(one.client, array);
  one.release(array);
  EXPECT_EQ(one.definitions(), 3u);
  one.world.finish(1);

  EXPECT_EQ(one.definitions(), 2u);
  EXPECT_EQ(one.world.forgotten_definitions[0], std::vector<std::uint64_t>{array});
}

TEST(Definitions, AFunctionThatIsBeingCompiledStays) {
  OneProgram one;
  const FunctionId slow = one.world.function(one.client, "slow", {.is_compiled = false});

  one.release(slow);
  EXPECT_EQ(one.definitions(), 3u);
  one.world.compiled(slow);

  EXPECT_EQ(one.definitions(), 2u);
}

TEST(Definitions, TheRecordOfASliceGoesBehindWhatNamesIt) {
  OneProgram one;
  one.world.core.release_slice(one.client, 1, one.slice);
  one.world.said();
  EXPECT_TRUE(one.world.core.has_slice(one.slice));

  one.release(one.program);
  one.world.said();

  EXPECT_FALSE(one.world.core.has_slice(one.slice));
  EXPECT_TRUE(one.world.binder.held.empty());
}

TEST(Definitions, WhatIsReleasedIsNotNamedAnew) {
  OneProgram one;
  const ArrayId array = one.world.put(one.client, one.slice);
  one.world.run(one.client, one.program, {array});
  one.world.said();
  one.release(one.program);

  one.world.run(one.client, one.program, {array});

  EXPECT_EQ(one.world.said(), "run 2 INVALID_ARGUMENT: program " + std::to_string(one.program) +
                                  " is not one of this client's");
}

TEST(Definitions, AnotherClientReleasesNone) {
  OneProgram one;
  const ClientId other = one.world.client("other");

  one.world.core.release_definition(other, one.program);
  one.world.core.release_definition(other, one.function);

  EXPECT_EQ(one.definitions(), 2u);
}

TEST(Definitions, BeyondTheLimitEndRunsWithTheNumbersUntilOthersAreReleased) {
  // A slice, a function, a program and the spec of an upload.
  OneProgram one({.limits = {.definitions_max = 4}});
  const ArrayId array = one.world.put(one.client, one.slice);
  const std::string refusal =
      "RESOURCE_EXHAUSTED: client 1 has 4 of 4 live functions, programs, specs and slices; drop "
      "handles that are no longer needed, or raise the cluster option definitions";

  const ProgramId second =
      one.world.chain(one.client, {.function = one.function, .slices = {one.slice}});
  one.world.run(one.client, second, {array});
  EXPECT_EQ(one.world.said(), "run 1 " + refusal);
  one.release(second);
  one.release(one.program);
  one.world.said();
  const ProgramId third =
      one.world.chain(one.client, {.function = one.function, .slices = {one.slice}});
  one.world.run(one.client, third, {array});

  EXPECT_EQ(one.world.said(), "launch 1@0");
}

TEST(Definitions, ARefusedFunctionEndsRunsOfItsProgramsWithItsError) {
  OneProgram one({.limits = {.definitions_max = 4}});
  const ArrayId array = one.world.put(one.client, one.slice);
  const FunctionId refused = one.world.function(one.client, "g");
  one.release(one.program);

  const ProgramId program =
      one.world.chain(one.client, {.function = refused, .slices = {one.slice}});
  one.world.run(one.client, program, {array});

  const std::string said = one.world.said();
  EXPECT_TRUE(said.starts_with("run 1 RESOURCE_EXHAUSTED: client 1 has 4 of 4 live")) << said;
}

TEST(Definitions, ReleasedSlicesDoNotCount) {
  OneProgram one({.limits = {.definitions_max = 4}});
  for (int i = 0; i < 10; ++i) {
    const SliceId slice = one.world.slice(one.client);
    ASSERT_TRUE(one.world.core.has_slice(slice)) << i;
    one.world.core.release_slice(one.client, 1, slice);
    one.world.said();
    EXPECT_FALSE(one.world.core.has_slice(slice));
  }
}

TEST(Definitions, AHostThatJoinsHearsOfThoseThatAreLeft) {
  ControllerWorld world({.has_members = true});
  world.join({0});
  const ClientId client = world.client();
  const FunctionId kept = world.function(client, "kept"), gone = world.function(client, "gone");
  world.said();
  world.core.release_definition(client, gone);
  world.said();
  world.definitions.clear();

  world.join({0}, 2);
  world.said();

  EXPECT_EQ(world.definitions[0], 1u);
  EXPECT_EQ(world.core.function_name(kept), "kept");
  EXPECT_EQ(world.core.function_name(gone), "gone");  // For traces.
}

}  // namespace
}  // namespace seaway::controller
