// What a client may not say: ids that are not new, too far away, or beyond its limits.

#include <gtest/gtest.h>

#include "controller_world.hpp"

namespace seaway::controller {
namespace {

StatusCode outcome_of(ControllerWorld& world, ClientId client, std::uint64_t id) {
  StatusCode code = StatusCode::kUnimplemented;
  for (const auto& resolved : world.core.outbox().client(client).resolved) {
    if (resolved.id == id) code = resolved.status.code();
  }
  return code;
}

/// A client with a run that waits for its function.
struct Waiting {
  Waiting() {
    client = world.client();
    const SliceId slice = world.slice(client);
    const FunctionId function = world.function(client, "f", {.is_compiled = false});
    program = world.chain(client, {.function = function, .slices = {slice}});
    array = world.put(client, slice);
    open = world.run(client, program, {array});
    world.core.outbox().client(client).resolved.clear();
  }
  StatusCode run(RunId id, ArrayId output) {
    world.core.run(client,
                   {.run = id, .program = program, .first_output = output, .args = {array}});
    return outcome_of(world, client, id);
  }

  ControllerWorld world;
  ClientId client = 0;
  ProgramId program = 0;
  ArrayId array = 0;
  RunIds open;
};

TEST(Strangers, ARunFarAheadOfTheOldestOneIsRefusedBeforeThereIsMemoryForIt) {
  Waiting waiting;
  const std::uint64_t most = ControllerLimits().ids_open_max;

  EXPECT_EQ(waiting.run(waiting.open.run + most, make_id(waiting.client, 90'000)),
            StatusCode::kResourceExhausted);
  EXPECT_EQ(waiting.run(waiting.open.run + most - 1, make_id(waiting.client, 90'000)),
            StatusCode::kUnimplemented)
      << "it has no outcome yet";
}

TEST(Strangers, ARunIsNamedOnceAndBehindTheOnesBefore) {
  Waiting waiting;

  EXPECT_EQ(waiting.run(waiting.open.run, make_id(waiting.client, 90'000)),
            StatusCode::kInvalidArgument);
}

/// A run that reads it keeps its record, and its island may have freed it.
TEST(Strangers, ARunNamesNoArrayThatWasReleased) {
  Waiting waiting;
  waiting.world.core.release(waiting.client, waiting.array);

  EXPECT_EQ(waiting.run(waiting.open.run + 1, make_id(waiting.client, 90'000)),
            StatusCode::kInvalidArgument);
}

TEST(Strangers, OutputsHaveNamesThatNothingHas) {
  Waiting waiting;

  EXPECT_EQ(waiting.run(waiting.open.run + 1, waiting.array), StatusCode::kInvalidArgument);
  EXPECT_EQ(waiting.run(waiting.open.run + 2, waiting.open.output), StatusCode::kInvalidArgument);
}

TEST(Strangers, AnUploadHasANameThatNothingHas) {
  Waiting waiting;

  waiting.world.core.put(waiting.client, waiting.open.output, waiting.array);

  EXPECT_EQ(outcome_of(waiting.world, waiting.client, waiting.open.output),
            StatusCode::kInvalidArgument);
}

TEST(Strangers, ASpecIsNamedOnceAndFitsItsSlice) {
  ControllerWorld world;
  const ClientId client = world.client();
  const SliceId slice = world.slice(client);
  const std::uint64_t id = make_id(client, 700);

  EXPECT_TRUE(world.core.define_spec(client, id, world.spec(slice), Frame()).ok());
  EXPECT_EQ(world.core.define_spec(client, id, world.spec(slice), Frame()).code(),
            StatusCode::kInvalidArgument);
  const ArraySpec wide{f32({32}), NamedSharding(Mesh(slice, {{"x", 2}}), P("x"))};
  EXPECT_EQ(world.core.define_spec(client, id + 1, wide, Frame()).code(),
            StatusCode::kInvalidArgument);
}

TEST(Strangers, TheNameOfATenantHasALength) {
  ControllerWorld world;

  world.core.hello(9, std::string(257, 'x'), 0, 1);

  ASSERT_EQ(world.core.outbox().client(9).replies.size(), 1u);
  EXPECT_EQ(world.core.outbox().client(9).replies[0].status.code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace seaway::controller
