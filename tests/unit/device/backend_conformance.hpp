// What all backends promise, as one suite: each room with a backend runs it on its own.

#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "unit/device/backend_world.hpp"
#include "unit/function/random_graph.hpp"

namespace seaway::device {

using MakeBackendWorld = std::function<std::unique_ptr<BackendWorld>()>;

struct NamedBackend {
  std::string name;
  MakeBackendWorld make;
};

class BackendConformance : public ::testing::TestWithParam<NamedBackend> {
 protected:
  BackendConformance() : world_(GetParam().make()) {}
  BackendWorld& world() { return *world_; }

 private:
  std::unique_ptr<BackendWorld> world_;
};

TEST_P(BackendConformance, GivesTheReferencesValues) {
  const std::vector<function::AxisSizes> meshes = {{{"a", 1}}, {{"a", 2}}, {{"a", 2}, {"b", 2}}};
  for (std::uint64_t seed = 1; seed <= 15; ++seed) {
    const function::AxisSizes& axes = meshes[seed % meshes.size()];
    const auto shards = static_cast<std::size_t>(function::shard_count(axes));
    const function::Graph graph = function::RandomGraph(seed, axes).build();
    function::TestRun expected(function::compile_reference(graph, axes).value(), shards);
    const auto executable = world().compile(graph, axes);
    ASSERT_TRUE(executable.ok()) << executable.to_string();
    std::vector<DeviceId> devices;
    for (std::size_t s = 0; s < shards; ++s) devices.push_back(static_cast<DeviceId>(3 - s));
    ConformingGang gang(*executable, devices);
    fill(expected, seed, shards);
    fill(gang.buffers(), seed, shards);
    expected.run();

    const GangEnd end = gang.run(world());

    ASSERT_TRUE(end.status.ok()) << end.status.to_string();
    EXPECT_FALSE(end.unlaunched_on);
    EXPECT_LE(end.begin_ns, end.end_ns);
    for (std::size_t o = 0; o < graph.outputs.size(); ++o) {
      for (std::size_t s = 0; s < shards; ++s) {
        expect_equal(gang.buffers().output(o), expected.output(o), graph.output_type(o), s,
                     "seed " + std::to_string(seed));
        EXPECT_TRUE(gang.buffers().output(o).is_canary_alive(s));
      }
    }
  }
}

TEST_P(BackendConformance, WritesAnOutputOverTheOperandThatItMayReplace) {
  function::TestGraph graph;
  const auto x = graph.parameter(f32({40, 12}));
  const auto y = graph.parameter(f32({40, 12}));
  const auto sum = graph.same(function::Op::kAdd, {x, y});
  const auto made = world().compile(graph.build({sum}), {});
  ASSERT_TRUE(made.ok()) << made.to_string();
  ASSERT_FALSE((*made)->in_place().empty());
  const auto [output, operand] = (*made)->in_place()[0];
  ConformingGang gang(*made, {2, 0});
  const std::vector<float> threes(480, 3);
  for (std::size_t s = 0; s < 2; ++s) {
    gang.buffers().operand(0).set(s, threes);
    gang.buffers().operand(1).set(s, threes);
  }
  gang.overwrite(output, operand);

  const GangEnd end = gang.run(world());

  EXPECT_TRUE(end.status.ok()) << end.status.to_string();
  for (std::size_t s = 0; s < 2; ++s) {
    EXPECT_EQ(gang.buffers().operand(operand).get<float>(s), std::vector<float>(480, 6));
    EXPECT_EQ(gang.buffers().operand(1 - operand).get<float>(s), threes);
  }
}

TEST_P(BackendConformance, RefusesAGraphThatDoesNotValidate) {
  function::TestGraph graph;
  graph.parameter(f32({4}));

  const auto made = world().compile(graph.build({99}), {});

  EXPECT_EQ(made.status().code(), StatusCode::kInvalidArgument) << made.to_string();
}

TEST_P(BackendConformance, RunsUsersOwnFunctionsAndTellsTheirErrors) {
  function::NativeFunction native{.name = "halve", .parameters = {f32({1})}, .outputs = {f32({1})}};
  native.body = [](const auto& in, const auto& out, std::byte*) -> Status {
    float number = 0;
    std::memcpy(&number, in[0], sizeof number);
    if (number < 0) return user_function_error("less than nothing");
    number /= 2;
    std::memcpy(out[0], &number, sizeof number);
    return {};
  };
  const auto executable = function::make_native(native);
  ConformingGang good(executable, {1, 2}), bad(executable, {1, 2});
  for (std::size_t s = 0; s < 2; ++s) {
    good.buffers().operand(0).set<float>(s, {8});
    bad.buffers().operand(0).set<float>(s, {s == 0 ? 8.0f : -8.0f});
  }

  const GangEnd well = good.run(world()), badly = bad.run(world());

  EXPECT_TRUE(well.status.ok()) << well.status.to_string();
  EXPECT_EQ(good.buffers().output(0).get<float>(1), std::vector<float>{4});
  EXPECT_EQ(badly.status.code(), StatusCode::kUserFunctionError);
}

TEST_P(BackendConformance, CopiesOnceAndSaysSoAfterwards) {
  for (const std::uint64_t bytes : {64u, 64u << 20}) {
    std::atomic<int> copies = 0, ends = 0;
    world().on_control([&] {
      world().backend().copy(
          bytes, [&] { ++copies; },
          [&] {
            EXPECT_EQ(copies, 1);
            ++ends;
            world().engine().notify();
          });
    });

    world().wait([&] { return ends > 0; });

    EXPECT_EQ(copies, 1);
    EXPECT_EQ(ends, 1);
  }
}

TEST_P(BackendConformance, SaysThatThereIsProgressBehindEachEnd) {
  function::TestGraph graph;
  const auto x = graph.parameter(f32({4}));

  const auto made = world().compile(graph.build({graph.same(function::Op::kAdd, {x, x})}), {});
  world().on_control([] {});  // Behind what the end was part of.

  ASSERT_TRUE(made.ok()) << made.to_string();
  EXPECT_EQ(world().progress, 1);
}

TEST_P(BackendConformance, MayBeClosedMoreThanOnce) {
  world().backend().close();
  world().backend().close();
}

}  // namespace seaway::device
