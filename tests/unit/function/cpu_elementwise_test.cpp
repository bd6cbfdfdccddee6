// Elementwise operations: values at the edges, accuracy, broadcasting views, fused chains.

#include <cmath>
#include <cstring>
#include <limits>

#include "base/random.hpp"
#include "function/cpu_vector.hpp"
#include "unit/function/cpu_testing.hpp"

namespace seaway::function {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<std::int32_t>;
using Bools = std::vector<std::uint8_t>;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr std::int32_t kIntMin = std::numeric_limits<std::int32_t>::min();
constexpr std::int32_t kIntMax = std::numeric_limits<std::int32_t>::max();

/// Applies `op` in a short shape, and in a long one of the same values again and again, which runs
/// other loops; both must agree.
template <class R, class A>
std::vector<R> apply(Op op, DType result, const std::vector<std::vector<A>>& operands,
                     Compare compare = Compare::kEq) {
  const std::size_t count = operands[0].size();
  std::vector<R> answers[2];
  for (const std::size_t repeats : {std::size_t{1}, std::size_t{37}}) {
    TestGraph b;
    const auto size = static_cast<std::int64_t>(count * repeats);
    std::vector<ValueId> values;
    const DType dtype = sizeof(A) == 1             ? DType::kBool
                        : std::is_same_v<A, float> ? DType::kF32
                                                   : DType::kI32;
    for (std::size_t i = 0; i < operands.size(); ++i)
      values.push_back(b.parameter({dtype, {size}}));
    const ValueId out =
        b.add({.op = op, .type = {result, {size}}, .operands = values, .compare = compare});
    TestRun run(b.build({out}), {}, 1);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      std::vector<A> all;
      for (std::size_t r = 0; r < repeats; ++r) {
        all.insert(all.end(), operands[i].begin(), operands[i].end());
      }
      run.operand(i).template set<A>(0, all);
    }
    run.run();
    std::vector<R> all = run.output(0).template get<R>(0);
    answers[repeats > 1] =
        std::vector<R>(all.end() - static_cast<std::ptrdiff_t>(count), all.end());
  }
  EXPECT_EQ(0, std::memcmp(answers[0].data(), answers[1].data(), count * sizeof(R)));
  return answers[0];
}

TEST(CpuElementwise, ComputesWithFloats) {
  const Floats a = {1, -2, 0.5f, 8}, b = {2, 4, 0.25f, -2};

  EXPECT_EQ((apply<float, float>(Op::kAdd, DType::kF32, {a, b})), (Floats{3, 2, 0.75f, 6}));
  EXPECT_EQ((apply<float, float>(Op::kSubtract, DType::kF32, {a, b})), (Floats{-1, -6, 0.25f, 10}));
  EXPECT_EQ((apply<float, float>(Op::kMultiply, DType::kF32, {a, b})),
            (Floats{2, -8, 0.125f, -16}));
  EXPECT_EQ((apply<float, float>(Op::kDivide, DType::kF32, {a, b})), (Floats{0.5f, -0.5f, 2, -4}));
  EXPECT_EQ((apply<float, float>(Op::kMaximum, DType::kF32, {a, b})), (Floats{2, 4, 0.5f, 8}));
  EXPECT_EQ((apply<float, float>(Op::kMinimum, DType::kF32, {a, b})), (Floats{1, -2, 0.25f, -2}));
  EXPECT_EQ((apply<float, float>(Op::kPower, DType::kF32, {{2, 9, 4}, {3, 0.5f, -1}})),
            (Floats{8, 3, 0.25f}));
  EXPECT_EQ((apply<float, float>(Op::kNegate, DType::kF32, {a})), (Floats{-1, 2, -0.5f, -8}));
  EXPECT_EQ((apply<float, float>(Op::kAbs, DType::kF32, {a})), (Floats{1, 2, 0.5f, 8}));
  EXPECT_EQ((apply<float, float>(Op::kSqrt, DType::kF32, {{4, 2.25f}})), (Floats{2, 1.5f}));
  EXPECT_EQ((apply<float, float>(Op::kRsqrt, DType::kF32, {{4, 16}})), (Floats{0.5f, 0.25f}));
}

