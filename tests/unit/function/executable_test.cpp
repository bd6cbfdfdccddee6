// Executables: the reference interpreter behind buffers, and the user's own C++.

#include "function/executable.hpp"

#include <cstring>
#include <stdexcept>

#include "unit/function/evaluate.hpp"

namespace seaway::function {
namespace {

using In = std::span<const Tensor>;

TEST(ReferenceExecutable, RunsAllShardsAndMayOverwriteADonatedOperand) {
  const AxisSizes axes = {{"x", 2}};
  const std::vector<TensorType> types = {i32({2})};
  const Graph graph = capture("sum", axes, types, [](In x) {
                        return std::vector<Tensor>{all_reduce(x[0], "x")};
                      }).value();
  const auto executable = compile_reference(graph, axes).value();
  alignas(64) std::int32_t room[32] = {1, 2};
  room[16] = 10;
  room[17] = 20;
  const ShardedBuffer buffer{reinterpret_cast<std::byte*>(room), 64};

  const Status status = executable->run({{buffer}}, {{buffer}}, {}, 2, nullptr);

  EXPECT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(room[0], 11);
  EXPECT_EQ(room[17], 22);
  EXPECT_EQ(executable->output_types()[0], i32({2}));
  EXPECT_EQ(executable->scratch_bytes(), 0u);
  EXPECT_GT(executable->cost_ns(), 0u);
  EXPECT_EQ(executable->run({{buffer}}, {{buffer}}, {}, 3, nullptr).message(),
            "function 'sum' is made for 2 shards, not 3");
  EXPECT_EQ(executable->run({}, {{buffer}}, {}, 2, nullptr).message(),
            "function 'sum' takes 1 operands and gives 1 outputs, not 0 and 1");
}

TEST(ReferenceExecutable, IsNotMadeFromAGraphThatDoesNotValidate) {
  EXPECT_EQ(compile_reference({.name = "g", .outputs = {0}}, {}).status().message(),
            "function 'g': output %0 does not exist; there are 0 values");
}

NativeFunction doubling() {
  return {.name = "doubling",
          .parameters = {f32({})},
          .outputs = {f32({})},
          .scratch_bytes = 10,
          .body = [](std::span<const std::byte* const> in, std::span<std::byte* const> out,
                     std::byte* scratch) -> Status {
            if (!scratch) return invalid_argument("no scratch");
            float x = 0;
            std::memcpy(&x, in[0], sizeof x);
            if (x < 0) throw std::runtime_error("negative");
            if (x > 100) return invalid_argument("too large");
            x *= 2;
            std::memcpy(out[0], &x, sizeof x);
            return {};
          }};
}

/// Runs `native` on two shards that hold `first` and `second`.
Status run_two(const NativeFunction& native, float first, float second, float* results) {
  alignas(64) float in[32] = {first};
  in[16] = second;
  alignas(64) float out[32] = {};
  alignas(64) std::byte scratch[128];
  const ShardedBuffer operand{reinterpret_cast<std::byte*>(in), 64};
  const ShardedBuffer output{reinterpret_cast<std::byte*>(out), 64};
  const Status status =
      make_native(native)->run({{operand}}, {{output}}, {scratch, 64}, 2, nullptr);
  results[0] = out[0];
  results[1] = out[16];
  return status;
}

TEST(NativeFunction, RunsOncePerShard) {
  float results[2];

  EXPECT_TRUE(run_two(doubling(), 3, 4, results).ok());
  EXPECT_EQ(results[0], 6);
  EXPECT_EQ(results[1], 8);
  EXPECT_EQ(make_native(doubling())->scratch_bytes(), 64u);
  EXPECT_EQ(make_native({.cost_ns = 0})->cost_ns(), 1u);
}

TEST(NativeFunction, WhatItThrowsOrReturnsIsAUserFunctionError) {
  float results[2];
  NativeFunction strange = doubling();
  strange.body = [](auto, auto, auto) -> Status { throw 7; };
  NativeFunction hollow = doubling();
  hollow.body = nullptr;

  const Status thrown = run_two(doubling(), 1, -1, results);
  const Status returned = run_two(doubling(), 101, 1, results);

  EXPECT_EQ(thrown.to_string(),
            "USER_FUNCTION_ERROR: native function 'doubling' on shard 1 threw: negative");
  EXPECT_EQ(returned.to_string(),
            "USER_FUNCTION_ERROR: native function 'doubling' on shard 0 failed: "
            "INVALID_ARGUMENT: too large");
  EXPECT_EQ(run_two(strange, 1, 1, results).message(),
            "native function 'doubling' on shard 0 threw something that is no std::exception");
  EXPECT_EQ(run_two(hollow, 1, 1, results).message(),
            "native function 'doubling' on shard 0 has no body");
  EXPECT_EQ(make_native(doubling())->run({}, {}, {}, 1, nullptr).message(),
            "native function 'doubling' takes 1 operands and gives 1 outputs, not 0 and 0");
}

}  // namespace
}  // namespace seaway::function
