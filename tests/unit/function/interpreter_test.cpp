// Each operation against values worked out by hand.

#include "function/interpreter.hpp"

#include <cmath>
#include <limits>

#include "unit/function/evaluate.hpp"

namespace seaway::function {
namespace {

using In = std::span<const Tensor>;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr std::int32_t kMin = std::numeric_limits<std::int32_t>::min();
constexpr std::int32_t kMax = std::numeric_limits<std::int32_t>::max();

TEST(Interpreter, AddsSubtractsMultipliesAndDividesFloats) {
  const std::vector<Literal> in = {floats({3}, {1, 2, -6}), floats({3}, {4, 0.5, 3})};

  EXPECT_EQ(evaluate(in, [](In x) { return x[0] + x[1]; }), floats({3}, {5, 2.5, -3}));
  EXPECT_EQ(evaluate(in, [](In x) { return x[0] - x[1]; }), floats({3}, {-3, 1.5, -9}));
  EXPECT_EQ(evaluate(in, [](In x) { return x[0] * x[1]; }), floats({3}, {4, 1, -18}));
  EXPECT_EQ(evaluate(in, [](In x) { return x[0] / x[1]; }), floats({3}, {0.25, 4, -2}));
  EXPECT_EQ(evaluate(in, [](In x) { return 2 * x[0] - 1; }), floats({3}, {1, 3, -13}));
  EXPECT_EQ(evaluate(in, [](In x) { return -x[0]; }), floats({3}, {-1, -2, 6}));
}

TEST(Interpreter, IntegersWrapAndDivisionByZeroIsMinusOne) {
  const std::vector<Literal> in = {ints({4}, {kMax, kMin, 7, -7}), ints({4}, {1, -1, 0, 2})};

  EXPECT_EQ(evaluate(in, [](In x) { return x[0] + x[1]; }), ints({4}, {kMin, kMax, 7, -5}));
  EXPECT_EQ(evaluate(in, [](In x) { return x[0] - x[1]; }), ints({4}, {kMax - 1, kMin + 1, 7, -9}));
  EXPECT_EQ(evaluate(in, [](In x) { return x[0] * x[0]; }), ints({4}, {1, 0, 49, 49}));
  EXPECT_EQ(evaluate(in, [](In x) { return x[0] / x[1]; }), ints({4}, {kMax, kMin, -1, -3}));
  EXPECT_EQ(evaluate(in, [](In x) { return abs(x[0]); }), ints({4}, {kMax, kMin, 7, 7}));
  EXPECT_EQ(evaluate(in, [](In x) { return negate(x[0]); }), ints({4}, {-kMax, kMin, -7, 7}));
  EXPECT_EQ(evaluate(in, [](In x) { return maximum(x[0], x[1]); }), ints({4}, {kMax, -1, 7, 2}));
  EXPECT_EQ(evaluate(in, [](In x) { return minimum(x[0], x[1]); }), ints({4}, {1, kMin, 0, -7}));
}

TEST(Interpreter, ComputesTheFunctionsOfOneNumber) {
  const std::vector<Literal> in = {floats({2}, {0.25, 4})};

  EXPECT_EQ(evaluate(in, [](In x) { return sqrt(x[0]); }), floats({2}, {0.5, 2}));
  EXPECT_EQ(evaluate(in, [](In x) { return rsqrt(x[0]); }), floats({2}, {2, 0.5}));
  EXPECT_EQ(evaluate(in, [](In x) { return exp(x[0] * 0); }), floats({2}, {1, 1}));
  EXPECT_EQ(evaluate(in, [](In x) { return log(x[0]); }),
            floats({2}, {std::log(0.25f), std::log(4.0f)}));
  EXPECT_EQ(evaluate(in, [](In x) { return tanh(x[0]); }),
            floats({2}, {std::tanh(0.25f), std::tanh(4.0f)}));
  EXPECT_EQ(evaluate(in, [](In x) { return abs(0 - x[0]); }), floats({2}, {0.25, 4}));
  EXPECT_EQ(evaluate(in, [](In x) { return pow(x[0], 2); }), floats({2}, {0.0625, 16}));
  EXPECT_EQ(evaluate(in, [](In x) { return relu(x[0] - 1); }), floats({2}, {0, 3}));
}

TEST(Interpreter, NanGoesThroughMaximumMinimumAndRelu) {
  const std::vector<Literal> in = {floats({3}, {kNan, 1, 2}), floats({3}, {1, kNan, 3})};

  const std::vector<float> larger = values(evaluate(in, [](In x) { return maximum(x[0], x[1]); }));
  const std::vector<float> smaller = values(evaluate(in, [](In x) { return minimum(x[0], x[1]); }));
  const std::vector<float> cut = values(evaluate(in, [](In x) { return relu(x[0]); }));

  EXPECT_TRUE(std::isnan(larger[0]) && std::isnan(larger[1]));
  EXPECT_EQ(larger[2], 3);
  EXPECT_TRUE(std::isnan(smaller[0]) && std::isnan(smaller[1]));
  EXPECT_EQ(smaller[2], 2);
  EXPECT_TRUE(std::isnan(cut[0]));
}

TEST(Interpreter, ComparesSelectsAndCombinesFlags) {
  const std::vector<Literal> in = {floats({4}, {1, 2, 3, kNan}), floats({4}, {2, 2, 2, kNan})};

  EXPECT_EQ(evaluate(in, [](In x) { return equal(x[0], x[1]); }), flags({4}, {0, 1, 0, 0}));
  EXPECT_EQ(evaluate(in, [](In x) { return not_equal(x[0], x[1]); }), flags({4}, {1, 0, 1, 1}));
  EXPECT_EQ(evaluate(in, [](In x) { return less(x[0], x[1]); }), flags({4}, {1, 0, 0, 0}));
  EXPECT_EQ(evaluate(in, [](In x) { return less_equal(x[0], x[1]); }), flags({4}, {1, 1, 0, 0}));
  EXPECT_EQ(evaluate(in, [](In x) { return greater(x[0], 2); }), flags({4}, {0, 0, 1, 0}));
  EXPECT_EQ(evaluate(in, [](In x) { return greater_equal(x[0], 2); }), flags({4}, {0, 1, 1, 0}));
  EXPECT_EQ(evaluate(in, [](In x) { return select(less(x[0], x[1]), x[0], -1); }),
            floats({4}, {1, -1, -1, -1}));

  const std::vector<Literal> two = {flags({4}, {0, 0, 1, 1}), flags({4}, {0, 1, 0, 1})};
  EXPECT_EQ(evaluate(two, [](In x) { return logical_and(x[0], x[1]); }), flags({4}, {0, 0, 0, 1}));
  EXPECT_EQ(evaluate(two, [](In x) { return logical_or(x[0], x[1]); }), flags({4}, {0, 1, 1, 1}));
  EXPECT_EQ(evaluate(two, [](In x) { return logical_not(x[0]); }), flags({4}, {1, 1, 0, 0}));
  EXPECT_EQ(evaluate({ints({}, {6})}, [](In x) { return logical_not(logical_and(x[0], 3)); }),
            ints({}, {~2}));
  EXPECT_EQ(evaluate({ints({}, {6})}, [](In x) { return logical_or(x[0], 1); }), ints({}, {7}));
}

TEST(Interpreter, ConvertsTowardsZeroAndKeepsToTheRange) {
  const std::vector<Literal> in = {floats({6}, {1.9f, -1.9f, 3e9f, -kInf, kNan, 0})};

  EXPECT_EQ(evaluate(in, [](In x) { return convert(x[0], DType::kI32); }),
            ints({6}, {1, -1, kMax, kMin, 0, 0}));
  EXPECT_EQ(evaluate(in, [](In x) { return convert(x[0], DType::kBool); }),
            flags({6}, {1, 1, 1, 1, 1, 0}));
  EXPECT_EQ(evaluate({flags({2}, {1, 0})}, [](In x) { return convert(x[0], DType::kF32); }),
            floats({2}, {1, 0}));
}

TEST(Interpreter, MovesElements) {
  const std::vector<Literal> in = {floats({2, 3}, {1, 2, 3, 4, 5, 6})};

  EXPECT_EQ(evaluate(in, [](In x) { return transpose(x[0]); }), floats({3, 2}, {1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(evaluate(in,
                     [](In x) {
                       return reshape(x[0], {3, 2});
                     }),
            floats({3, 2}, {1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(evaluate(in,
                     [](In x) {
                       return slice(x[0], {0, 0}, {2, 3}, {1, 2});
                     }),
            floats({2, 2}, {1, 3, 4, 6}));
  EXPECT_EQ(evaluate(in, [](In x) { return slice(x[0], {1, 1}, {2, 3}); }), floats({1, 2}, {5, 6}));
  EXPECT_EQ(evaluate(in,
                     [](In x) {
                       return concatenate({x[0], x[0] * 10}, 0);
                     }),
            floats({4, 3}, {1, 2, 3, 4, 5, 6, 10, 20, 30, 40, 50, 60}));
  EXPECT_EQ(evaluate(in,
                     [](In x) {
                       return concatenate({x[0], slice(x[0], {0, 0}, {2, 1})}, -1);
                     }),
            floats({2, 4}, {1, 2, 3, 1, 4, 5, 6, 4}));
  EXPECT_EQ(evaluate({floats({2}, {7, 8})},
                     [](In x) {
                       return broadcast_in_dim(x[0], {2, 2}, {0});
                     }),
            floats({2, 2}, {7, 7, 8, 8}));
  EXPECT_EQ(evaluate({floats({2, 1}, {7, 8})},
                     [](In x) {
                       return broadcast_to(x[0], {2, 2, 2});
                     }),
            floats({2, 2, 2}, {7, 7, 8, 8, 7, 7, 8, 8}));
  EXPECT_EQ(evaluate({},
                     [](In) {
                       return iota(i32({2, 3}), -1);
                     }),
            ints({2, 3}, {0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(evaluate({}, [](In) { return splat(boolean({2}), 1); }), flags({2}, {1, 1}));
  EXPECT_EQ(evaluate({}, [](In) { return constant(2.5f); }), floats({}, {2.5}));
}

TEST(Interpreter, MultipliesMatrices) {
  const Literal a = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const Literal b = floats({3, 2}, {1, 0, 0, 1, 1, 1});

  EXPECT_EQ(evaluate({a, b}, [](In x) { return matmul(x[0], x[1]); }),
            floats({2, 2}, {4, 5, 10, 11}));
  EXPECT_EQ(evaluate({floats({2, 1, 2}, {1, 2, 3, 4}), floats({2, 2, 1}, {5, 6, 7, 8})},
                     [](In x) { return matmul(x[0], x[1]); }),
            floats({2, 1, 1}, {17, 53}));
  EXPECT_EQ(evaluate({floats({1, 2, 2}, {1, 2, 3, 4}), floats({2, 1}, {5, 6})},
                     [](In x) { return matmul(x[0], x[1]); }),
            floats({1, 2, 1}, {17, 39}));
  EXPECT_EQ(evaluate({ints({2}, {kMax, 1}), ints({2}, {2, 3})},
                     [](In x) {
                       return dot_general(x[0], x[1],
                                          {.left_contract = {0}, .right_contract = {0}});
                     }),
            ints({}, {1}));
}

TEST(Interpreter, Reduces) {
  const std::vector<Literal> in = {floats({2, 3}, {1, 5, 3, 4, 2, 6})};

  EXPECT_EQ(evaluate(in, [](In x) { return reduce_sum(x[0], {0}); }), floats({3}, {5, 7, 9}));
  EXPECT_EQ(evaluate(in, [](In x) { return reduce_sum(x[0]); }), floats({}, {21}));
  EXPECT_EQ(evaluate(in, [](In x) { return reduce_max(x[0], {-1}, KeepDims::kYes); }),
            floats({2, 1}, {5, 6}));
  EXPECT_EQ(evaluate(in, [](In x) { return mean(x[0], {0}); }), floats({3}, {2.5, 3.5, 4.5}));
  EXPECT_EQ(evaluate(in, [](In x) { return argmax(x[0], -1); }), ints({2}, {1, 2}));
}

TEST(Interpreter, AddsOneByOneInRowMajorOrder) {
  // 2^24 absorbs single ones, so the order shows: (1 + 1) + 2^24 would keep them.
  const Literal in = floats({3}, {16777216, 1, 1});

  EXPECT_EQ(evaluate({in}, [](In x) { return reduce_sum(x[0]); }), floats({}, {16777216}));
}

TEST(Interpreter, ArgmaxTakesTheLowestIndexAndNanAsLargest) {
  EXPECT_EQ(evaluate({floats({4}, {1, 3, 3, 2})}, [](In x) { return argmax(x[0], 0); }),
            ints({}, {1}));
  EXPECT_EQ(evaluate({floats({4}, {1, kNan, kInf, kNan})}, [](In x) { return argmax(x[0], 0); }),
            ints({}, {1}));
  EXPECT_EQ(evaluate({floats({2}, {-kInf, -kInf})}, [](In x) { return argmax(x[0], 0); }),
            ints({}, {0}));
  EXPECT_EQ(evaluate({ints({3}, {kMin, 4, 4})}, [](In x) { return argmax(x[0], 0); }),
            ints({}, {1}));
}

TEST(Interpreter, GathersAndScattersRowsAndClampsIndices) {
  const Literal table = floats({3, 2}, {1, 2, 3, 4, 5, 6});

  EXPECT_EQ(
      evaluate({table, ints({2, 2}, {2, 0, -9, 9})}, [](In x) { return gather_rows(x[0], x[1]); }),
      floats({2, 2, 2}, {5, 6, 1, 2, 1, 2, 5, 6}));
  EXPECT_EQ(evaluate({table, ints({3}, {0, 0, 7}), floats({3, 2}, {10, 20, 30, 40, 50, 60})},
                     [](In x) { return scatter_add_rows(x[0], x[1], x[2]); }),
            floats({3, 2}, {41, 62, 3, 4, 55, 66}));
  EXPECT_EQ(evaluate({ints({3}, {1, 0, 5})}, [](In x) { return one_hot(x[0], 2); }),
            floats({3, 2}, {0, 1, 1, 0, 0, 0}));
}

TEST(Interpreter, SoftmaxIsStableForLargeValues) {
  const Literal in = floats({2}, {1000, 1000});

  EXPECT_EQ(evaluate({in}, [](In x) { return softmax(x[0]); }), floats({2}, {0.5, 0.5}));
  EXPECT_EQ(evaluate({in}, [](In x) { return log_softmax(x[0]); }),
            floats({2}, {-std::log(2.0f), -std::log(2.0f)}));
}

TEST(Interpreter, DimensionsOfSizeZeroWork) {
  const Literal none = floats({0, 3}, {});

  EXPECT_EQ(evaluate({none}, [](In x) { return x[0] + 1; }), none);
  EXPECT_EQ(evaluate({none}, [](In x) { return reduce_sum(x[0], {0}); }), floats({3}, {0, 0, 0}));
  EXPECT_EQ(evaluate({none}, [](In x) { return reduce_max(x[0], {0}); }),
            floats({3}, {-kInf, -kInf, -kInf}));
  EXPECT_EQ(evaluate({none}, [](In x) { return matmul(transpose(x[0]), x[0]); }),
            floats({3, 3}, {0, 0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(evaluate({none},
                     [](In x) {
                       return concatenate({x[0], ones(f32({1, 3}))}, 0);
                     }),
            floats({1, 3}, {1, 1, 1}));
  EXPECT_EQ(evaluate({none, ints({0}, {})}, [](In x) { return gather_rows(x[0], x[1]); }), none);
  EXPECT_EQ(evaluate({none}, [](In x) { return softmax(x[0]); }), none);
}

const AxisSizes kMesh = {{"data", 2}, {"model", 3}};

/// Shard s holds [s, 10 s].
ShardLiterals shards_of_six() {
  ShardLiterals shards;
  for (std::int32_t s = 0; s < 6; ++s) shards.push_back(ints({2}, {s, 10 * s}));
  return shards;
}

ShardLiterals on_six(const std::function<Tensor(const Tensor&)>& body) {
  return evaluate(kMesh, {shards_of_six()},
                  [&](In in) { return std::vector<Tensor>{body(in[0])}; });
}

TEST(Interpreter, AllReduceCombinesTheGroupOfAnAxis) {
  const ShardLiterals over_model = on_six([](const Tensor& x) { return all_reduce(x, "model"); });
  const ShardLiterals over_data =
      on_six([](const Tensor& x) { return all_reduce(x, "data", Reduction::kMax); });

  EXPECT_EQ(over_model[1], ints({2}, {0 + 1 + 2, 30}));
  EXPECT_EQ(over_model[5], ints({2}, {3 + 4 + 5, 120}));
  EXPECT_EQ(over_data[1], ints({2}, {4, 40}));
  EXPECT_EQ(over_data[4], ints({2}, {4, 40}));
}

TEST(Interpreter, AllReduceAddsInABalancedTree) {
  ShardLiterals in = {floats({}, {16777216}), floats({}, {1}), floats({}, {1}), floats({}, {1})};

  const ShardLiterals sum =
      evaluate({{"x", 4}}, {in}, [](In x) { return std::vector<Tensor>{all_reduce(x[0], "x")}; });

  // (2^24 + 1) + (1 + 1) = 2^24 + 2; one by one it would stay 2^24.
  for (const Literal& shard : sum) EXPECT_EQ(shard, floats({}, {16777218}));
}

TEST(Interpreter, GathersScattersAndPermutesBetweenShards) {
  const ShardLiterals gathered = on_six([](const Tensor& x) { return all_gather(x, "model", 0); });
  const ShardLiterals scattered =
      on_six([](const Tensor& x) { return reduce_scatter(x, "data", 0); });
  const ShardLiterals permuted = on_six([](const Tensor& x) {
    return permute(x, "model", {{0, 1}, {1, 2}});
  });

  EXPECT_EQ(gathered[4], ints({6}, {3, 30, 4, 40, 5, 50}));
  EXPECT_EQ(scattered[1], ints({1}, {1 + 4}));
  EXPECT_EQ(scattered[4], ints({1}, {10 + 40}));
  EXPECT_EQ(permuted[0], ints({2}, {0, 0}));
  EXPECT_EQ(permuted[5], ints({2}, {4, 40}));
  EXPECT_EQ(permuted[3], ints({2}, {0, 0}));
}

TEST(Interpreter, EachShardKnowsItsCoordinate) {
  const ShardLiterals data = on_six([](const Tensor&) { return axis_index("data"); });
  const ShardLiterals model = on_six([](const Tensor&) { return axis_index("model"); });

  EXPECT_EQ(data[4], ints({}, {1}));
  EXPECT_EQ(model[4], ints({}, {1}));
  EXPECT_EQ(data[2], ints({}, {0}));
  EXPECT_EQ(model[2], ints({}, {2}));
}

TEST(Interpreter, RefusesArgumentsThatDoNotFit) {
  const std::vector<TensorType> types = {f32({2})};
  const Graph graph =
      capture("f", {}, types, [](In x) { return std::vector<Tensor>{x[0]}; }).value();

  EXPECT_EQ(interpret(graph, {}, 1, {}).status().message(),
            "function 'f' takes 1 arguments, not 0");
  EXPECT_EQ(interpret(graph, {}, 1, {{floats({3}, {1, 2, 3})}}).status().message(),
            "argument 0 of function 'f' has type f32[3], not f32[2]");
  EXPECT_EQ(interpret(graph, {}, 2, {{floats({2}, {1, 2})}}).status().message(),
            "argument 0 has 1 shards, not 2");
  EXPECT_EQ(interpret(graph, {{"x", 4}}, 2, {{floats({2}, {1, 2})}}).status().message(),
            "function 'f' is made for 4 shards, not 2");
}

}  // namespace
}  // namespace seaway::function