TEST(CpuElementwise, WrapsIntegersAndDividesByZero) {
  const Ints a = {kIntMax, kIntMin, 7, -7, 5}, b = {1, -1, 2, 2, 0};

  EXPECT_EQ((apply<std::int32_t, std::int32_t>(Op::kAdd, DType::kI32, {a, b})),
            (Ints{kIntMin, kIntMax, 9, -5, 5}));
  EXPECT_EQ((apply<std::int32_t, std::int32_t>(Op::kSubtract, DType::kI32, {a, b})),
            (Ints{kIntMax - 1, kIntMin + 1, 5, -9, 5}));
  EXPECT_EQ((apply<std::int32_t, std::int32_t>(Op::kMultiply, DType::kI32, {a, b})),
            (Ints{kIntMax, kIntMin, 14, -14, 0}));
  EXPECT_EQ((apply<std::int32_t, std::int32_t>(Op::kDivide, DType::kI32, {a, b})),
            (Ints{kIntMax, kIntMin, 3, -3, -1}));
  EXPECT_EQ((apply<std::int32_t, std::int32_t>(Op::kMaximum, DType::kI32, {a, b})),
            (Ints{kIntMax, -1, 7, 2, 5}));
  EXPECT_EQ((apply<std::int32_t, std::int32_t>(Op::kMinimum, DType::kI32, {a, b})),
            (Ints{1, kIntMin, 2, -7, 0}));
  EXPECT_EQ((apply<std::int32_t, std::int32_t>(Op::kNegate, DType::kI32, {a})),
            (Ints{-kIntMax, kIntMin, -7, 7, -5}));
  EXPECT_EQ((apply<std::int32_t, std::int32_t>(Op::kAbs, DType::kI32, {a})),
            (Ints{kIntMax, kIntMin, 7, 7, 5}));
  EXPECT_EQ((apply<std::int32_t, std::int32_t>(Op::kAnd, DType::kI32, {{6}, {3}})), Ints{2});
  EXPECT_EQ((apply<std::int32_t, std::int32_t>(Op::kOr, DType::kI32, {{6}, {3}})), Ints{7});
  EXPECT_EQ((apply<std::int32_t, std::int32_t>(Op::kNot, DType::kI32, {{6}})), Ints{-7});
}

TEST(CpuElementwise, CombinesAndComparesBooleans) {
  const Bools a = {0, 0, 1, 1}, b = {0, 1, 0, 1};

  EXPECT_EQ((apply<std::uint8_t, std::uint8_t>(Op::kAnd, DType::kBool, {a, b})),
            (Bools{0, 0, 0, 1}));
  EXPECT_EQ((apply<std::uint8_t, std::uint8_t>(Op::kOr, DType::kBool, {a, b})),
            (Bools{0, 1, 1, 1}));
  EXPECT_EQ((apply<std::uint8_t, std::uint8_t>(Op::kNot, DType::kBool, {a})), (Bools{1, 1, 0, 0}));
  EXPECT_EQ((apply<std::uint8_t, std::uint8_t>(Op::kCompare, DType::kBool, {a, b}, Compare::kNe)),
            (Bools{0, 1, 1, 0}));
}

TEST(CpuElementwise, ComparesWithNanAsUnordered) {
  const Floats a = {1, 2, 3, kNan}, b = {2, 2, 2, kNan};
  const auto compare = [&](Compare c) {
    return apply<std::uint8_t, float>(Op::kCompare, DType::kBool, {a, b}, c);
  };

  EXPECT_EQ(compare(Compare::kEq), (Bools{0, 1, 0, 0}));
  EXPECT_EQ(compare(Compare::kNe), (Bools{1, 0, 1, 1}));
  EXPECT_EQ(compare(Compare::kLt), (Bools{1, 0, 0, 0}));
  EXPECT_EQ(compare(Compare::kLe), (Bools{1, 1, 0, 0}));
  EXPECT_EQ(compare(Compare::kGt), (Bools{0, 0, 1, 0}));
  EXPECT_EQ(compare(Compare::kGe), (Bools{0, 1, 1, 0}));
}

