// The CPU executable as a whole: collectives, donation, scratch, threads, errors.

#include <atomic>
#include <cmath>

#include "base/random.hpp"
#include "function/tbb_parallelism.hpp"
#include "unit/function/cpu_testing.hpp"

namespace seaway::function {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<std::int32_t>;

Floats random_floats(std::size_t count, std::uint64_t seed) {
  RandomStream random(seed, 1);
  Floats values(count);
  for (float& value : values) value = static_cast<float>(random.between(-1000, 1000)) / 256.0f;
  return values;
}

ValueId dot(TestGraph& b, ValueId lhs, ValueId rhs, DotDims dims, TensorType type) {
  return b.add({.op = Op::kDotGeneral,
                .type = std::move(type),
                .operands = {lhs, rhs},
                .dot = std::move(dims)});
}

TEST(CpuExecutable, AddsOneToTheSumOverAllShards) {
  for (const std::int64_t shards : {1, 2, 3, 8, 13, 512}) {
    TestGraph b;
    const ValueId x = b.parameter(f32({}));
    const ValueId sum =
        b.add({.op = Op::kAllReduce, .type = f32({}), .operands = {x}, .axis = "x"});
    const ValueId y = b.same(Op::kAdd, {sum, b.constant(f32({}), 1)});
    TestRun run(b.build({y}), {{"x", shards}}, static_cast<std::size_t>(shards));
    for (std::size_t s = 0; s < static_cast<std::size_t>(shards); ++s) {
      run.operand(0).set<float>(s, {static_cast<float>(s)});
    }

    run.run();

    const float expected = static_cast<float>(shards * (shards - 1) / 2 + 1);
    for (std::size_t s = 0; s < static_cast<std::size_t>(shards); ++s) {
      EXPECT_EQ(run.output(0).get<float>(s), Floats{expected});
    }
  }
}

TEST(CpuExecutable, KeepsTheGroupsOfANamedAxisApart) {
  const AxisSizes axes = {{"a", 2}, {"b", 3}, {"c", 2}};
  TestGraph b;
  const ValueId x = b.parameter(i32({1}));
  const auto reduce = [&](std::string axis) {
    return b.add({.op = Op::kAllReduce, .type = i32({1}), .operands = {x}, .axis = axis});
  };
  const ValueId over_b = reduce("b"), over_c = reduce("c"), over_a = reduce("a");
  const ValueId gathered =
      b.add({.op = Op::kAllGather, .type = i32({3}), .operands = {x}, .dims = {0}, .axis = "b"});
  const ValueId index = b.add({.op = Op::kAxisIndex, .type = i32({}), .axis = "b"});
  TestRun run(b.build({over_a, over_b, over_c, gathered, index}), axes, 12);
  for (std::int32_t s = 0; s < 12; ++s) run.operand(0).set<std::int32_t>(std::size_t(s), {1 << s});

  run.run();

  for (std::int32_t s = 0; s < 12; ++s) {
    const auto shard = static_cast<std::size_t>(s);
    const std::int32_t a = s / 6, c = s % 2, first = a * 6 + c;
    EXPECT_EQ(run.output(0).get<std::int32_t>(shard), Ints{(1 << s % 6) + (1 << (s % 6 + 6))});
    EXPECT_EQ(run.output(1).get<std::int32_t>(shard), Ints{21 << first});
    EXPECT_EQ(run.output(2).get<std::int32_t>(shard), Ints{3 << (s - c)});
    EXPECT_EQ(run.output(3).get<std::int32_t>(shard), (Ints{1 << first, 4 << first, 16 << first}));
    EXPECT_EQ(run.output(4).get<std::int32_t>(shard), Ints{s / 2 % 3});
  }
}

TEST(CpuExecutable, ScattersSumsAndPermutesAlongAnAxis) {
  TestGraph b;
  const ValueId x = b.parameter(f32({2, 4}));
  const ValueId scattered = b.add(
      {.op = Op::kReduceScatter, .type = f32({2, 2}), .operands = {x}, .dims = {1}, .axis = "x"});
  Instruction permute{.op = Op::kPermute, .type = f32({2, 4}), .operands = {x}, .axis = "x"};
  permute.pairs = {{0, 1}};
  const ValueId permuted = b.add(std::move(permute));
  TestRun run(b.build({scattered, permuted}), {{"x", 2}}, 2);
  run.operand(0).set<float>(0, {1, 2, 3, 4, 5, 6, 7, 8});
  run.operand(0).set<float>(1, {10, 20, 30, 40, 50, 60, 70, 80});

  run.run();

  EXPECT_EQ(run.output(0).get<float>(0), (Floats{11, 22, 55, 66}));
  EXPECT_EQ(run.output(0).get<float>(1), (Floats{33, 44, 77, 88}));
  EXPECT_EQ(run.output(1).get<float>(0), Floats(8, 0.0f));
  EXPECT_EQ(run.output(1).get<float>(1), (Floats{1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(CpuExecutable, TakesACollectiveOverAnAxisOfOneAsTheValueItself) {
  TestGraph b;
  const ValueId x = b.parameter(f32({2}));
  const ValueId sum = b.add({.op = Op::kAllReduce, .type = f32({2}), .operands = {x}, .axis = "x"});
  const ValueId none = b.add({.op = Op::kPermute, .type = f32({2}), .operands = {x}, .axis = "x"});
  const ValueId index = b.add({.op = Op::kAxisIndex, .type = i32({}), .axis = "x"});
  TestRun run(b.build({sum, none, index}), {{"x", 1}}, 1);
  run.operand(0).set<float>(0, {3, 4});

  run.run();

  EXPECT_EQ(run.output(0).get<float>(0), (Floats{3, 4}));
  EXPECT_EQ(run.output(1).get<float>(0), (Floats{0, 0}));
  EXPECT_EQ(run.output(2).get<std::int32_t>(0), Ints{0});
}

TEST(CpuExecutable, MultipliesMatricesInEveryLayout) {
  constexpr std::int64_t kM = 37, kK = 29, kN = 23;
  const Floats lhs = random_floats(kM * kK, 1), rhs = random_floats(kK * kN, 2);
  const auto at = [](const Floats& m, std::int64_t row, std::int64_t column, std::int64_t width) {
    return m[static_cast<std::size_t>(row * width + column)];
  };
  for (const bool lhs_first : {false, true}) {
    for (const bool rhs_last : {false, true}) {
      for (const bool by_transposing : {false, true}) {
        TestGraph b;
        const ValueId x = b.parameter(lhs_first ? f32({kK, kM}) : f32({kM, kK}));
        const ValueId y = b.parameter(rhs_last ? f32({kN, kK}) : f32({kK, kN}));
        ValueId l = x, r = y;
        if (by_transposing) {
          l = b.add({.op = Op::kTranspose,
                     .type = f32({b.type(x).shape[1], b.type(x).shape[0]}),
                     .operands = {x},
                     .dims = {1, 0}});
          r = b.add({.op = Op::kTranspose,
                     .type = f32({b.type(y).shape[1], b.type(y).shape[0]}),
                     .operands = {y},
                     .dims = {1, 0}});
        }
        const std::int64_t lhs_dim = lhs_first != by_transposing ? 0 : 1;
        const std::int64_t rhs_dim = rhs_last != by_transposing ? 1 : 0;
        const ValueId out = dot(b, l, r, {{}, {}, {lhs_dim}, {rhs_dim}}, f32({kM, kN}));
        TestRun run(b.build({out}), {}, 1);
        run.operand(0).set(0, lhs);
        run.operand(1).set(0, rhs);

        run.run();

        const Floats result = run.output(0).get<float>(0);
        for (std::int64_t m = 0; m < kM; ++m) {
          for (std::int64_t n = 0; n < kN; ++n) {
            double sum = 0;
            for (std::int64_t k = 0; k < kK; ++k) {
              sum += double{lhs_first ? at(lhs, k, m, kM) : at(lhs, m, k, kK)} *
                     (rhs_last ? at(rhs, n, k, kK) : at(rhs, k, n, kN));
            }
            EXPECT_NEAR(at(result, m, n, kN), sum, 1e-3);
          }
        }
      }
    }
  }
}

TEST(CpuExecutable, MultipliesVectorsBatchesAndWrapsIntegers) {
  TestGraph b;
  const ValueId x = b.parameter(i32({2, 3}));
  const ValueId batched = dot(b, x, x, {{0}, {0}, {1}, {1}}, i32({2}));
  const ValueId outer = dot(b, x, x, {{}, {}, {0}, {0}}, i32({3, 3}));
  const ValueId v = b.parameter(f32({200}));
  const ValueId m = b.parameter(f32({200, 100}));
  const ValueId left = dot(b, v, m, {{}, {}, {0}, {0}}, f32({100}));
  const ValueId right = dot(b, m, v, {{}, {}, {0}, {0}}, f32({100}));
  const ValueId inner = dot(b, v, v, {{}, {}, {0}, {0}}, f32({}));
  TestRun run(b.build({batched, outer, left, right, inner}), {}, 1);
  run.operand(0).set<std::int32_t>(0, {1 << 30, 2, 3, 4, 5, 6});
  run.operand(1).set<float>(0, Floats(200, 2.0f));
  Floats matrix(200 * 100);
  for (std::size_t i = 0; i < matrix.size(); ++i) matrix[i] = static_cast<float>(i % 100);
  run.operand(2).set(0, matrix);

  run.run();

  EXPECT_EQ(run.output(0).get<std::int32_t>(0), (Ints{13, 77}));
  EXPECT_EQ(run.output(1).get<std::int32_t>(0)[4], 4 + 25);
  for (std::size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(run.output(2).get<float>(0)[i], 400.0f * static_cast<float>(i));
    EXPECT_EQ(run.output(3).get<float>(0)[i], 400.0f * static_cast<float>(i));
  }
  EXPECT_EQ(run.output(4).get<float>(0), Floats{800});
}

TEST(CpuExecutable, MultipliesBatchesOfMatricesWithMixedDimensions) {
  // Attention: [batch, row, head, depth] times [batch, row, head, depth], batched by two
  // dimensions that do not lie together.
  constexpr std::int64_t kB = 2, kT = 5, kH = 3, kD = 16;
  TestGraph b;
  const ValueId q = b.parameter(f32({kB, kT, kH, kD})), k = b.parameter(f32({kB, kT, kH, kD}));
  const ValueId scores = dot(b, q, k, {{0, 2}, {0, 2}, {3}, {3}}, f32({kB, kH, kT, kT}));
  TestRun run(b.build({scores}), {}, 1);
  Floats left(kB * kT * kH * kD), right(left.size());
  for (std::size_t i = 0; i < left.size(); ++i) {
    left[i] = static_cast<float>(i % 7) - 3;
    right[i] = static_cast<float>(i % 5) - 2;
  }
  run.operand(0).set(0, left);
  run.operand(1).set(0, right);

  run.run();

  const Floats result = run.output(0).get<float>(0);
  const auto at = [](const Floats& x, std::int64_t n, std::int64_t t, std::int64_t h,
                     std::int64_t d) {
    return x[static_cast<std::size_t>(((n * kT + t) * kH + h) * kD + d)];
  };
  std::size_t i = 0;
  for (std::int64_t n = 0; n < kB; ++n) {
    for (std::int64_t h = 0; h < kH; ++h) {
      for (std::int64_t t = 0; t < kT; ++t) {
        for (std::int64_t u = 0; u < kT; ++u) {
          float sum = 0;
          for (std::int64_t d = 0; d < kD; ++d) sum += at(left, n, t, h, d) * at(right, n, u, h, d);
          EXPECT_EQ(result[i++], sum);
        }
      }
    }
  }
}

/// A function with all kinds of large steps, for comparisons between ways of running it.
Graph large_function() {
  TestGraph b;
  const ValueId x = b.parameter(f32({512, 96})), w = b.parameter(f32({96, 200}));
  const ValueId bias = b.parameter(f32({200}));
  const ValueId wide =
      b.add({.op = Op::kBroadcastInDim, .type = f32({512, 200}), .operands = {bias}, .dims = {1}});
  const ValueId sum = b.same(Op::kAdd, {dot(b, x, w, {{}, {}, {1}, {0}}, f32({512, 200})), wide});
  const ValueId hidden = b.same(Op::kTanh, {sum});
  const ValueId columns =
      b.add({.op = Op::kReduce, .type = f32({200}), .operands = {hidden}, .dims = {0}});
  const ValueId rows =
      b.add({.op = Op::kReduce, .type = f32({512}), .operands = {hidden}, .dims = {1}});
  const ValueId total =
      b.add({.op = Op::kAllReduce, .type = f32({512, 200}), .operands = {hidden}, .axis = "x"});
  const ValueId turned =
      b.add({.op = Op::kTranspose, .type = f32({200, 512}), .operands = {total}, .dims = {1, 0}});
  const ValueId power = b.same(Op::kExponential, {b.same(Op::kNegate, {turned})});
  return b.build({columns, rows, power});
}

TEST(CpuExecutable, GivesTheSameBitsWhateverTheNumberOfThreads) {
  for (const std::size_t shards : {std::size_t{2}, std::size_t{12}}) {
    const AxisSizes axes = {{"x", static_cast<std::int64_t>(shards)}};
    TestRun alone(large_function(), axes, shards), shared(large_function(), axes, shards);
    for (std::size_t s = 0; s < shards; ++s) {
      const std::size_t sizes[] = {512 * 96, 96 * 200, 200};
      for (std::size_t i = 0; i < 3; ++i) {
        const Floats values = random_floats(sizes[i], s * 3 + i);
        alone.operand(i).set(s, values);
        shared.operand(i).set(s, values);
      }
    }
    alone.run();

    for (const std::size_t threads : {1u, 2u, 4u}) {
      TbbParallelism parallelism(threads);
      shared.run(&parallelism);

      for (std::size_t s = 0; s < shards; ++s) {
        for (std::size_t o = 0; o < 3; ++o) {
          EXPECT_EQ(alone.output(o).get<std::uint32_t>(s), shared.output(o).get<std::uint32_t>(s))
              << "shards " << shards << ", threads " << threads << ", output " << o;
        }
      }
    }
  }
}

TEST(CpuExecutable, RunsConcurrentlyWithItself) {
  // OpenBLAS is serial, and called from several threads at once.
  const AxisSizes axes = {{"x", 1}};
  TestRun expected(large_function(), axes, 1);
  for (std::size_t i = 0; i < 3; ++i) {
    expected.operand(i).set(0, random_floats(expected.operand(i).get<float>(0).size(), i));
  }
  expected.run();
  std::vector<std::unique_ptr<TestRun>> runs;
  for (int i = 0; i < 8; ++i) {
    runs.push_back(std::make_unique<TestRun>(large_function(), axes, 1));
    for (std::size_t o = 0; o < 3; ++o) {
      runs.back()->operand(o).set(0, expected.operand(o).get<float>(0));
    }
  }
  {
    TbbParallelism parallelism(4);
    for (auto& run : runs) {
      parallelism.submit([&run] {
        for (int i = 0; i < 5; ++i) run->run();
      });
    }
  }
  for (auto& run : runs) {
    EXPECT_EQ(run->output(2).get<std::uint32_t>(0), expected.output(2).get<std::uint32_t>(0));
  }
}

TEST(CpuExecutable, UpdatesADonatedOperandInPlace) {
  TestGraph b;
  const ValueId w = b.parameter(f32({100})), g = b.parameter(f32({100}));
  const ValueId step = b.same(Op::kMultiply, {g, b.constant(f32({100}), 0.5)});
  const ValueId out = b.same(Op::kSubtract, {w, step});
  TestRun run(b.build({out}), {}, 1);
  run.operand(0).set(0, Floats(100, 3));
  run.operand(1).set(0, Floats(100, 2));

  run.run_on({run.operand(0).view(), run.operand(1).view()}, {run.operand(0).view()});

  EXPECT_EQ(run.operand(0).get<float>(0), Floats(100, 2));
  EXPECT_EQ(run.executable().scratch_bytes(), 0u);
}

TEST(CpuExecutable, NamesTheOperandsThatItsOutputsMayOverwrite) {
  const auto in_place = [](const Graph& graph) {
    return compile_cpu(graph, {}, test_collectives()).value()->in_place();
  };
  TestGraph sum, product, update;
  sum.same(Op::kAdd, {sum.parameter(f32({4, 4})), sum.parameter(f32({4, 4}))});
  product.add({.op = Op::kDotGeneral,
               .type = f32({4, 4}),
               .operands = {product.parameter(f32({4, 4})), product.parameter(f32({4, 4}))},
               .dot = {.lhs_contract = {1}, .rhs_contract = {0}}});
  // Two outputs, of which the first is written while the second operand is still to be read.
  const ValueId x = update.parameter(f32({8})), y = update.parameter(f32({8}));
  const ValueId total =
      update.add({.op = Op::kReduce, .type = f32({}), .operands = {x}, .dims = {0}});
  const ValueId spread =
      update.add({.op = Op::kBroadcastInDim, .type = f32({8}), .operands = {total}, .dims = {}});
  const ValueId first = update.same(Op::kAdd, {x, spread});
  const ValueId all =
      update.add({.op = Op::kReduce, .type = f32({}), .operands = {first}, .dims = {0}});
  const ValueId wide =
      update.add({.op = Op::kBroadcastInDim, .type = f32({8}), .operands = {all}, .dims = {}});
  const ValueId second = update.same(Op::kMultiply, {y, wide});

  EXPECT_EQ(in_place(sum.build({2})), (OutputOperandPairs{{0, 0}, {0, 1}}));
  EXPECT_EQ(in_place(product.build({2})), OutputOperandPairs{});
  EXPECT_EQ(in_place(update.build({first, second})), (OutputOperandPairs{{0, 0}, {1, 0}, {1, 1}}));
}

TEST(CpuExecutable, KeepsADonatedOperandUntilItsLastReader) {
  // The first output is ready before the second parameter is read for the last time.
  TestGraph b;
  const ValueId x = b.parameter(f32({20})), y = b.parameter(f32({20}));
  const ValueId swapped_sum =
      b.add({.op = Op::kReduce, .type = f32({}), .operands = {x}, .dims = {0}});
  const ValueId spread =
      b.add({.op = Op::kBroadcastInDim, .type = f32({20}), .operands = {swapped_sum}, .dims = {}});
  const ValueId first = b.same(Op::kAdd, {x, spread});
  const ValueId total =
      b.add({.op = Op::kReduce, .type = f32({}), .operands = {first}, .dims = {0}});
  const ValueId all =
      b.add({.op = Op::kBroadcastInDim, .type = f32({20}), .operands = {total}, .dims = {}});
  const ValueId second = b.same(Op::kMultiply, {y, all});
  const Graph graph = b.build({first, second, x, y});
  TestRun apart(graph, {}, 1), donated(graph, {}, 1);
  for (TestRun* run : {&apart, &donated}) {
    run->operand(0).set(0, random_floats(20, 1));
    run->operand(1).set(0, random_floats(20, 2));
  }
  apart.run();

  const ShardedBuffer x_room = donated.operand(0).view(), y_room = donated.operand(1).view();
  donated.run_on({x_room, y_room},
                 {y_room, x_room, donated.output(2).view(), donated.output(3).view()});

  EXPECT_EQ(donated.operand(1).get<float>(0), apart.output(0).get<float>(0));
  EXPECT_EQ(donated.operand(0).get<float>(0), apart.output(1).get<float>(0));
  EXPECT_EQ(donated.output(2).get<float>(0), random_floats(20, 1));
  EXPECT_EQ(donated.output(3).get<float>(0), random_floats(20, 2));
}

TEST(CpuExecutable, SwapsTwoDonatedOperands) {
  TestGraph b;
  const ValueId x = b.parameter(f32({3})), y = b.parameter(f32({3}));
  TestRun run(b.build({y, x}), {}, 1);
  run.operand(0).set<float>(0, {1, 2, 3});
  run.operand(1).set<float>(0, {4, 5, 6});

  run.run_on({run.operand(0).view(), run.operand(1).view()},
             {run.operand(0).view(), run.operand(1).view()});

  EXPECT_EQ(run.operand(0).get<float>(0), (Floats{4, 5, 6}));
  EXPECT_EQ(run.operand(1).get<float>(0), (Floats{1, 2, 3}));
}

TEST(CpuExecutable, GivesParametersConstantsAndRepeatedValuesAsOutputs) {
  TestGraph b;
  const ValueId x = b.parameter(f32({3}));
  const ValueId twice = b.same(Op::kAdd, {x, x});
  const ValueId shaped = b.op(Op::kReshape, f32({3, 1}), {twice});
  const ValueId seven = b.constant(i32({9}), 7), yes = b.constant(boolean({}), 1);
  TestRun run(b.build({x, twice, shaped, twice, seven, yes}), {}, 2);
  run.operand(0).set<float>(0, {1, 2, 3});
  run.operand(0).set<float>(1, {4, 5, 6});

  run.run();

  EXPECT_EQ(run.output(0).get<float>(1), (Floats{4, 5, 6}));
  for (const std::size_t o : {1u, 2u, 3u}) {
    EXPECT_EQ(run.output(o).get<float>(1), (Floats{8, 10, 12}));
  }
  EXPECT_EQ(run.output(4).get<std::int32_t>(1), Ints(9, 7));
  EXPECT_EQ(run.output(5).get<std::uint8_t>(1), std::vector<std::uint8_t>{1});
}

TEST(CpuExecutable, ReadsAParameterThatAllShardsShare) {
  TestGraph b;
  const ValueId x = b.parameter(f32({40})), y = b.parameter(f32({40}));
  TestRun run(b.build({b.same(Op::kSubtract, {x, y})}), {}, 3);
  for (std::size_t s = 0; s < 3; ++s) {
    run.operand(0).set(s, Floats(40, static_cast<float>(s)));
  }
  run.operand(1).set(0, Floats(40, 10));
  ShardedBuffer shared = run.operand(1).view();
  shared.stride = 0;

  run.run_on({run.operand(0).view(), shared}, {run.output(0).view()});

  for (std::size_t s = 0; s < 3; ++s) {
    EXPECT_EQ(run.output(0).get<float>(s), Floats(40, static_cast<float>(s) - 10));
  }
}

TEST(CpuExecutable, ReusesScratchOfDeadValues) {
  // A chain of matrix products needs room for two results, whatever its length.
  TestGraph b;
  const ValueId w = b.parameter(f32({32, 32}));
  ValueId value = w;
  for (int i = 0; i < 10; ++i) {
    value = dot(b, value, w, {{}, {}, {1}, {0}}, f32({32, 32}));
  }
  const auto executable = compile_cpu(b.build({value}), {}, test_collectives()).value();

  EXPECT_EQ(executable->scratch_bytes(), 2u * 32 * 32 * 4);
  EXPECT_GT(executable->cost_ns(), 10u * 2 * 32 * 32 * 32 / 50);
}

TEST(CpuExecutable, CostsAtLeastTwentyNanoseconds) {
  TestGraph b;
  const ValueId x = b.parameter(f32({}));
  const auto executable = compile_cpu(b.build({x}), {}, test_collectives()).value();

  EXPECT_GE(executable->cost_ns(), 20u);
  EXPECT_EQ(executable->parameter_types(), std::vector{f32({})});
  EXPECT_EQ(executable->output_types(), std::vector{f32({})});
}

TEST(CpuExecutable, RefusesAGraphThatDoesNotValidate) {
  TestGraph b;
  const ValueId x = b.parameter(boolean({2}));
  const auto result = compile_cpu(b.build({b.same(Op::kExponential, {x})}), {}, test_collectives());

  EXPECT_EQ(result.status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(result.status().message(), validate(b.build({1}), {}).message());
}

TEST(TbbParallelism, CallsEachIndexOnceAndWaitsForItsJobs) {
  std::vector<std::atomic<int>> calls(1000);
  std::atomic<int> jobs{0};
  {
    TbbParallelism parallelism(2);
    EXPECT_EQ(parallelism.threads(), 2u);
    parallelism.parallel_for(calls.size(), [&calls](std::size_t i) { ++calls[i]; });
    for (int i = 0; i < 20; ++i) {
      parallelism.submit(
          [&parallelism, &jobs] { parallelism.parallel_for(3, [&jobs](std::size_t) { ++jobs; }); });
    }
  }

  for (const auto& count : calls) EXPECT_EQ(count, 1);
  EXPECT_EQ(jobs, 60);
}

}  // namespace
}  // namespace seaway::function
