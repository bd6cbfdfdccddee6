// Layers, losses, optimisers and initial values against numbers worked out by hand.

#include "seaway/model.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "unit/function/evaluate.hpp"

namespace seaway::model {
namespace {

using function::capture;
using function::evaluate;
using function::floats;
using function::interpret;
using function::ints;
using function::Literal;
using function::mistake;
using function::values;
using In = std::span<const Tensor>;

/// All results of `body` on one shard.
std::vector<Literal> results_of(const std::vector<Literal>& arguments, const TensorBody& body) {
  std::vector<TensorType> types;
  std::vector<function::ShardLiterals> gang;
  for (const Literal& argument : arguments) {
    types.push_back(argument.type());
    gang.push_back({argument});
  }
  const auto graph = capture("test", {}, types, body);
  EXPECT_TRUE(graph.ok()) << graph.status().to_string();
  if (!graph.ok()) return {};
  const auto results = interpret(*graph, {}, 1, gang);
  EXPECT_TRUE(results.ok()) << results.status().to_string();
  std::vector<Literal> first;
  if (results.ok()) {
    for (const auto& result : *results) first.push_back(result[0]);
  }
  return first;
}

TEST(InitialValues, AreAFunctionOfSeedAndNameAlone) {
  const auto first = normal({100}, 1.0f, 7, 1);

  EXPECT_EQ(first, normal({100}, 1.0f, 7, 1));
  EXPECT_NE(first, normal({100}, 1.0f, 7, 2));
  EXPECT_NE(first, normal({100}, 1.0f, 8, 1));
}

TEST(InitialValues, HaveTheDeviationThatTheLayerWants) {
  const auto weights = he_normal(200, 50, 1, 1);

  double sum = 0, squares = 0;
  for (const float weight : weights) {
    sum += static_cast<double>(weight);
    squares += static_cast<double>(weight * weight);
  }
  ASSERT_EQ(weights.size(), 10'000u);
  EXPECT_NEAR(sum / 1e4, 0, 0.003);
  EXPECT_NEAR(std::sqrt(squares / 1e4), 0.1, 0.003);
}

TEST(InitialValues, OfGlorotStayWithinTheirLimit) {
  const auto weights = glorot_uniform(50, 100, 1, 1);

  const auto [low, high] = std::minmax_element(weights.begin(), weights.end());
  EXPECT_GE(*low, -0.2f);
  EXPECT_LE(*high, 0.2f);
  EXPECT_GT(*high - *low, 0.39f);
}

TEST(InitialValues, OfAShapeThatIsNoneAreNone) {
  EXPECT_TRUE(uniform({3, -1}, 0, 1, 1, 1).empty());
  EXPECT_TRUE(permutation(-4, 1, 1).empty());
}

TEST(InitialValues, APermutationHasEachNumberOnce) {
  auto order = permutation(1000, 3, 4);
  std::vector<std::int32_t> sorted(1000);
  std::iota(sorted.begin(), sorted.end(), 0);

  EXPECT_NE(order, sorted);
  EXPECT_EQ(order, permutation(1000, 3, 4));
  std::sort(order.begin(), order.end());
  EXPECT_EQ(order, sorted);
}

TEST(Dense, MultipliesAndAddsTheBiasToEachRow) {
  const Literal y = evaluate(
      {floats({2, 2}, {1, 2, 3, 4}), floats({2, 3}, {1, 0, 1, 0, 1, 1}), floats({3}, {10, 20, 30})},
      [](In in) { return dense(in[0], in[1], in[2]); });

  EXPECT_EQ(values(y), (std::vector<float>{11, 22, 33, 13, 24, 37}));
}

TEST(Dense, AWrongShapeNamesTheLineOfItsCaller) {
  const auto message = mistake({f32({2, 2}), f32({3, 3}), f32({3})},
                               [](In in) { return dense(in[0], in[1], in[2]); });

  EXPECT_NE(message.find("model_test.cpp"), std::string::npos) << message;
  EXPECT_NE(message.find("f32[3,3]"), std::string::npos) << message;
}

TEST(CrossEntropy, OfEqualLogitsIsTheLogarithmOfTheClasses) {
  const Literal loss = evaluate({floats({2, 4}, std::vector<float>(8, 5.0f)), ints({2}, {1, 3})},
                                [](In in) { return softmax_cross_entropy(in[0], in[1]); });

  EXPECT_NEAR(values(loss)[0], std::log(4.0f), 1e-6f);
}

TEST(CrossEntropy, StaysFiniteForLargeLogits) {
  const Literal loss = evaluate({floats({1, 2}, {1000, 0}), ints({1}, {1})},
                                [](In in) { return softmax_cross_entropy(in[0], in[1]); });

  EXPECT_EQ(values(loss)[0], 1000.0f);
}

TEST(CrossEntropy, ALabelOutsideTheClassesAddsNothing) {
  const Literal loss = evaluate({floats({2, 2}, {0, 0, 0, 0}), ints({2}, {2, 0})},
                                [](In in) { return cross_entropy_by_row(in[0], in[1]); });

  EXPECT_EQ(values(loss)[0], 0.0f);
  EXPECT_NEAR(values(loss)[1], std::log(2.0f), 1e-6f);
}

TEST(CountCorrect, CountsRowsWhoseLargestLogitIsTheLabel) {
  const Literal count = evaluate({floats({3, 2}, {1, 2, 3, 1, 0, 9}), ints({3}, {1, 1, 1})},
                                 [](In in) { return count_correct(in[0], in[1]); });

  EXPECT_EQ(values(count)[0], 2.0f);
}

TEST(Sgd, KeepsAPartOfItsVelocity) {
  const auto step = results_of({floats({1}, {10}), floats({1}, {4}), floats({1}, {2})}, [](In in) {
    const SgdStep next = sgd(in[0], in[1], in[2], {.learning_rate = 0.5, .momentum = 0.5});
    return std::vector<Tensor>{next.parameter, next.velocity};
  });

  EXPECT_EQ(values(step[1])[0], 4.0f);
  EXPECT_EQ(values(step[0])[0], 8.0f);
}

TEST(Sgd, WeightDecayPullsTowardsZero) {
  const auto step = results_of({floats({1}, {10}), floats({1}, {0}), floats({1}, {0})}, [](In in) {
    const SgdStep next =
        sgd(in[0], in[1], in[2], {.learning_rate = 0.5, .momentum = 0.0, .weight_decay = 0.5});
    return std::vector<Tensor>{next.parameter};
  });

  EXPECT_EQ(values(step[0])[0], 7.5f);
}

TEST(Adam, ItsFirstStepIsTheLearningRateWhateverTheSizeOfTheGradient) {
  const auto step = results_of({floats({2}, {1, 1}), floats({2}, {0, 0}), floats({2}, {0, 0}),
                                floats({2}, {1000, -0.5f}), floats({}, {1})},
                               [](In in) {
                                 const AdamStep next = adam(in[0], in[1], in[2], in[3], in[4],
                                                            {.learning_rate = 0.25});
                                 return std::vector<Tensor>{next.parameter, next.mean, next.square};
                               });

  EXPECT_NEAR(values(step[0])[0], 0.75f, 1e-4f);
  EXPECT_NEAR(values(step[0])[1], 1.25f, 1e-4f);
  EXPECT_NEAR(values(step[1])[0], 100.0f, 1e-3f);
  EXPECT_NEAR(values(step[2])[1], 0.00025f, 1e-6f);
}

TEST(ValueAndGradients, GivesTheLossAndItsDerivatives) {
  const auto results = results_of(
      {floats({2}, {1, 2}), floats({2}, {3, 4})},
      value_and_gradients([](In in) { return reduce_sum(in[0] * in[1] * in[1]); }, {1, 0}));

  EXPECT_EQ(values(results[0])[0], 41.0f);
  EXPECT_EQ(values(results[1]), (std::vector<float>{6, 16}));
  EXPECT_EQ(values(results[2]), (std::vector<float>{9, 16}));
}

TEST(ValueAndGradients, AParameterThatIsNotThereIsAMistake) {
  const auto body = value_and_gradients([](In in) { return reduce_sum(in[0]); }, {3});

  const std::vector<TensorType> parameters = {f32({2})};
  const auto graph = capture("f", {}, parameters, body);

  EXPECT_EQ(graph.status().code(), StatusCode::kInvalidArgument);
}

TEST(PullBack, TwoStagesGiveTheDerivativesOfTheWhole) {
  const LossBody first = [](In in) { return relu(dense(in[0], in[1], in[2])); };
  const LossBody second = [](In in) { return softmax_cross_entropy(in[0], in[1]); };
  const Literal x = floats({3, 2}, uniform({3, 2}, -1, 1, 1, 1));
  const Literal weights = floats({2, 4}, uniform({2, 4}, -1, 1, 1, 2));
  const Literal bias = floats({4}, uniform({4}, -1, 1, 1, 3));
  const Literal labels = ints({3}, {0, 1, 2});

  const auto whole = results_of({x, weights, bias, labels},
                                value_and_gradients(
                                    [&](In in) {
                                      return second(std::vector<Tensor>{first(in.first(3)), in[3]});
                                    },
                                    {1, 2}));
  const Literal hidden = evaluate({x, weights, bias}, first);
  const auto behind = results_of({hidden, labels}, value_and_gradients(second, {0}));
  const auto parts = results_of({x, weights, bias, behind[1]}, pull_back(first, {1, 2}));

  EXPECT_EQ(values(behind[0]), values(whole[0]));
  EXPECT_EQ(values(parts[0]), values(whole[1]));
  EXPECT_EQ(values(parts[1]), values(whole[2]));
}

TEST(PullBack, WithoutParametersIsAMistake) {
  const auto graph = capture("f", {}, {}, pull_back([](In) { return Tensor(); }, {}));

  EXPECT_FALSE(graph.ok());
}

TEST(Training, LearnsExclusiveOr) {
  const LossBody loss = [](In in) {
    const Tensor hidden = tanh(dense(in[0], in[2], in[3]));
    return softmax_cross_entropy(dense(hidden, in[4], in[5]), in[1]);
  };
  const TensorBody step = [&](In in) {
    const auto found = value_and_gradients(loss, {2, 3, 4, 5})(in);
    std::vector<Tensor> results = {found[0]};
    for (std::size_t i = 0; i < 4; ++i) {
      const SgdStep next =
          sgd(in[2 + i], in[6 + i], found[1 + i], {.learning_rate = 0.2, .momentum = 0.9});
      results.push_back(next.parameter);
      results.push_back(next.velocity);
    }
    return results;
  };
  std::vector<Literal> arguments = {
      floats({4, 2}, {0, 0, 0, 1, 1, 0, 1, 1}),   ints({4}, {0, 1, 1, 0}),
      floats({2, 8}, glorot_uniform(2, 8, 5, 1)), floats({8}, std::vector<float>(8)),
      floats({8, 2}, glorot_uniform(8, 2, 5, 2)), floats({2}, std::vector<float>(2)),
      floats({2, 8}, std::vector<float>(16)),     floats({8}, std::vector<float>(8)),
      floats({8, 2}, std::vector<float>(16)),     floats({2}, std::vector<float>(2))};

  float last = 0;
  for (int i = 0; i < 200; ++i) {
    const auto results = results_of(arguments, step);
    ASSERT_EQ(results.size(), 9u);
    last = values(results[0])[0];
    for (std::size_t p = 0; p < 4; ++p) {
      arguments[2 + p] = results[1 + 2 * p];
      arguments[6 + p] = results[2 + 2 * p];
    }
  }

  EXPECT_LT(last, 0.05f);
}

}  // namespace
}  // namespace seaway::model