TEST(CpuElementwise, PassesNanThroughMaximumAndMinimum) {
  for (const Op op : {Op::kMaximum, Op::kMinimum}) {
    for (const float value : apply<float, float>(op, DType::kF32, {{kNan, 1}, {1, kNan}})) {
      EXPECT_TRUE(std::isnan(value));
    }
  }
}

TEST(CpuElementwise, ConvertsWithSaturation) {
  EXPECT_EQ((apply<std::int32_t, float>(Op::kConvert, DType::kI32,
                                        {{1.9f, -1.9f, 3e9f, -3e9f, kNan, kInfinity}})),
            (Ints{1, -1, kIntMax, kIntMin, 0, kIntMax}));
  EXPECT_EQ((apply<std::uint8_t, float>(Op::kConvert, DType::kBool, {{0, -0.0f, 0.1f, kNan}})),
            (Bools{0, 0, 1, 1}));
  EXPECT_EQ((apply<float, std::int32_t>(Op::kConvert, DType::kF32, {{-3, 1 << 20}})),
            (Floats{-3, 1048576}));
  EXPECT_EQ((apply<float, std::uint8_t>(Op::kConvert, DType::kF32, {{0, 1}})), (Floats{0, 1}));
  EXPECT_EQ((apply<std::uint8_t, std::int32_t>(Op::kConvert, DType::kBool, {{0, 2}})),
            (Bools{0, 1}));
}

double ulps(float actual, double expected) {
  if (std::isnan(expected)) return std::isnan(actual) ? 0 : kInfinity;
  const float nearest = static_cast<float>(expected);
  if (actual == nearest) return 0;
  const double unit = std::max(std::ldexp(1.0, std::ilogb(expected) - 23), 0x1p-149);
  return std::fabs(actual - expected) / unit;
}

TEST(CpuElementwise, IsAccurateToFourUlp) {
  struct Case {
    Op op;
    double (*exact)(double);
    float low, high;
  };
  for (const Case& c :
       {Case{Op::kExponential, std::exp, -110, 95}, Case{Op::kTanh, std::tanh, -12, 12},
        Case{Op::kTanh, std::tanh, -0.01f, 0.01f}, Case{Op::kLog, std::log, 1e-38f, 4},
        Case{Op::kLog, std::log, 0, 1e30f}, Case{Op::kLog, std::log, 0, 1e-38f}}) {
    Floats values(20000);
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = c.low + (c.high - c.low) * static_cast<float>(i) / 20000.0f;
    }
    TestGraph b;
    const ValueId x = b.parameter(f32({20000}));
    TestRun run(b.build({b.same(c.op, {x})}), {}, 1);
    run.operand(0).set(0, values);

    run.run();

    const Floats results = run.output(0).get<float>(0);
    double worst = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      worst = std::max(worst, ulps(results[i], c.exact(values[i])));
    }
    EXPECT_LE(worst, 4) << static_cast<int>(c.op) << " on " << c.low << " to " << c.high;
  }
}

