// Operations that move, pick and reduce elements.

#include <limits>
#include <numeric>

#include "unit/function/cpu_testing.hpp"

namespace seaway::function {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<std::int32_t>;

Ints counting(std::size_t count) {
  Ints values(count);
  std::iota(values.begin(), values.end(), 0);
  return values;
}

TEST(CpuShape, TransposesAnyRank) {
  TestGraph b;
  const ValueId x = b.parameter(i32({2, 3, 4})), m = b.parameter(i32({50, 33}));
  const ValueId turned =
      b.add({.op = Op::kTranspose, .type = i32({4, 2, 3}), .operands = {x}, .dims = {2, 0, 1}});
  const ValueId flat =
      b.add({.op = Op::kTranspose, .type = i32({33, 50}), .operands = {m}, .dims = {1, 0}});
  TestRun run(b.build({turned, flat}), {}, 1);
  run.operand(0).set(0, counting(24));
  run.operand(1).set(0, counting(50 * 33));

  run.run();

  const Ints result = run.output(0).get<std::int32_t>(0);
  for (std::int32_t i = 0; i < 4; ++i) {
    for (std::int32_t j = 0; j < 2; ++j) {
      for (std::int32_t k = 0; k < 3; ++k) {
        EXPECT_EQ(result[std::size_t(i * 6 + j * 3 + k)], j * 12 + k * 4 + i);
      }
    }
  }
  const Ints matrix = run.output(1).get<std::int32_t>(0);
  for (std::int32_t i = 0; i < 33; ++i) {
    for (std::int32_t j = 0; j < 50; ++j) EXPECT_EQ(matrix[std::size_t(i * 50 + j)], j * 33 + i);
  }
}

TEST(CpuShape, SlicesWithStridesAndConcatenates) {
  TestGraph b;
  const ValueId x = b.parameter(i32({4, 6}));
  Instruction slice{.op = Op::kSlice, .type = i32({2, 2}), .operands = {x}};
  slice.starts = {1, 0};
  slice.limits = {4, 6};
  slice.strides = {2, 3};
  const ValueId part = b.add(slice);
  const ValueId beside =
      b.add({.op = Op::kConcatenate, .type = i32({2, 4}), .operands = {part, part}, .dims = {1}});
  const ValueId below =
      b.add({.op = Op::kConcatenate, .type = i32({4, 2}), .operands = {part, part}, .dims = {0}});
  TestRun run(b.build({part, beside, below}), {}, 1);
  run.operand(0).set(0, counting(24));

  run.run();

  EXPECT_EQ(run.output(0).get<std::int32_t>(0), (Ints{6, 9, 18, 21}));
  EXPECT_EQ(run.output(1).get<std::int32_t>(0), (Ints{6, 9, 6, 9, 18, 21, 18, 21}));
  EXPECT_EQ(run.output(2).get<std::int32_t>(0), (Ints{6, 9, 18, 21, 6, 9, 18, 21}));
}

TEST(CpuShape, LaysBroadcastsOutWhenSomebodyNeedsThem) {
  TestGraph b;
  const ValueId x = b.parameter(i32({2, 1})), scalar = b.parameter(i32({}));
  const auto broadcast = [&](ValueId value, TensorType type, std::vector<std::int64_t> dims) {
    return b.add({.op = Op::kBroadcastInDim,
                  .type = std::move(type),
                  .operands = {value},
                  .dims = std::move(dims)});
  };
  const ValueId wide = broadcast(x, i32({2, 3}), {0, 1});
  const ValueId middle = broadcast(x, i32({2, 2, 2}), {1, 2});
  const ValueId filled = broadcast(scalar, i32({2, 2}), {});
  const ValueId first = broadcast(x, i32({1, 2, 1}), {1, 2});
  TestRun run(b.build({wide, middle, filled, first}), {}, 1);
  run.operand(0).set<std::int32_t>(0, {5, 6});
  run.operand(1).set<std::int32_t>(0, {9});

  run.run();

  EXPECT_EQ(run.output(0).get<std::int32_t>(0), (Ints{5, 5, 5, 6, 6, 6}));
  EXPECT_EQ(run.output(1).get<std::int32_t>(0), (Ints{5, 5, 6, 6, 5, 5, 6, 6}));
  EXPECT_EQ(run.output(2).get<std::int32_t>(0), Ints(4, 9));
  EXPECT_EQ(run.output(3).get<std::int32_t>(0), (Ints{5, 6}));
}

TEST(CpuShape, CountsAlongADimension) {
  TestGraph b;
  const ValueId rows = b.add({.op = Op::kIota, .type = i32({2, 3}), .dims = {0}});
  const ValueId columns = b.add({.op = Op::kIota, .type = f32({2, 3}), .dims = {1}});
  TestRun run(b.build({rows, columns}), {}, 1);

  run.run();

  EXPECT_EQ(run.output(0).get<std::int32_t>(0), (Ints{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(run.output(1).get<float>(0), (Floats{0, 1, 2, 0, 1, 2}));
}

TEST(CpuShape, GathersAndScattersRowsWithClampedIndices) {
  TestGraph b;
  const ValueId table = b.parameter(f32({3, 2})), indices = b.parameter(i32({4}));
  const ValueId gathered = b.op(Op::kGatherRows, f32({4, 2}), {table, indices});
  const ValueId zeros = b.constant(f32({3, 2}), 0);
  const ValueId scattered = b.op(Op::kScatterAddRows, f32({3, 2}), {zeros, indices, gathered});
  TestRun run(b.build({gathered, scattered}), {}, 1);
  run.operand(0).set<float>(0, {1, 2, 3, 4, 5, 6});
  run.operand(1).set<std::int32_t>(0, {2, -5, 1, 99});

  run.run();

  EXPECT_EQ(run.output(0).get<float>(0), (Floats{5, 6, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(run.output(1).get<float>(0), (Floats{1, 2, 3, 4, 10, 12}));
}

TEST(CpuShape, ReducesAnyDimensions) {
  for (const Reduce kind : {Reduce::kSum, Reduce::kMax}) {
    for (const std::vector<std::int64_t>& dims : std::vector<std::vector<std::int64_t>>{
             {0}, {1}, {2}, {0, 1}, {1, 2}, {0, 2}, {0, 1, 2}, {}}) {
      const Shape shape = {3, 40, 5};
      Shape result;
      for (std::int64_t d = 0; d < 3; ++d) {
        if (std::find(dims.begin(), dims.end(), d) == dims.end()) {
          result.push_back(shape[std::size_t(d)]);
        }
      }
      TestGraph b;
      const ValueId x = b.parameter({DType::kF32, shape});
      Instruction reduce{
          .op = Op::kReduce, .type = {DType::kF32, result}, .operands = {x}, .dims = dims};
      reduce.reduce = kind;
      TestRun run(b.build({b.add(std::move(reduce))}), {}, 1);
      Floats values(600);
      for (std::size_t i = 0; i < 600; ++i) values[i] = static_cast<float>(i * 37 % 101) - 50;
      run.operand(0).set(0, values);

      run.run();

      Floats expected(static_cast<std::size_t>(element_count(result)),
                      kind == Reduce::kSum ? 0 : -1000);
      for (std::int64_t i = 0; i < 600; ++i) {
        const std::int64_t index[] = {i / 200, i / 5 % 40, i % 5};
        std::int64_t at = 0;
        for (std::int64_t d = 0; d < 3; ++d) {
          if (std::find(dims.begin(), dims.end(), d) == dims.end()) {
            at = at * shape[std::size_t(d)] + index[d];
          }
        }
        float& slot = expected[std::size_t(at)];
        const float value = values[std::size_t(i)];
        slot = kind == Reduce::kSum ? slot + value : std::max(slot, value);
      }
      EXPECT_EQ(run.output(0).get<float>(0), expected);
    }
  }
}

TEST(CpuShape, FindsTheFirstLargestAndCountsNanAsLargest) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  TestGraph b;
  const ValueId x = b.parameter(f32({3, 4}));
  Instruction by_row{.op = Op::kReduce, .type = i32({3}), .operands = {x}, .dims = {1}};
  by_row.reduce = Reduce::kArgmax;
  Instruction by_column{.op = Op::kReduce, .type = i32({4}), .operands = {x}, .dims = {0}};
  by_column.reduce = Reduce::kArgmax;
  const ValueId rows = b.add(std::move(by_row)), columns = b.add(std::move(by_column));
  TestRun run(b.build({rows, columns}), {}, 1);
  run.operand(0).set<float>(0, {1, 5, 5, 2, 9, nan, 3, nan, -1, -1, -2, -1});

  run.run();

  EXPECT_EQ(run.output(0).get<std::int32_t>(0), (Ints{1, 1, 0}));
  EXPECT_EQ(run.output(1).get<std::int32_t>(0), (Ints{1, 1, 0, 1}));
}

TEST(CpuShape, PassesNanThroughTheMaximum) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  TestGraph b;
  const ValueId x = b.parameter(f32({2, 50}));
  Instruction max{.op = Op::kReduce, .type = f32({2}), .operands = {x}, .dims = {1}};
  max.reduce = Reduce::kMax;
  TestRun run(b.build({b.add(std::move(max))}), {}, 1);
  Floats values(100, 1);
  values[17] = nan;
  run.operand(0).set(0, values);

  run.run();

  EXPECT_TRUE(run.output(0).get<float>(0)[0] != run.output(0).get<float>(0)[0]);
  EXPECT_EQ(run.output(0).get<float>(0)[1], 1);
}

}  // namespace
}  // namespace seaway::function
