// Functions on a plugin: values, faults at each call, memory, donations, the cache.

#include "pjrt/pjrt_executable.hpp"

#include "base/real_disk.hpp"
#include "unit/function/random_graph.hpp"
#include "unit/pjrt/fake_fixture.hpp"

namespace seaway::pjrt {
namespace {

const function::AxisSizes kTwo = {{"a", 2}};

class PjrtExecutableTest : public FakePluginTest, public ::testing::WithParamInterface<InputWay> {
 protected:
  std::shared_ptr<const PjrtExecutable> make(const Target& target, const function::Graph& graph,
                                             const function::AxisSizes& axes = kTwo) {
    known().add(graph, axes);
    auto made = PjrtExecutable::compile(target, graph, axes);
    EXPECT_TRUE(made.ok()) << made.to_string();
    return made.value();
  }
  /// The end of one gang of x + x on two shards.
  static LaunchEnd launch(const PjrtExecutable& executable, std::vector<std::uint32_t> devices,
                          std::vector<float>* result = nullptr) {
    function::TestBuffer x(16, devices.size()), y(16, devices.size());
    for (std::size_t s = 0; s < devices.size(); ++s) x.set<float>(s, {1, 2, 3, 4});
    const function::ShardedBuffer in = x.view(), out = y.view();
    WaitsFor waits_for = 0;
    LaunchEnd end = executable.launch({&in, 1}, {&out, 1}, devices, waits_for);
    if (result != nullptr) *result = y.get<float>(devices.size() - 1);
    return end;
  }
};

INSTANTIATE_TEST_SUITE_P(Ways, PjrtExecutableTest,
                         ::testing::Values(InputWay::kLent, InputWay::kPromised),
                         [](const auto& one) {
                           return one.param == InputWay::kLent ? "Lent" : "Promised";
                         });

TEST_P(PjrtExecutableTest, AgreesWithTheReferenceOnRandomFunctions) {
  const Target all = target(4, GetParam());
  const std::vector<function::AxisSizes> meshes = {{{"a", 1}}, {{"a", 2}}, {{"a", 2}, {"b", 2}}};
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const function::AxisSizes& axes = meshes[seed % meshes.size()];
    const auto shards = static_cast<std::size_t>(function::shard_count(axes));
    const function::Graph graph = function::RandomGraph(seed, axes).build();
    function::TestRun expected(function::compile_reference(graph, axes).value(), shards);
    function::TestRun actual(make(all, graph, axes), shards);
    fill(expected, seed, shards);
    fill(actual, seed, shards);

    expected.run();
    actual.run();

    for (std::size_t o = 0; o < graph.outputs.size(); ++o) {
      for (std::size_t s = 0; s < shards; ++s) {
        expect_equal(actual.output(o), expected.output(o), graph.output_type(o), s,
                     "seed " + std::to_string(seed));
      }
    }
  }
}

TEST_P(PjrtExecutableTest, RunsOnTheDevicesThatAreNamed) {
  const Target all = target(4, GetParam());
  std::vector<float> result;

  const LaunchEnd end = launch(*make(all, summing()), {3, 1}, &result);

  EXPECT_TRUE(end.status.ok()) << end.status.to_string();
  EXPECT_EQ(result, (std::vector<float>{2, 4, 6, 8}));
}

TEST_P(PjrtExecutableTest, GivesEachGangALaunchNumberOfItsOwn) {
  const Target all = target(4, GetParam());
  const auto executable = make(all, summing());

  for (int i = 0; i < 3; ++i) EXPECT_TRUE(launch(*executable, {0, 1}).status.ok());

  EXPECT_EQ(fake().launches(), (std::vector<int>{1, 2, 3}));
}

TEST_P(PjrtExecutableTest, ForgetsDeviceListsBeyondItsLimit) {
  const Target all = target(4, GetParam());
  known().add(summing(), kTwo);
  const auto executable =
      PjrtExecutable::compile(all, summing(), kTwo, {.device_lists_max = 2}).value();

  for (std::uint32_t other = 1; other < 4; ++other) {
    EXPECT_TRUE(launch(*executable, {0, other}).status.ok());
  }

  EXPECT_EQ(executable->device_lists(), 2u);
}

TEST_P(PjrtExecutableTest, AsksThePluginForACopyOnlyWhereItDoesNotSayWhereAnOutputLies) {
  const Target all = target(1, GetParam());
  const auto executable = make(all, doubling());
  for (const abi::Call call :
       {abi::Call::kBufferOpaqueDeviceMemoryDataPointer, abi::Call::kBufferOnDeviceSizeInBytes}) {
    std::vector<float> here, copied;
    const std::size_t before = fake().calls(abi::Call::kBufferToHostBuffer);
    EXPECT_TRUE(launch(*executable, {0}, &here).status.ok());
    const std::size_t between = fake().calls(abi::Call::kBufferToHostBuffer);
    fake().fail(call, 1, abi::ErrorCode::kUnimplemented, "no addresses");
    EXPECT_TRUE(launch(*executable, {0}, &copied).status.ok());
    fake().fail(call, 0, abi::ErrorCode::kOk, "");

    EXPECT_EQ(between > before, GetParam() == InputWay::kPromised);
    EXPECT_GT(fake().calls(abi::Call::kBufferToHostBuffer), between);
    EXPECT_EQ(here, copied);
    EXPECT_EQ(here, (std::vector<float>{2, 4, 6, 8}));
  }
}

/// Each call that a gang makes fails once; nothing is left, and the next gang runs.
TEST_P(PjrtExecutableTest, AFailedCallFailsItsGangAndNoOther) {
  const Target all = target(2, GetParam());
  const auto executable = make(all, doubling());
  std::vector<abi::Call> calls = {abi::Call::kLoadedExecutableExecute};
  if (GetParam() == InputWay::kLent) {
    calls.push_back(abi::Call::kClientBufferFromHostBuffer);
  } else {
    calls.push_back(abi::Call::kClientCreateBuffersForAsyncHostToDevice);
    calls.push_back(abi::Call::kTransfersRetrieveBuffer);
    calls.push_back(abi::Call::kTransfersTransferData);
    calls.push_back(abi::Call::kBufferToHostBuffer);
  }
  for (const abi::Call call : calls) {
    for (const std::size_t nth : {1u, 2u}) {
      fake().fail(call, nth, abi::ErrorCode::kInternal, "no luck");

      const LaunchEnd failed = launch(*executable, {0, 1});
      const LaunchEnd next = launch(*executable, {0, 1});

      EXPECT_EQ(failed.status.code(), StatusCode::kUserFunctionError);
      EXPECT_NE(failed.status.message().find("function test on plugin "), std::string::npos);
      EXPECT_NE(failed.status.message().find("no luck"), std::string::npos)
          << static_cast<std::size_t>(call) << " " << failed.status.to_string();
      EXPECT_FALSE(failed.refused || failed.lost);
      EXPECT_TRUE(next.status.ok()) << next.status.to_string();
    }
  }
}

TEST_P(PjrtExecutableTest, ADeviceThatRefusesIsNamedAndNothingIsWritten) {
  const Target all = target(4, GetParam());
  const auto executable = make(all, doubling());
  for (const auto& [code, expected] :
       {std::pair{abi::ErrorCode::kResourceExhausted, StatusCode::kResourceExhausted},
        std::pair{abi::ErrorCode::kUnavailable, StatusCode::kDeviceLost}}) {
    fake().fail(abi::Call::kLoadedExecutableExecute, 2, code, "not now");
    std::vector<float> result;

    const LaunchEnd end = launch(*executable, {2, 3}, &result);

    EXPECT_EQ(end.status.code(), expected);
    EXPECT_EQ(end.refused, 1u);
    EXPECT_FALSE(end.lost);
    EXPECT_NE(result, (std::vector<float>{2, 4, 6, 8}));
  }
}

TEST_P(PjrtExecutableTest, IsChargedForWhatThePluginTakesAndGivesItBack) {
  const std::uint64_t operands = GetParam() == InputWay::kPromised ? 64 : 0;
  const std::uint64_t needed = 64 + 128 + operands;  // Output, work space.
  const Target all = target(2, GetParam(), needed);
  const auto executable = make(all, doubling());
  const Target less = {all.client, std::make_shared<Ledger>(2, needed - 1), nullptr, GetParam()};
  const auto refused = make(less, doubling());

  const LaunchEnd taken = launch(*executable, {0, 1});
  const LaunchEnd end = launch(*refused, {1, 0});

  EXPECT_TRUE(taken.status.ok()) << taken.status.to_string();
  EXPECT_EQ(executable->scratch_bytes(), needed);
  EXPECT_EQ(all.ledger->count(1).peak_bytes, needed);
  EXPECT_EQ(all.ledger->count(1).bytes, 0u);
  EXPECT_EQ(end.status,
            resource_exhausted("device 1 of the plugin has " + std::to_string(needed - 1) + " of " +
                               std::to_string(needed - 1) + " bytes left, and a gang needs " +
                               std::to_string(needed) + ": raise device_memory"));
  EXPECT_EQ(end.refused, 0u);
}

TEST_P(PjrtExecutableTest, ChecksWhatItIsGivenBeforeItCalls) {
  const Target all = target(2, GetParam());
  const auto spanning = make(all, summing());
  function::TestBuffer x(16, 2);
  const function::ShardedBuffer here = x.view(), nowhere = {};
  const std::size_t before = fake().calls(abi::Call::kLoadedExecutableExecute);
  const auto status = [&](std::span<const function::ShardedBuffer> in,
                          std::span<const function::ShardedBuffer> out,
                          const std::vector<std::uint32_t>& devices) {
    WaitsFor waits_for = 0;
    return spanning->launch(in, out, devices, waits_for).status.message();
  };

  EXPECT_EQ(status({}, {&here, 1}, {0, 1}), "function test: 0 operands, where it has 1");
  EXPECT_EQ(status({&here, 1}, {}, {0, 1}), "function test: 0 outputs, where it has 1");
  EXPECT_EQ(status({&nowhere, 1}, {&here, 1}, {0, 1}), "function test: operand 0 is nowhere");
  EXPECT_EQ(status({&here, 1}, {&nowhere, 1}, {0, 1}), "function test: output 0 is nowhere");
  EXPECT_EQ(status({&here, 1}, {&here, 1}, {0}), "function test: 1 shards, where it spans 2");
  EXPECT_EQ(status({&here, 1}, {&here, 1}, {0, 2}), "function test: device 2 of 2");
  EXPECT_EQ(fake().calls(abi::Call::kLoadedExecutableExecute), before);
}

TEST_P(PjrtExecutableTest, IsNotCompiledForMoreDevicesThanThereAre) {
  const Status status = PjrtExecutable::compile(target(1, GetParam()), summing(), kTwo).status();

  EXPECT_EQ(status, invalid_argument(std::string("function test spans 2 devices, and plugin ") +
                                     SEAWAY_FAKE_PLUGIN + " has 1 here"));
}

TEST_P(PjrtExecutableTest, IsNotCompiledOfAGraphThatDoesNotValidate) {
  function::Graph graph = doubling();
  graph.outputs = {99};

  const Status status = PjrtExecutable::compile(target(1, GetParam()), graph, {}).status();

  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(fake().calls(abi::Call::kClientCompile), 0u);
}

TEST_P(PjrtExecutableTest, FailsToCompileWithTheNameOfTheFunction) {
  const Target all = target(1, GetParam());
  for (const abi::Call call :
       {abi::Call::kClientCompile, abi::Call::kLoadedExecutableGetExecutable,
        abi::Call::kExecutableNumOutputs, abi::Call::kExecutableOutputElementTypes,
        abi::Call::kExecutableOutputDimensions}) {
    fake().fail(call, 1, abi::ErrorCode::kInvalidArgument, "what is this");

    const Status status = PjrtExecutable::compile(all, doubling(), {}).status();

    EXPECT_EQ(status, invalid_argument(std::string("function test does not compile on plugin ") +
                                       SEAWAY_FAKE_PLUGIN + ": what is this"));
  }
}

TEST_P(PjrtExecutableTest, IsRefusedWhenThePluginMadeSomethingElse) {
  const Target all = target(1, GetParam());
  fake().lie_about_types();

  const Status status = PjrtExecutable::compile(all, doubling(), {}).status();

  EXPECT_EQ(status.code(), StatusCode::kProtocolError);
  EXPECT_NE(status.message().find("gives f32[4,1], and the function f32[4]"), std::string::npos)
      << status.to_string();
}

TEST_P(PjrtExecutableTest, TakesNoOutputOfAnotherSize) {
  const Target all = target(1, GetParam());
  const auto executable = make(all, doubling());
  fake().lie_about_sizes();

  const LaunchEnd end = launch(*executable, {0});

  EXPECT_EQ(end.status.code(), StatusCode::kProtocolError);
  EXPECT_NE(end.status.message().find("gives 17 bytes for an output of 16"), std::string::npos)
      << end.status.to_string();
}

class ExecutableCacheTest : public FakePluginTest {
 protected:
  Target cached_target() {
    Target one = target(2);
    one.cache = std::make_shared<ExecutableCache>(disk_, "test");
    return one;
  }
  std::size_t compilations() { return fake().calls(abi::Call::kClientCompile); }
  /// What `change` leaves of each file of the cache.
  void damage(const std::function<std::string(std::string)>& change) {
    for (const auto& entry : std::filesystem::directory_iterator(directory_.path())) {
      const std::string name = entry.path().filename().string();
      auto file = disk_.open(name, OpenMode::kExisting).value();
      const auto bytes = file->read(0, file->size().value()).value();
      const std::string changed =
          change({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
      ASSERT_TRUE(disk_.remove(name).ok());
      file = disk_.open(name, OpenMode::kNew).value();
      ASSERT_TRUE(file->append(std::as_bytes(std::span(changed))).ok());
    }
  }

  TemporaryDirectory directory_;
  RealDisk disk_{directory_.path()};
};

TEST_F(ExecutableCacheTest, SavesTheSecondCompilation) {
  const Target one = cached_target();
  known().add(doubling(), {});
  known().add(summing(), kTwo);
  ASSERT_TRUE(PjrtExecutable::compile(one, doubling(), {}).ok());
  ASSERT_TRUE(PjrtExecutable::compile(one, summing(), kTwo).ok());
  ASSERT_EQ(compilations(), 2u);

  const auto again = PjrtExecutable::compile(one, summing(), kTwo).value();
  function::TestRun run(again, 2);
  run.operand(0).set<float>(0, {1, 2, 3, 4});
  run.operand(0).set<float>(1, {1, 1, 1, 1});
  run.run();

  EXPECT_EQ(compilations(), 2u);
  EXPECT_EQ(run.output(0).get<float>(1), (std::vector<float>{2, 3, 4, 5}));
}

TEST_F(ExecutableCacheTest, IgnoresAndWritesAnewWhatIsDamaged) {
  const Target one = cached_target();
  const std::vector<std::function<std::string(std::string)>> damages = {
      [](std::string bytes) { return bytes.substr(0, bytes.size() - 1); },
      [](std::string bytes) { return bytes + "x"; },
      [](std::string bytes) { return bytes.back() ^= 1, bytes; },
      [](std::string bytes) { return bytes[40] ^= 1, bytes; },
      [](std::string bytes) { return bytes[0] ^= 1, bytes; },
      [](std::string) { return std::string("short"); },
      [](std::string) { return std::string(); },
  };
  ASSERT_TRUE(PjrtExecutable::compile(one, doubling(), {}).ok());
  std::size_t expected = 1;
  for (const auto& change : damages) {
    damage(change);

    ASSERT_TRUE(PjrtExecutable::compile(one, doubling(), {}).ok());
    ASSERT_TRUE(PjrtExecutable::compile(one, doubling(), {}).ok());

    EXPECT_EQ(compilations(), ++expected);
  }
}

TEST_F(ExecutableCacheTest, CompilesWhatThePluginDoesNotLoad) {
  const Target one = cached_target();
  ASSERT_TRUE(PjrtExecutable::compile(one, doubling(), {}).ok());
  fake().fail(abi::Call::kExecutableDeserializeAndLoad, 1, abi::ErrorCode::kInvalidArgument, "old");

  EXPECT_TRUE(PjrtExecutable::compile(one, doubling(), {}).ok());
  EXPECT_EQ(compilations(), 2u);
}

TEST_F(ExecutableCacheTest, IsNotNeeded) {
  Target one = target(2);
  RealDisk nowhere("/nowhere/at/all");
  one.cache = std::make_shared<ExecutableCache>(nowhere, "test");
  fake().fail(abi::Call::kExecutableSerialize, 2, abi::ErrorCode::kUnimplemented, "never");

  EXPECT_TRUE(PjrtExecutable::compile(one, doubling(), {}).ok());
  EXPECT_TRUE(PjrtExecutable::compile(one, doubling(), {}).ok());
}

TEST_F(ExecutableCacheTest, TellsKeysOfOneFileApart) {
  ExecutableCache cache(disk_, "test");
  ASSERT_TRUE(cache.keep("key", "program").ok());

  EXPECT_EQ(cache.find("key"), "program");
  EXPECT_EQ(cache.find("another"), std::nullopt);
  EXPECT_NE(ExecutableCache::file_of("key"), ExecutableCache::file_of("another"));

  std::filesystem::rename(directory_.path() + "/" + ExecutableCache::file_of("key"),
                          directory_.path() + "/" + ExecutableCache::file_of("another"));
  EXPECT_EQ(cache.find("another"), std::nullopt);
}

TEST_F(ExecutableCacheTest, KeepsNothingThatIsTooLarge) {
  ExecutableCache cache(disk_, "test", {.entry_bytes_max = 3});

  EXPECT_EQ(cache.keep("key", "four"),
            resource_exhausted("a compiled program of 4 bytes is not kept: at most 3 are, by "
                               "ExecutableCache::Limits::entry_bytes_max"));
  EXPECT_TRUE(cache.keep("key", "six").ok());
}

}  // namespace
}  // namespace seaway::pjrt