TEST(CpuElementwise, HandlesInfinityAndNanInFunctions) {
  const Floats exponentials = apply<float, float>(
      Op::kExponential, DType::kF32, {{kInfinity, -kInfinity, kNan, 0, 100, -200, 88.7f}});
  EXPECT_EQ(exponentials[0], kInfinity);
  EXPECT_EQ(exponentials[1], 0);
  EXPECT_TRUE(std::isnan(exponentials[2]));
  EXPECT_EQ(exponentials[3], 1);
  EXPECT_EQ(exponentials[4], kInfinity);
  EXPECT_EQ(exponentials[5], 0);
  EXPECT_LT(exponentials[6], kInfinity);
  const Floats logarithms =
      apply<float, float>(Op::kLog, DType::kF32, {{0, -1, kInfinity, kNan, 1}});
  EXPECT_EQ(logarithms[0], -kInfinity);
  EXPECT_TRUE(std::isnan(logarithms[1]));
  EXPECT_EQ(logarithms[2], kInfinity);
  EXPECT_TRUE(std::isnan(logarithms[3]));
  EXPECT_EQ(logarithms[4], 0);
  const Floats tangents =
      apply<float, float>(Op::kTanh, DType::kF32, {{kInfinity, -kInfinity, kNan, 0}});
  EXPECT_EQ(tangents[0], 1);
  EXPECT_EQ(tangents[1], -1);
  EXPECT_TRUE(std::isnan(tangents[2]));
  EXPECT_EQ(tangents[3], 0);
}

TEST(CpuElementwise, SelectsWithScalarsOnEitherSide) {
  for (const std::int64_t size : {4, 100}) {
    TestGraph b;
    const TensorType type = f32({size});
    const ValueId p = b.parameter(boolean({size})), x = b.parameter(type), y = b.parameter(type);
    const ValueId one = b.constant(type, 1), two = b.constant(type, 2);
    const ValueId yes = b.constant(boolean({size}), 1);
    std::vector<ValueId> outputs;
    for (const auto& [on_true, on_false] :
         std::vector<std::pair<ValueId, ValueId>>{{x, y}, {one, y}, {x, two}, {one, two}}) {
      outputs.push_back(b.op(Op::kSelect, type, {p, on_true, on_false}));
    }
    outputs.push_back(b.op(Op::kSelect, type, {yes, x, two}));
    TestRun run(b.build(outputs), {}, 1);
    Bools predicate;
    for (std::int64_t i = 0; i < size; ++i) predicate.push_back(i % 3 == 0);
    const auto count = static_cast<std::size_t>(size);
    run.operand(0).set(0, predicate);
    run.operand(1).set(0, Floats(count, 10));
    run.operand(2).set(0, Floats(count, 20));

    run.run();

    const float expected[5][2] = {{20, 10}, {20, 1}, {2, 10}, {2, 1}, {10, 10}};
    for (std::size_t o = 0; o < 5; ++o) {
      for (std::size_t i = 0; i < count; ++i) {
        EXPECT_EQ(run.output(o).get<float>(0)[i], expected[o][i % 3 == 0]) << o << " " << i;
      }
    }
  }
}

TEST(CpuElementwise, ReadsBroadcastOperandsWithoutLayingThemOut) {
  constexpr std::int64_t kRows = 70, kColumns = 30;
  TestGraph b;
  const TensorType type = f32({kRows, kColumns});
  const ValueId x = b.parameter(type), row = b.parameter(f32({kColumns}));
  const ValueId column = b.parameter(f32({kRows})), scalar = b.parameter(f32({}));
  const auto broadcast = [&](ValueId value, std::vector<std::int64_t> dims) {
    return b.add({.op = Op::kBroadcastInDim, .type = type, .operands = {value}, .dims = dims});
  };
  ValueId y = b.same(Op::kMultiply, {x, broadcast(row, {1})});
  y = b.same(Op::kAdd, {y, broadcast(column, {0})});
  y = b.same(Op::kSubtract, {y, broadcast(scalar, {})});
  y = b.same(Op::kAdd, {y, b.constant(type, 0.5)});
  const ValueId both = b.same(Op::kMultiply, {broadcast(scalar, {}), b.constant(type, 2)});
  TestRun run(b.build({y, both}), {}, 2);
  for (std::size_t s = 0; s < 2; ++s) {
    const float base = static_cast<float>(s);
    run.operand(0).set(s, Floats(kRows * kColumns, 2 + base));
    Floats rows(kColumns), columns(kRows);
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<float>(i);
    for (std::size_t i = 0; i < columns.size(); ++i) columns[i] = static_cast<float>(1000 * i);
    run.operand(1).set(s, rows);
    run.operand(2).set(s, columns);
    run.operand(3).set<float>(s, {3});
  }

  run.run();

  EXPECT_EQ(run.executable().scratch_bytes(), 0u);
  for (std::size_t s = 0; s < 2; ++s) {
    const Floats values = run.output(0).get<float>(s);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const float expected = (2 + static_cast<float>(s)) * static_cast<float>(i % kColumns) +
                             static_cast<float>(1000 * (i / kColumns)) - 3 + 0.5f;
      ASSERT_EQ(values[i], expected) << i;
    }
    EXPECT_EQ(run.output(1).get<float>(s), Floats(kRows * kColumns, 6));
  }
}

