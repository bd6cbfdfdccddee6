// What tensors and the choices of expressions print.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "function/capture.hpp"
#include "seaway/tensor.hpp"

namespace seaway::function {
namespace {

TEST(TensorWords, ATensorPrintsTheOperationThatMakesIt) {
  std::vector<std::string> printed;

  const auto graph = capture("f", {}, std::vector{f32({2, 3}), f32({2, 3})},
                             [&printed](std::span<const Tensor> x) {
                               const Tensor sum = x[0] + x[1];
                               const Tensor most = reduce_max(sum, {1});
                               for (const Tensor& value : {x[1], sum, most}) {
                                 printed.push_back(value.to_string());
                               }
                               return std::vector<Tensor>{most};
                             });

  ASSERT_TRUE(graph.ok()) << graph.status().to_string();
  EXPECT_EQ(printed, (std::vector<std::string>{"tensor %1 = parameter 1 : f32[2,3]",
                                               "tensor %2 = add %0, %1 : f32[2,3]",
                                               "tensor %3 = reduce max dims=[1] %2 : f32[2]"}));
  EXPECT_EQ(Tensor().to_string(), "tensor (empty)");
}

TEST(TensorWords, AnOperandPrintsItsNumberOrItsTensor) {
  EXPECT_EQ(Operand(0.5).to_string(), "number 0.5");
  EXPECT_EQ(Operand(3).to_string(), "number 3");
  EXPECT_EQ(Operand(Tensor()).to_string(), "tensor (empty)");
}

TEST(TensorWords, ChoicesPrintTheirNames) {
  EXPECT_EQ((DotDimensions{.left_batch = {0},
                           .right_batch = {1},
                           .left_contract = {2, 3},
                           .right_contract = {0, 2}})
                .to_string(),
            "dot dimensions: batch [0] with [1], contract [2,3] with [0,2]");
  EXPECT_EQ(to_string(KeepDims::kNo), "drop dimensions");
  EXPECT_EQ(to_string(KeepDims::kYes), "keep dimensions");
  EXPECT_EQ(to_string(Reduction::kSum), "sum");
  EXPECT_EQ(to_string(Reduction::kMax), "max");
}

}  // namespace
}  // namespace seaway::function
