// What choices and steps of optimisers print.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "function/capture.hpp"
#include "seaway/model.hpp"

namespace seaway::model {
namespace {

TEST(ModelWords, OptionsPrintTheirNumbers) {
  EXPECT_EQ(SgdOptions().to_string(), "sgd: learning rate 0.1, momentum 0.9, weight decay 0");
  EXPECT_EQ((SgdOptions{.learning_rate = 2, .momentum = 0, .weight_decay = 1e-4}).to_string(),
            "sgd: learning rate 2, momentum 0, weight decay 0.0001");
  EXPECT_EQ(AdamOptions().to_string(),
            "adam: learning rate 0.001, mean decay 0.9, square decay 0.999, epsilon 1e-08");
}

TEST(ModelWords, StepsPrintTheTypesOfTheirTensors) {
  std::vector<std::string> printed;

  const auto graph = function::capture(
      "f", {}, std::vector{f32({2, 3}), f32({})}, [&printed](std::span<const Tensor> x) {
        const SgdStep plain = sgd(x[0], x[0], x[0], {});
        const AdamStep scaled = adam(x[0], x[0], x[0], x[0], x[1], {});
        printed = {plain.to_string(), scaled.to_string(),
                   SgdStep{.parameter = x[0], .velocity = x[1]}.to_string(),
                   AdamStep{.parameter = x[1], .mean = x[0], .square = x[1]}.to_string()};
        return std::vector<Tensor>{plain.parameter, scaled.parameter};
      });

  ASSERT_TRUE(graph.ok()) << graph.status().to_string();
  EXPECT_EQ(printed, (std::vector<std::string>{
                         "sgd step: parameter f32[2,3], velocity f32[2,3]",
                         "adam step: parameter f32[2,3], mean f32[2,3], square f32[2,3]",
                         "sgd step: parameter f32[2,3], velocity f32[]",
                         "adam step: parameter f32[], mean f32[2,3], square f32[]"}));
}

}  // namespace
}  // namespace seaway::model
