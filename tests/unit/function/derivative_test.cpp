// Derivatives against central finite differences, for every operation that has one.

#include <cmath>

#include "unit/function/evaluate.hpp"

namespace seaway::function {
namespace {

using In = std::span<const Tensor>;
using LossBody = std::function<Tensor(In)>;

/// Sum of the loss over all shards.
double total(const AxisSizes& axes, const std::vector<ShardLiterals>& arguments,
             const LossBody& body) {
  const ShardLiterals losses =
      evaluate(axes, arguments, [&](In in) { return std::vector<Tensor>{body(in)}; });
  double sum = 0;
  for (const Literal& loss : losses) sum += static_cast<double>(loss.as<float>()[0]);
  return sum;
}

/// Moves each element of each f32 argument on each shard up and down, and compares the slope.
void expect_slopes(const AxisSizes& axes, std::vector<ShardLiterals> arguments,
                   const LossBody& body) {
  constexpr float kStep = 1.0f / 128;
  for (std::size_t p = 0; p < arguments.size(); ++p) {
    if (arguments[p][0].type().dtype != DType::kF32) continue;
    const ShardLiterals derivative =
        evaluate(axes, arguments, [&](In in) { return gradients(body(in), {in[p]}); });
    for (std::size_t s = 0; s < arguments[p].size(); ++s) {
      for (std::size_t i = 0; i < arguments[p][s].as<float>().size(); ++i) {
        float& x = arguments[p][s].as<float>()[i];
        const float before = x;
        x = before + kStep;
        const double above = total(axes, arguments, body);
        x = before - kStep;
        const double below = total(axes, arguments, body);
        x = before;
        const double slope = (above - below) / (2.0 * kStep);
        EXPECT_NEAR(derivative[s].as<float>()[i], slope, 2e-2 * (1 + std::fabs(slope)))
            << "parameter " << p << ", shard " << s << ", element " << i;
      }
    }
  }
}

void expect_slopes(const std::vector<Literal>& arguments, const LossBody& body) {
  std::vector<ShardLiterals> gang;
  for (const Literal& argument : arguments) gang.push_back({argument});
  expect_slopes({}, gang, body);
}

/// A scalar that every element of `x` enters with a weight of its own.
Tensor weighed(const Tensor& x) {
  const std::int64_t count = x.type().elements();
  return reduce_sum(reshape(x, {count}) * (iota(f32({count}), 0) * 0.5 + 1));
}

const Literal kMatrix = floats({2, 3}, {0.5, 1.5, 2, 1, 0.75, 3});
const Literal kOther = floats({2, 3}, {2, 0.5, 1, -1.25, 1.5, 0.625});

TEST(Derivative, OfFunctionsOfOneNumber) {
  expect_slopes({kMatrix}, [](In x) { return weighed(-x[0]); });
  expect_slopes({kMatrix}, [](In x) { return weighed(exp(x[0])); });
  expect_slopes({kMatrix}, [](In x) { return weighed(log(x[0])); });
  expect_slopes({kMatrix}, [](In x) { return weighed(sqrt(x[0])); });
  expect_slopes({kMatrix}, [](In x) { return weighed(rsqrt(x[0])); });
  expect_slopes({kMatrix}, [](In x) { return weighed(tanh(x[0])); });
  expect_slopes({kOther}, [](In x) { return weighed(abs(x[0])); });
  expect_slopes({kOther}, [](In x) { return weighed(relu(x[0])); });
  expect_slopes({kMatrix}, [](In x) { return weighed(convert(x[0], DType::kF32)); });
}

TEST(Derivative, OfFunctionsOfTwoNumbers) {
  expect_slopes({kMatrix, kOther}, [](In x) { return weighed(x[0] + x[1]); });
  expect_slopes({kMatrix, kOther}, [](In x) { return weighed(x[0] - x[1]); });
  expect_slopes({kMatrix, kOther}, [](In x) { return weighed(x[0] * x[1]); });
  expect_slopes({kMatrix, kOther}, [](In x) { return weighed(x[0] / x[1]); });
  expect_slopes({kMatrix, kOther}, [](In x) { return weighed(maximum(x[0], x[1])); });
  expect_slopes({kMatrix, kOther}, [](In x) { return weighed(minimum(x[0], x[1])); });
  expect_slopes({kMatrix, kOther}, [](In x) { return weighed(pow(x[0], x[1])); });
  expect_slopes({kMatrix, kOther},
                [](In x) { return weighed(select(less(x[0], 1.25), x[0] * 3, x[1])); });
  expect_slopes({kMatrix}, [](In x) { return weighed(x[0] * x[0] * x[0]); });
}

TEST(Derivative, OfMovements) {
  expect_slopes({kMatrix}, [](In x) { return weighed(reshape(x[0], {3, 2})); });
  expect_slopes({floats({2, 1, 3}, {1, 2, 3, 4, 5, 6})}, [](In x) {
    return weighed(transpose(x[0], {2, 0, 1}));
  });
  expect_slopes({kMatrix}, [](In x) { return weighed(broadcast_to(x[0], {2, 2, 3})); });
  expect_slopes({floats({3, 1}, {1, 2, 3})}, [](In x) {
    return weighed(broadcast_in_dim(x[0], {2, 4, 3}, {2, 0}));
  });
  expect_slopes({kMatrix}, [](In x) { return weighed(slice(x[0], {1, 1}, {2, 3})); });
  expect_slopes({floats({7}, {1, 2, 3, 4, 5, 6, 7})},
                [](In x) { return weighed(slice(x[0], {1}, {7}, {3})); });
  expect_slopes({floats({7}, {1, 2, 3, 4, 5, 6, 7})},
                [](In x) { return weighed(slice(x[0], {0}, {7}, {2})); });
  expect_slopes({kMatrix, kOther}, [](In x) {
    return weighed(concatenate({x[0], x[1], x[0]}, 1));
  });
}

TEST(Derivative, OfProducts) {
  expect_slopes({kMatrix, floats({3, 2}, {1, 2, 3, 4, 5, 6})},
                [](In x) { return weighed(matmul(x[0], x[1])); });
  expect_slopes({floats({2, 1, 2}, {1, 2, 3, 4}), floats({2, 2, 1}, {5, 6, 7, 8})},
                [](In x) { return weighed(matmul(x[0], x[1])); });
  // Batch and contracting dimensions in crossed orders, sizes 2 (batch), 3 and 1 (contracted).
  std::vector<float> numbers(24);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = 0.25f * static_cast<float>(i) - 2;
  expect_slopes({floats({3, 2, 2, 2}, numbers), floats({2, 2, 3, 2}, numbers)}, [](In x) {
    return weighed(dot_general(x[0], x[1],
                               {.left_batch = {2},
                                .right_batch = {0},
                                .left_contract = {0, 3},
                                .right_contract = {2, 1}}));
  });
}

TEST(Derivative, OfReductionsAndSoftmax) {
  expect_slopes({kMatrix}, [](In x) { return weighed(reduce_sum(x[0], {0})); });
  expect_slopes({kMatrix}, [](In x) { return weighed(reduce_max(x[0], {1})); });
  expect_slopes({kMatrix}, [](In x) { return reduce_max(x[0]); });
  expect_slopes({kMatrix}, [](In x) { return weighed(mean(x[0], {1}, KeepDims::kYes)); });
  expect_slopes({kMatrix}, [](In x) { return weighed(softmax(x[0])); });
  expect_slopes({kMatrix}, [](In x) { return weighed(log_softmax(x[0], 0)); });
}

TEST(Derivative, OfRows) {
  expect_slopes({floats({3, 2}, {1, 2, 3, 4, 5, 6}), ints({4}, {2, 0, 2, 9})},
                [](In x) { return weighed(gather_rows(x[0], x[1])); });
  expect_slopes(
      {floats({3, 2}, {1, 2, 3, 4, 5, 6}), ints({2}, {2, 2}), floats({2, 2}, {1, 2, 3, 4})},
      [](In x) { return weighed(scatter_add_rows(x[0], x[1], x[2])); });
}

TEST(Derivative, OfCollectivesIsThatOfTheSumOverAllShards) {
  const AxisSizes axes = {{"a", 2}, {"b", 2}};
  const std::vector<ShardLiterals> in = {
      {floats({2}, {1, 2}), floats({2}, {3, -4}), floats({2}, {0.5, 6}), floats({2}, {7, 1})}};
  // Weights that differ by shard, so that a wrong neighbour would show.
  const auto own = [](const Tensor& x) {
    const Tensor number = convert(axis_index("a") * 2 + axis_index("b"), DType::kF32);
    return weighed(x * x * 0.25) * (number + 1);
  };

  expect_slopes(axes, in, [&](In x) { return own(all_reduce(x[0], "a")); });
  expect_slopes(axes, in, [&](In x) { return own(all_reduce(x[0], "b", Reduction::kMax)); });
  expect_slopes(axes, in, [&](In x) { return own(all_gather(x[0], "b", 0)); });
  expect_slopes(axes, in, [&](In x) { return own(reduce_scatter(x[0], "a", 0)); });
  expect_slopes(axes, in, [&](In x) { return own(permute(x[0], "b", {{0, 1}})); });
  expect_slopes(axes, in, [&](In x) { return own(permute(x[0], "a", {{0, 1}, {1, 0}})); });
}

TEST(Derivative, StopsWhereItIsTold) {
  const Literal in = floats({2}, {3, 5});
  const auto derivative = [&](const LossBody& body) {
    return evaluate({in}, [&](In x) { return gradients(body(x), {x[0]})[0]; });
  };

  EXPECT_EQ(derivative([](In x) { return reduce_sum(stop_gradient(x[0]) * x[0]); }), in);
  EXPECT_EQ(derivative([](In x) { return reduce_sum(stop_gradient(x[0])); }), floats({2}, {0, 0}));
  EXPECT_EQ(
      derivative([](In x) { return reduce_sum(convert(convert(x[0], DType::kI32), DType::kF32)); }),
      floats({2}, {0, 0}));
  EXPECT_EQ(derivative([](In) { return constant(1.0f); }), floats({2}, {0, 0}));
}

TEST(Derivative, SharesAmongEqualLargestAndIsZeroAtTheKinkOfRelu) {
  const Literal in = floats({3}, {0, 2, 2});

  EXPECT_EQ(evaluate({in}, [](In x) { return gradients(reduce_max(x[0]), {x[0]})[0]; }),
            floats({3}, {0, 0.5, 0.5}));
  EXPECT_EQ(evaluate({in}, [](In x) { return gradients(reduce_sum(relu(x[0])), {x[0]})[0]; }),
            floats({3}, {0, 1, 1}));
  EXPECT_EQ(evaluate({in}, [](In x) { return gradients(reduce_sum(pow(x[0], 0)), {x[0]})[0]; }),
            floats({3}, {0, 0, 0}));
}

TEST(Derivative, OfADerivativeWorksToo) {
  const Literal second = evaluate({floats({}, {2})}, [](In x) {
    const Tensor first = gradients(x[0] * x[0] * x[0], {x[0]})[0];
    return gradients(first, {x[0]})[0];
  });

  EXPECT_EQ(second, floats({}, {12}));
}

TEST(Derivative, RefusesALossThatIsNoScalarAndIntegers) {
  EXPECT_NE(mistake({f32({2})}, [](In x) { return gradients(x[0], {x[0]})[0]; })
                .find("gradients: the loss needs to be an f32 scalar of this function, it is "
                      "f32[2]"),
            std::string::npos);
  EXPECT_NE(mistake({f32({}), i32({3})}, [](In x) { return gradients(x[0], {x[1]})[0]; })
                .find("gradients: value 0 needs to be an f32 tensor of this function, it is "
                      "i32[3]"),
            std::string::npos);
}

}  // namespace
}  // namespace seaway::function
