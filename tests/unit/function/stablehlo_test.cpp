// Pieces of StableHLO text, as its own parser accepts them.

#include <limits>

#include "unit/function/evaluate.hpp"

namespace seaway::function {
namespace {

using In = std::span<const Tensor>;

std::string text_of(const std::vector<TensorType>& parameters, const TensorBody& body,
                    const AxisSizes& axes = {}) {
  return to_stablehlo(capture("my f\"", axes, parameters, body).value(), axes);
}

#define EXPECT_HAS(text, piece) EXPECT_NE((text).find(piece), std::string::npos) << (text)

TEST(StableHlo, PrintsAWholeFunction) {
  const std::string text = text_of(
      {f32({2, 3}), f32({3, 1})}, [](In x) { return std::vector<Tensor>{matmul(x[0], x[1]) + 1}; });

  EXPECT_EQ(text,
            "module @\"my_f_\" {\n"
            "  func.func public @main(%arg0: tensor<2x3xf32>, %arg1: tensor<3x1xf32>) -> "
            "(tensor<2x1xf32>) {\n"
            "    %v2 = \"stablehlo.dot_general\"(%arg0, %arg1) {dot_dimension_numbers = "
            "#stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], "
            "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>} : "
            "(tensor<2x3xf32>, tensor<3x1xf32>) -> tensor<2x1xf32>\n"
            "    %v3 = \"stablehlo.constant\"() {value = dense<1.000000000e+00> : "
            "tensor<2x1xf32>} : () -> tensor<2x1xf32>\n"
            "    %v4 = \"stablehlo.add\"(%v2, %v3) : (tensor<2x1xf32>, tensor<2x1xf32>) -> "
            "tensor<2x1xf32>\n"
            "    \"func.return\"(%v4) : (tensor<2x1xf32>) -> ()\n"
            "  }\n"
            "}\n");
}

TEST(StableHlo, CallsEachOperationByItsName) {
  const AxisSizes axes = {{"data", 2}};
  const std::string text = text_of(
      {f32({2, 2}), f32({2, 2}), boolean({2, 2}), i32({2})},
      [](In x) {
        const Tensor &a = x[0], &b = x[1], &flag = x[2], &rows = x[3];
        return std::vector<Tensor>{negate(a),
                                   exp(a),
                                   log(a),
                                   sqrt(a),
                                   rsqrt(a),
                                   tanh(a),
                                   abs(a),
                                   logical_not(flag),
                                   convert(a, DType::kI32),
                                   a + b,
                                   a - b,
                                   a * b,
                                   a / b,
                                   maximum(a, b),
                                   minimum(a, b),
                                   pow(a, b),
                                   logical_and(flag, flag),
                                   logical_or(flag, flag),
                                   greater(a, b),
                                   select(flag, a, b),
                                   reshape(a, {4}),
                                   broadcast_to(a, {3, 2, 2}),
                                   transpose(a),
                                   slice(a, {0, 0}, {1, 1}),
                                   concatenate({a, b}, 0),
                                   matmul(a, b),
                                   reduce_sum(a, {0}),
                                   iota(f32({3}), 0),
                                   gather_rows(a, rows),
                                   scatter_add_rows(a, rows, b),
                                   all_reduce(a, "data"),
                                   all_gather(a, "data", 0),
                                   reduce_scatter(a, "data", 0),
                                   permute(a, "data", {{0, 1}}),
                                   axis_index("data")};
      },
      axes);

  for (const char* name : {"negate",
                           "exponential",
                           "log",
                           "sqrt",
                           "rsqrt",
                           "tanh",
                           "abs",
                           "not",
                           "convert",
                           "add",
                           "subtract",
                           "multiply",
                           "divide",
                           "maximum",
                           "minimum",
                           "power",
                           "and",
                           "or",
                           "compare",
                           "select",
                           "reshape",
                           "broadcast_in_dim",
                           "transpose",
                           "slice",
                           "concatenate",
                           "dot_general",
                           "reduce",
                           "iota",
                           "gather",
                           "scatter",
                           "all_reduce",
                           "all_gather",
                           "reduce_scatter",
                           "collective_permute",
                           "replica_id"}) {
    EXPECT_HAS(text, "\"stablehlo." + std::string(name) + "\"(");
  }
}

TEST(StableHlo, PrintsConstantsExactly) {
  const std::string text = text_of({}, [](In) {
    return std::vector<Tensor>{splat(f32({}), -std::numeric_limits<double>::infinity()),
                               constant(std::int32_t{-7}), constant(true), zeros(f32({0}))};
  });

  EXPECT_HAS(text, "dense<0xFF800000> : tensor<f32>");
  EXPECT_HAS(text, "dense<-7> : tensor<i32>");
  EXPECT_HAS(text, "dense<true> : tensor<i1>");
  EXPECT_HAS(text, "dense<> : tensor<0xf32>");
}

TEST(StableHlo, PrintsAttributesOfMovements) {
  const std::string text = text_of({f32({2, 3})}, [](In x) {
    return std::vector<Tensor>{transpose(x[0]),
                               slice(x[0], {0, 1}, {2, 3}, {1, 2}),
                               concatenate({x[0], x[0]}, 1),
                               broadcast_to(x[0], {4, 2, 3}),
                               convert(less(x[0], 1), DType::kI32),
                               iota(i32({2, 2}), 1)};
  });

  EXPECT_HAS(text, "{permutation = array<i64: 1, 0>}");
  EXPECT_HAS(text,
             "{start_indices = array<i64: 0, 1>, limit_indices = array<i64: 2, 3>, strides = "
             "array<i64: 1, 2>}");
  EXPECT_HAS(text, "{dimension = 1 : i64}");
  EXPECT_HAS(text, "{broadcast_dimensions = array<i64: 1, 2>}");
  EXPECT_HAS(text, "{comparison_direction = #stablehlo<comparison_direction LT>}");
  EXPECT_HAS(text, "{iota_dimension = 1 : i64} : () -> tensor<2x2xi32>");
}

TEST(StableHlo, PrintsReductionsWithTheirRegion) {
  const std::string text = text_of({f32({2, 3})}, [](In x) {
    return std::vector<Tensor>{reduce_max(x[0], {1}), argmax(x[0], 1)};
  });

  EXPECT_HAS(text, "\"stablehlo.maximum\"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>");
  EXPECT_HAS(text,
             "}) {dimensions = array<i64: 1>} : (tensor<2x3xf32>, tensor<f32>) -> "
             "tensor<2xf32>");
  EXPECT_HAS(text, "-> (tensor<2xf32>, tensor<2xi32>)");
}

TEST(StableHlo, PrintsRowsAsGatherAndClampedScatter) {
  const std::string text = text_of({f32({5, 4}), i32({3}), f32({3, 4})}, [](In x) {
    return std::vector<Tensor>{gather_rows(x[0], x[1]), scatter_add_rows(x[0], x[1], x[2])};
  });

  EXPECT_HAS(text,
             "#stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = "
             "[0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>");
  EXPECT_HAS(text, "\"stablehlo.clamp\"");
  EXPECT_HAS(text,
             "#stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], "
             "scatter_dims_to_operand_dims = [0], index_vector_dim = 1>");
}

TEST(StableHlo, SaysWhichOperandsAreDonated) {
  const std::vector<TensorType> types = {f32({2}), f32({2})};
  const auto add = [](In x) { return std::vector<Tensor>{x[0] + x[1]}; };
  const Graph graph = capture("f", {}, types, add).value();

  EXPECT_HAS(to_stablehlo(graph, {}, {{0, 1}}),
             "@main(%arg0: tensor<2xf32>, %arg1: tensor<2xf32> {tf.aliasing_output = 0 : i32}) ->");
}

TEST(StableHlo, ExchangesNothingAlongADimensionOfSizeZero) {
  const AxisSizes axes = {{"data", 2}};
  const std::string text = text_of(
      {f32({0, 4})},
      [](In x) {
        return std::vector<Tensor>{all_gather(x[0], "data", 0), reduce_scatter(x[0], "data", 0)};
      },
      axes);

  EXPECT_HAS(text, "%v1 = \"stablehlo.constant\"() {value = dense<> : tensor<0x4xf32>}");
  EXPECT_HAS(text, "%v2 = \"stablehlo.constant\"() {value = dense<> : tensor<0x4xf32>}");
}

TEST(StableHlo, PrintsExplicitReplicaGroups) {
  const AxisSizes axes = {{"data", 2}, {"model", 2}};
  const std::string text = text_of(
      {f32({4})},
      [](In x) {
        return std::vector<Tensor>{all_reduce(x[0], "model"), all_gather(x[0], "data", 0),
                                   reduce_scatter(x[0], "model", 0),
                                   permute(x[0], "data", {{0, 1}}), axis_index("data")};
      },
      axes);

  EXPECT_HAS(text, "{replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}");
  EXPECT_HAS(text,
             "{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 2], [1, 3]]> : "
             "tensor<2x2xi64>}");
  EXPECT_HAS(text, "{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1], [2, 3]]>");
  EXPECT_HAS(text, "{source_target_pairs = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>}");
  EXPECT_HAS(text, "\"stablehlo.replica_id\"() : () -> tensor<ui32>");
}

}  // namespace
}  // namespace seaway::function
