// Short programs on a client of their own: which ones, and what both clients share.

#include "base/real_disk.hpp"
#include "unit/pjrt/fake_fixture.hpp"

namespace seaway::pjrt {
namespace {

class PjrtNarrowTest : public FakePluginTest {
 protected:
  PjrtNarrowTest() : target_(target(2)) {
    target_.narrow = Client::make(plugin(), 2).value();
    fake().describe_as(9, 1e6);
  }
  std::shared_ptr<const PjrtExecutable> compile(const function::Graph& graph,
                                                const function::AxisSizes& axes = {}) {
    known().add(graph, axes);
    return PjrtExecutable::compile(target_, graph, axes).value();
  }
  bool is_narrow(const PjrtExecutable& executable) {
    return &executable.client() == target_.narrow.get();
  }
  /// Of one device, which keeps what it makes.
  static LaunchEnd launch(const PjrtExecutable& executable, function::ShardedBuffer in) {
    function::TestBuffer room(in.stride, 1);
    const function::ShardedBuffer out = room.view();
    const std::vector<std::uint32_t> devices = {0};
    WaitsFor waits_for = 0;
    return executable.launch({&in, 1}, {&out, 1}, devices, waits_for, {.outputs = true});
  }
  static std::vector<float> value(const LaunchEnd& end) {
    const auto* const first = reinterpret_cast<const float*>(end.made.at(0).base);
    return {first, first + 4};
  }
  std::size_t compilations() { return fake().calls(abi::Call::kClientCompile); }

  Target target_;
};

/// x + x + x + ...: a program of a long text.
function::Graph long_sum() {
  function::TestGraph graph;
  const auto x = graph.parameter(f32({4}));
  auto sum = x;
  for (int i = 0; i < 1000; ++i) sum = graph.same(function::Op::kAdd, {sum, x});
  return graph.build({sum});
}

TEST_F(PjrtNarrowTest, AShortProgramRunsThere) {
  function::TestBuffer x(16, 1);
  x.set<float>(0, {1, 2, 3, 4});

  const auto executable = compile(doubling());

  EXPECT_TRUE(is_narrow(*executable));
  EXPECT_EQ(compilations(), 1u);
  EXPECT_EQ(value(launch(*executable, x.view())), (std::vector<float>{2, 4, 6, 8}));
}

TEST_F(PjrtNarrowTest, OneThatTakesLongOrMuchRoomOrSpansDevicesRunsOnAll) {
  fake().describe_as(9, 1e7);
  EXPECT_TRUE(is_narrow(*compile(doubling())));
  fake().describe_as(9, 1.1e7);
  EXPECT_FALSE(is_narrow(*compile(doubling())));
  fake().describe_as(9, 1e6);
  function::TestGraph large;
  const auto x = large.parameter(f32({400'000}));
  EXPECT_FALSE(is_narrow(*compile(large.build({large.same(function::Op::kAdd, {x, x})}))));
  EXPECT_FALSE(is_narrow(*compile(summing(), {{"a", 2}})));
}

TEST_F(PjrtNarrowTest, OneThatLooksAsItIsNotIsCompiledAnew) {
  fake().describe_as(9, 2e7);
  EXPECT_FALSE(is_narrow(*compile(doubling())));
  EXPECT_EQ(compilations(), 2u);
  fake().describe_as(9, 1e6);
  const auto executable = compile(long_sum());
  EXPECT_TRUE(is_narrow(*executable));
  EXPECT_EQ(compilations(), 4u);
  EXPECT_EQ(executable->device_lists(), 1u);
}

TEST_F(PjrtNarrowTest, OneOfFewKernelsThatLooksAsItIsNotStaysWhereItIs) {
  fake().describe_as(8, 1e6);

  EXPECT_FALSE(is_narrow(*compile(long_sum())));
  EXPECT_EQ(compilations(), 1u);
}

TEST_F(PjrtNarrowTest, WhereThereIsNoSuchClientAllRunOnTheOnlyOne) {
  target_.narrow = nullptr;

  const auto executable = compile(doubling());

  EXPECT_EQ(&executable->client(), target_.client.get());
  EXPECT_EQ(compilations(), 1u);
}

TEST_F(PjrtNarrowTest, WhatDoesNotCompileAnewStaysWhereItDid) {
  function::TestBuffer x(16, 1);
  x.set<float>(0, {1, 2, 3, 4});
  fake().describe_as(9, 2e7);
  fake().fail(abi::Call::kClientCompile, 2, abi::ErrorCode::kInternal, "not that one");

  const auto executable = compile(doubling());

  EXPECT_EQ(compilations(), 2u);
  EXPECT_TRUE(is_narrow(*executable));
  EXPECT_EQ(value(launch(*executable, x.view())), (std::vector<float>{2, 4, 6, 8}));
}

TEST_F(PjrtNarrowTest, BothCodesAreKeptForTheNextProcess) {
  const TemporaryDirectory directory;
  RealDisk disk(directory.path());
  target_.cache = std::make_shared<ExecutableCache>(disk, "me");

  ASSERT_TRUE(is_narrow(*compile(long_sum())));
  const std::size_t compiled = compilations();
  const auto again = compile(long_sum());

  EXPECT_EQ(compiled, 2u);
  EXPECT_EQ(compilations(), 2u);
  EXPECT_TRUE(is_narrow(*again));
}

TEST_F(PjrtNarrowTest, EachReadsWhatTheOtherHasMade) {
  const auto narrow = compile(doubling());
  target_.narrow = nullptr;
  const auto wide = compile(doubling());
  function::TestBuffer x(16, 1);
  x.set<float>(0, {1, 2, 3, 4});

  const LaunchEnd first = launch(*narrow, x.view());
  const LaunchEnd second = launch(*wide, {first.made.at(0).base, 16});
  const LaunchEnd third = launch(*narrow, {second.made.at(0).base, 16});

  EXPECT_EQ(value(third), (std::vector<float>{8, 16, 24, 32}));
}

TEST_F(PjrtNarrowTest, NoneIsEnqueuedOnWhatTheOtherIsStillToMake) {
  const auto narrow = compile(doubling());
  target_.narrow = nullptr;
  const auto wide = compile(doubling());
  function::TestBuffer x(16, 1), y(16, 1);
  x.set<float>(0, {1, 2, 3, 4});
  const std::vector<function::ShardedBuffer> in = {x.view()}, nowhere(1), out = {y.view()};
  const std::vector<std::uint32_t> devices = {0};

  const auto first = narrow->enqueue(in, devices, {});
  const std::vector<PjrtExecutable::Made> made = {{.by = first.get()}};
  const auto behind = wide->enqueue(nowhere, devices, made);
  const auto alike = narrow->enqueue(nowhere, devices, made);

  EXPECT_EQ(behind, nullptr);
  ASSERT_NE(alike, nullptr);
  narrow->abandon(*first);
  narrow->abandon(*alike);
}

}  // namespace
}  // namespace seaway::pjrt
