// A framework's calls, one after the other: devices, values, programs, gangs, errors, ends.

#include <algorithm>
#include <future>
#include <thread>

#include "front/calls.hpp"
#include "unit/front/front_fixture.hpp"

namespace seaway::front {
namespace {

using Values = std::vector<float>;

std::string text(const char* words, std::size_t size) { return {words, size}; }

TEST_F(FrontTest, HasEachDeviceOfTheClusterWithItsMemory) {
  ASSERT_EQ(devices().size(), 4u);
  for (int id = 0; id < 4; ++id) {
    abi::DeviceGetDescription description;
    description.device = devices()[static_cast<std::size_t>(id)];
    ASSERT_EQ(ask(description), Status());
    abi::DeviceDescriptionId number;
    number.description = description.description;
    abi::DeviceDescriptionToString words;
    words.description = description.description;
    abi::DeviceDescriptionAttributes attributes;
    attributes.description = description.description;
    abi::DeviceDefaultMemory memory;
    memory.device = description.device;
    ASSERT_TRUE(ask(number).ok() && ask(words).ok() && ask(attributes).ok() && ask(memory).ok());
    abi::MemoryKind kind;
    kind.memory = memory.memory;
    ASSERT_EQ(ask(kind), Status());
    abi::ClientLookupDevice look_up;
    look_up.client = client();
    look_up.id = id;
    ASSERT_EQ(ask(look_up), Status());

    EXPECT_EQ(number.id, id);
    EXPECT_EQ(text(words.text, words.text_size), "SeawayDevice(id=" + std::to_string(id) +
                                                     ", island=" + std::to_string(id / 2) +
                                                     ", index=" + std::to_string(id % 2) + ")");
    ASSERT_EQ(attributes.count, 2u);
    EXPECT_EQ(attributes.attributes[0].number, id / 2);
    EXPECT_EQ(text(kind.kind, kind.kind_size), "device");
    EXPECT_EQ(look_up.device, description.device);
  }
  abi::ClientLookupDevice nowhere;
  nowhere.client = client();
  nowhere.id = 4;
  EXPECT_EQ(ask(nowhere), not_found("there is no device 4; the cluster has 4"));
}

TEST_F(FrontTest, BringsValuesBackFromEveryDeviceAndCopiesThemBetweenIslands) {
  know_reshard();
  const Buffer here = put({1, 2, 3, 4}, 1);
  const Buffer there = copy(here, 2);
  abi::BufferDevice device;
  device.buffer = there.get();
  ASSERT_EQ(ask(device), Status());

  EXPECT_EQ(get(here).value(), (Values{1, 2, 3, 4}));
  EXPECT_EQ(get(there).value(), (Values{1, 2, 3, 4}));
  EXPECT_EQ(device.device, devices()[2]);
}

TEST_F(FrontTest, RunsAheadOfItsDevices) {
  const LoadedExecutable twice = compile(pjrt::doubling(), {3}).value();
  fake().hold();
  Buffer value = put({1, 2, 3, 4}, 3);
  std::vector<Event> complete;
  for (int i = 0; i < 5; ++i) {
    value = std::move(execute(twice, {&value}, &complete).value()[0]);
  }

  // Nothing has run, and all of it is enqueued.
  abi::EventIsReady ready;
  ready.event = complete[0].get();
  ASSERT_EQ(ask(ready), Status());
  EXPECT_FALSE(ready.is_ready);
  for (int i = 0; i < 5; ++i) {
    fake().wait_for_held(1);
    fake().complete(0);
  }
  EXPECT_EQ(get(value).value(), (Values{32, 64, 96, 128}));
  for (const Event& event : complete) EXPECT_EQ(pjrt::await(event), Status());
}

TEST_F(FrontTest, RunsAShardedProgramAsOneGangOnTheDevicesOfAnIsland) {
  const LoadedExecutable sum = compile(pjrt::summing(), {3, 2}, {{"a", 2}}).value();
  const Buffer one = put({1, 2, 3, 4}, 3), two = put({10, 20, 30, 40}, 2);

  const std::vector<Buffer> results = execute(sum, {&one, &two}).value();
  const std::vector<Buffer> again = execute(sum, {&results[0], &results[1]}).value();

  EXPECT_EQ(get(results[0]).value(), (Values{11, 22, 33, 44}));
  EXPECT_EQ(get(again[1]).value(), (Values{22, 44, 66, 88}));
  EXPECT_EQ(fake().launches().size(), 2u);
}

TEST_F(FrontTest, RefusesAProgramOverSeveralIslandsWithWhatToDo) {
  const Status status = compile(pjrt::summing(), {1, 2}, {{"a", 2}}).status();

  EXPECT_EQ(status.code(), StatusCode::kUnimplemented);
  EXPECT_EQ(status.message(),
            "one sharded program is to run on devices 1 of island 0 and 2 of island 1: its "
            "collectives are those of one plugin in one process, and do not reach the devices of "
            "another island. Shard it over the devices of one island (device.island says which "
            "one), run programs of their own on the other islands, and move arrays between them "
            "by jax.device_put");
  EXPECT_EQ(compile(pjrt::doubling(), {9}).status(),
            invalid_argument("a program is to be compiled for device 9, and the cluster has 4"));
}

TEST_F(FrontTest, CompilesAProgramOnceForAllDevices) {
  const LoadedExecutable here = compile(pjrt::doubling(), {0}).value();
  const std::size_t compiled = fake().calls(abi::Call::kClientCompile);
  const LoadedExecutable there = compile(pjrt::doubling(), {3}).value();
  const Buffer value = put({1, 2, 3, 4}, 3);

  const std::vector<Buffer> results = execute(there, {&value}).value();

  EXPECT_EQ(get(results[0]).value(), (Values{2, 4, 6, 8}));
  EXPECT_EQ(fake().calls(abi::Call::kClientCompile), compiled);
}

TEST_F(FrontTest, DescribesAProgramWithoutAskingAnybody) {
  const LoadedExecutable twice = compile(pjrt::doubling(), {2}).value();
  abi::LoadedExecutableGetExecutable get_executable;
  get_executable.loaded = twice.get();
  ASSERT_EQ(ask(get_executable), Status());
  const pjrt::ExecutableInfo info(api(), get_executable.executable);
  abi::ExecutableOutputDimensions sizes;
  sizes.executable = info.get();
  abi::ExecutableOutputElementTypes types;
  types.executable = info.get();
  abi::Program program;
  abi::ExecutableOptimizedProgram optimized;
  optimized.executable = info.get();
  optimized.program = &program;
  ASSERT_TRUE(ask(sizes).ok() && ask(types).ok() && ask(optimized).ok());
  abi::LoadedExecutableAddressableDevices on;
  on.executable = twice.get();
  ASSERT_EQ(ask(on), Status());

  ASSERT_EQ(sizes.count, 1u);
  EXPECT_EQ(sizes.ranks[0], 1u);
  EXPECT_EQ(sizes.sizes[0], 4);
  EXPECT_EQ(types.types[0], abi::ElementType::kF32);
  EXPECT_EQ(text(program.format, program.format_size), "hlo");
  EXPECT_GT(program.code_size, 0u);
  ASSERT_EQ(on.count, 1u);
  EXPECT_EQ(on.devices[0], devices()[2]);
}

TEST_F(FrontTest, TakesWhatAProgramIsGivenUp) {
  function::Graph graph = pjrt::doubling();
  known().add(graph, {});
  std::string program = function::to_stablehlo(graph, {}, {{0, 0}});
  const LoadedExecutable twice = compile(std::move(program), {0}).value();
  const Buffer value = put({1, 2, 3, 4}, 0);

  const std::vector<Buffer> results = execute(twice, {&value}).value();

  abi::BufferIsDeleted deleted;
  deleted.buffer = value.get();
  ASSERT_EQ(ask(deleted), Status());
  EXPECT_TRUE(deleted.is_deleted);
  EXPECT_EQ(get(results[0]).value(), (Values{2, 4, 6, 8}));
  EXPECT_EQ(execute(twice, {&value}).status(),
            invalid_argument("program program: argument 0 has been deleted or donated"));
}

TEST_F(FrontTest, RefusesWhatDoesNotFitAProgram) {
  const LoadedExecutable twice = compile(pjrt::doubling(), {1}).value();
  const Buffer elsewhere = put({1, 2, 3, 4}, 2), short_one = put({1, 2}, 1);

  EXPECT_EQ(execute(twice, {&elsewhere}).status(),
            invalid_argument("program program: argument 0 is on SeawayDevice(id=2, island=1, "
                             "index=0), and is wanted on SeawayDevice(id=1, island=0, index=1)"));
  EXPECT_EQ(execute(twice, {&short_one}).status(),
            invalid_argument("program program: argument 0 is f32[2], and it takes f32[4]"));
  EXPECT_EQ(
      execute(twice, {&elsewhere, &elsewhere}).status(),
      invalid_argument("program program: it is executed on 2 devices, and was compiled for 1"));
}

TEST_F(FrontTest, AFailureIsFoundInAllThatFollowsAndInNothingElse) {
  const LoadedExecutable twice = compile(pjrt::doubling(), {0}).value();
  const Buffer value = put({1, 2, 3, 4}, 0);
  fake().fail(abi::Call::kLoadedExecutableExecute, 1, abi::ErrorCode::kInternal, "no luck");

  const std::vector<Buffer> failed = execute(twice, {&value}).value();
  const std::vector<Buffer> following = execute(twice, {&failed[0]}).value();
  const Status root = outcome(failed[0]), next = get(following[0]).status();
  const std::vector<Buffer> fine = execute(twice, {&value}).value();

  EXPECT_NE(root.message().find("USER_FUNCTION_ERROR: "), std::string::npos) << root.to_string();
  EXPECT_NE(root.message().find("no luck"), std::string::npos) << root.to_string();
  EXPECT_NE(next.message().find("INPUT_LOST: "), std::string::npos) << next.to_string();
  EXPECT_NE(next.message().find("no luck"), std::string::npos) << next.to_string();
  EXPECT_EQ(get(fine[0]).value(), (Values{2, 4, 6, 8}));
}

TEST_F(FrontTest, CallsWhoeverWaitsForAnEventOnce) {
  const LoadedExecutable twice = compile(pjrt::doubling(), {0}).value();
  const Buffer value = put({1, 2, 3, 4}, 0);
  fake().hold();
  const std::vector<Buffer> results = execute(twice, {&value}).value();
  abi::BufferReadyEvent ready;
  ready.buffer = results[0].get();
  ASSERT_EQ(ask(ready), Status());
  const Event event(api(), ready.event);
  std::promise<bool> told;
  abi::EventOnReady on_ready;
  on_ready.event = event.get();
  on_ready.user = &told;
  on_ready.callback = [](abi::Error* error, void* user) {
    static_cast<std::promise<bool>*>(user)->set_value(error == nullptr);
  };
  ASSERT_EQ(ask(on_ready), Status());
  abi::EventError too_early;
  too_early.event = event.get();
  EXPECT_EQ(ask(too_early), invalid_argument("the event has not come: await it first"));

  fake().wait_for_held(1);
  fake().complete(0);

  EXPECT_TRUE(told.get_future().get());
  EXPECT_EQ(pjrt::await(event), Status());
}

/// Everything from its begin to its end is recorded.
class Recorded {
 public:
  Recorded() { Recording::begin(); }
  ~Recorded() { Recording::end(); }
};

/// Runs that the cluster has had of this client.
std::uint64_t runs_of(abi::Client* client) {
  const std::string stats = of(client)->client().stats().value();
  const std::string name = "\"stamps\":";  // One each.
  const std::size_t at = stats.find(name);
  EXPECT_NE(at, std::string::npos) << stats;
  return std::strtoull(stats.c_str() + at + name.size(), nullptr, 10);
}

TEST_F(FrontTest, WhatIsRecordedLeavesAsOneRunWithWhatSomebodyStillHas) {
  const LoadedExecutable here = compile(pjrt::doubling(), {0}).value();
  const LoadedExecutable there = compile(pjrt::doubling(), {2}).value();
  know_reshard();
  const Buffer value = put({1, 2, 3, 4}, 0);
  for (int time = 1; time <= 2; ++time) {
    const std::uint64_t before = runs_of(client());
    std::vector<Buffer> kept;
    {
      const Recorded recorded;
      const std::vector<Buffer> twice = execute(here, {&value}).value();
      kept.push_back(std::move(execute(here, {&twice[0]}).value()[0]));
      const Buffer moved = copy(twice[0], 2);
      kept.push_back(std::move(execute(there, {&moved}).value()[0]));
      EXPECT_EQ(runs_of(client()), before);
    }

    EXPECT_EQ(get(kept[0]).value(), (Values{4, 8, 12, 16}));
    EXPECT_EQ(get(kept[1]).value(), (Values{4, 8, 12, 16}));
    EXPECT_EQ(runs_of(client()), before + 1);
    EXPECT_EQ(of(client())->recorded().size(), 1u);  // The second time it is known.
  }
}

TEST_F(FrontTest, WhoeverAsksForAValueInARecordingHasWhatWasRecordedLeave) {
  const LoadedExecutable twice = compile(pjrt::doubling(), {1}).value();
  const Buffer value = put({1, 2, 3, 4}, 1);
  const Recorded recorded;
  std::vector<Event> complete;
  const std::vector<Buffer> first = execute(twice, {&value}, &complete).value();
  abi::EventIsReady ready;
  ready.event = complete[0].get();
  ASSERT_EQ(ask(ready), Status());

  EXPECT_FALSE(ready.is_ready);
  EXPECT_EQ(get(first[0]).value(), (Values{2, 4, 6, 8}));
  EXPECT_EQ(pjrt::await(complete[0]), Status());
  const std::vector<Buffer> second = execute(twice, {&first[0]}, &complete).value();
  EXPECT_EQ(pjrt::await(complete[1]), Status());
  EXPECT_EQ(get(second[0]).value(), (Values{4, 8, 12, 16}));
}

TEST_F(FrontTest, WhatARecordedProgramIsGivenUpIsGoneAtOnce) {
  known().add(pjrt::doubling(), {});
  std::string program = function::to_stablehlo(pjrt::doubling(), {}, {{0, 0}});
  const LoadedExecutable twice = compile(std::move(program), {0}).value();
  const Buffer value = put({1, 2, 3, 4}, 0);
  std::vector<Buffer> results;
  {
    const Recorded recorded;
    const std::vector<Buffer> first = execute(twice, {&value}).value();
    results = execute(twice, {&first[0]}).value();
    const Status gone = invalid_argument("program program: argument 0 has been deleted or donated");
    EXPECT_EQ(execute(twice, {&value}).status(), gone);
    EXPECT_EQ(execute(twice, {&first[0]}).status(), gone);
  }

  EXPECT_EQ(get(results[0]).value(), (Values{4, 8, 12, 16}));
}

TEST_F(FrontTest, AFailureInARecordingIsFoundInWhatFollowsFromIt) {
  const LoadedExecutable twice = compile(pjrt::doubling(), {0}).value();
  const Buffer value = put({1, 2, 3, 4}, 0);
  fake().fail(abi::Call::kLoadedExecutableExecute, 1, abi::ErrorCode::kInternal, "no luck");
  std::vector<Buffer> results;
  std::vector<Event> complete;
  {
    const Recorded recorded;
    const std::vector<Buffer> first = execute(twice, {&value}, &complete).value();
    results = execute(twice, {&first[0]}).value();
  }

  EXPECT_NE(outcome(results[0]).message().find("no luck"), std::string::npos);
  EXPECT_NE(pjrt::await(complete[0]).message().find("no luck"), std::string::npos);
  EXPECT_EQ(get(execute(twice, {&value}).value()[0]).value(), (Values{2, 4, 6, 8}));
}

TEST_F(FrontTest, ARecordingOfTooManyNodesLeavesAndTheNextOneBegins) {
  const LoadedExecutable twice = compile(pjrt::doubling(), {0}).value();
  Buffer value = put({0, 0, 0, 0}, 0);
  const std::uint64_t before = runs_of(client());
  const Recorded recorded;

  for (std::size_t i = 0; i < Recording::kNodesMax; ++i) {
    value = std::move(execute(twice, {&value}).value()[0]);
  }
  EXPECT_EQ(runs_of(client()), before);
  value = std::move(execute(twice, {&value}).value()[0]);

  // It leaves without anybody asking for a value of it; the controller hears of it a little later.
  while (runs_of(client()) == before) std::this_thread::yield();
  EXPECT_EQ(runs_of(client()), before + 1);
  EXPECT_EQ(get(value).value(), (Values{0, 0, 0, 0}));
}

TEST_F(FrontTest, ARecordingThatNobodyHasAnythingOfRunsAllTheSame) {
  const LoadedExecutable twice = compile(pjrt::doubling(), {0}).value();
  const Buffer value = put({1, 2, 3, 4}, 0);
  const std::uint64_t before = runs_of(client());
  { const Recorded nothing; }
  EXPECT_EQ(runs_of(client()), before);
  std::vector<Event> complete;
  {
    const Recorded recorded;
    (void)execute(twice, {&value}, &complete).value();
  }

  EXPECT_EQ(pjrt::await(complete[0]), Status());
  EXPECT_EQ(runs_of(client()), before + 1);
}

TEST_F(FrontTest, ADeletedBufferHoldsNothing) {
  const Buffer value = put({1, 2, 3, 4}, 0);
  abi::BufferDelete args;
  args.buffer = value.get();
  ASSERT_EQ(ask(args), Status());

  EXPECT_EQ(get(value).status().code(), StatusCode::kInvalidArgument);
}

TEST_F(FrontTest, AnswersCallsThatItDoesNotOfferAndArgumentsThatAreTooShort) {
  abi::ExecutableSerialize serialize;
  EXPECT_EQ(ask(serialize),
            unimplemented("call 49 of the PJRT interface is none that Seaway's plugin offers"));
  abi::ClientDevices args;
  args.head.struct_size = 24;
  const auto function = reinterpret_cast<abi::Error* (*)(abi::ClientDevices*)>(
      api().calls[static_cast<std::size_t>(abi::ClientDevices::kCall)]);
  EXPECT_EQ(pjrt::take_error(api(), function(&args)),
            invalid_argument("call 15 of the plugin's table comes with 24 bytes of arguments, "
                             "where interface 0.81 has 40"));
}

TEST_F(FrontTest, ReadsValuesThatLieInPieces) {
  const std::vector<float> columns = {1, 4, 2, 5, 3, 6};
  const std::int64_t sizes[] = {2, 3}, strides[] = {4, 8};
  abi::ClientBufferFromHostBuffer args;
  args.client = client();
  args.data = columns.data();
  args.type = abi::ElementType::kF32;
  args.sizes = sizes;
  args.rank = 2;
  args.byte_strides = strides;
  args.byte_strides_count = 2;
  args.device = devices()[0];
  ASSERT_EQ(ask(args), Status());
  const Event done(api(), args.done_with_host);
  const Buffer buffer(api(), args.buffer);

  EXPECT_EQ(get(buffer).value(), (Values{1, 2, 3, 4, 5, 6}));
}

TEST(FrontErrors, HaveTheNearestCodeAndSeawaysOwnWhereThatSaysMore) {
  EXPECT_EQ(error_code(StatusCode::kInputLost), abi::ErrorCode::kDataLoss);
  EXPECT_EQ(error_code(StatusCode::kHostLost), abi::ErrorCode::kUnavailable);
  EXPECT_EQ(error_code(StatusCode::kUnimplemented), abi::ErrorCode::kUnimplemented);
  EXPECT_EQ(error_text(input_lost("gone")), "INPUT_LOST: gone");
  EXPECT_EQ(error_text(invalid_argument("wrong")), "wrong");
}

TEST(FrontNames, AreFoundInABytecode) {
  EXPECT_EQ(name_of_program(std::string("ML\xefR\0main\0jit_train_step\0x", 26)), "jit_train_step");
  EXPECT_EQ(name_of_program("module @jit_f attributes"), "jit_f");
  EXPECT_EQ(name_of_program("module {}"), "program");
}

}  // namespace
}  // namespace seaway::front