TEST(CpuElementwise, FusesChainsOfAnyLengthAndShape) {
  // More operations and branches than one program takes, with values of three types.
  constexpr std::size_t kSize = 1500;
  TestGraph b;
  const TensorType type = i32({kSize});
  const ValueId x = b.parameter(type), y = b.parameter(type);
  std::vector<ValueId> values = {x, y};
  std::vector<Ints> expected = {Ints(kSize), Ints(kSize)};
  for (std::size_t i = 0; i < kSize; ++i) {
    expected[0][i] = static_cast<std::int32_t>(i);
    expected[1][i] = static_cast<std::int32_t>(i * i % 97) - 40;
  }
  RandomStream random(7, 7);
  for (int n = 0; n < 120; ++n) {
    const std::size_t a = random.below(values.size()), c = random.below(values.size());
    const bool is_select = random.chance(20);
    const Op op = random.chance(50) ? Op::kSubtract : Op::kMaximum;
    Ints result(kSize);
    for (std::size_t i = 0; i < kSize; ++i) {
      const std::int32_t l = expected[a][i], r = expected[c][i];
      const auto difference =
          static_cast<std::int32_t>(static_cast<std::uint32_t>(l) - static_cast<std::uint32_t>(r));
      result[i] = is_select             ? (l < r ? r : l - 0)
                  : op == Op::kSubtract ? difference
                                        : std::max(l, r);
    }
    if (is_select) {
      const ValueId less = b.add({.op = Op::kCompare,
                                  .type = boolean({kSize}),
                                  .operands = {values[a], values[c]},
                                  .compare = Compare::kLt});
      values.push_back(b.op(Op::kSelect, type, {less, values[c], values[a]}));
    } else {
      values.push_back(b.same(op, {values[a], values[c]}));
    }
    expected.push_back(std::move(result));
  }
  const std::vector<std::size_t> chosen = {121, 60, 90, 30, 118};
  std::vector<ValueId> outputs;
  for (const std::size_t i : chosen) outputs.push_back(values[i]);
  TestRun run(b.build(outputs), {}, 1);
  run.operand(0).set(0, expected[0]);
  run.operand(1).set(0, expected[1]);

  run.run();

  for (std::size_t o = 0; o < chosen.size(); ++o) {
    EXPECT_EQ(run.output(o).get<std::int32_t>(0), expected[chosen[o]]) << o;
  }
}

TEST(CpuElementwise, HandlesTensorsWithoutElements) {
  TestGraph b;
  const ValueId x = b.parameter(f32({0, 3}));
  const ValueId y = b.same(Op::kExponential, {b.same(Op::kAdd, {x, x})});
  const ValueId sum = b.add({.op = Op::kReduce, .type = f32({3}), .operands = {y}, .dims = {0}});
  Instruction max{.op = Op::kReduce, .type = f32({3}), .operands = {y}, .dims = {0}};
  max.reduce = Reduce::kMax;
  const ValueId largest = b.add(std::move(max));
  TestRun run(b.build({y, sum, largest}), {}, 1);

  run.run();

  EXPECT_EQ(run.output(1).get<float>(0), Floats(3, 0.0f));
  EXPECT_EQ(run.output(2).get<float>(0), Floats(3, -kInfinity));
}

}  // namespace
}  // namespace seaway::function
