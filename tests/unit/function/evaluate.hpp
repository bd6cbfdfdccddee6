// Help for the tests of functions: capture a body and evaluate it on the reference interpreter.

#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "function/capture.hpp"
#include "function/interpreter.hpp"
#include "seaway/tensor.hpp"

namespace seaway::function {

inline Literal floats(const Shape& shape, const std::vector<float>& elements) {
  return Literal::of<float>(shape, elements);
}
inline Literal ints(const Shape& shape, const std::vector<std::int32_t>& elements) {
  return Literal::of<std::int32_t>(shape, elements);
}
inline Literal flags(const Shape& shape, const std::vector<bool>& elements) {
  return Literal::of<bool>(shape, elements);
}

/// The first output on each shard; arguments[parameter][shard].
inline ShardLiterals evaluate(const AxisSizes& axes, const std::vector<ShardLiterals>& arguments,
                              const TensorBody& body) {
  std::vector<TensorType> types;
  for (const ShardLiterals& argument : arguments) types.push_back(argument[0].type());
  const Result<Graph> graph = capture("test", axes, types, body);
  EXPECT_TRUE(graph.ok()) << graph.status().to_string();
  if (!graph.ok()) return {};
  const auto shards = static_cast<std::size_t>(shard_count(axes));
  const auto results = interpret(*graph, axes, shards, arguments);
  EXPECT_TRUE(results.ok()) << results.status().to_string();
  return results.ok() ? results->front() : ShardLiterals{};
}

/// The result of `body` on one shard.
inline Literal evaluate(const std::vector<Literal>& arguments,
                        const std::function<Tensor(std::span<const Tensor>)>& body) {
  std::vector<ShardLiterals> gang;
  for (const Literal& argument : arguments) gang.push_back({argument});
  const ShardLiterals results =
      evaluate({}, gang, [&](std::span<const Tensor> in) { return std::vector<Tensor>{body(in)}; });
  return results.empty() ? Literal() : results[0];
}

/// The message that capturing `body` ends with; "" if it succeeds.
inline std::string mistake(const std::vector<TensorType>& parameters,
                           const std::function<Tensor(std::span<const Tensor>)>& body,
                           const AxisSizes& axes = {}) {
  const Result<Graph> graph = capture("f", axes, parameters, [&](std::span<const Tensor> in) {
    return std::vector<Tensor>{body(in)};
  });
  if (graph.ok()) return "";
  EXPECT_EQ(graph.status().code(), StatusCode::kInvalidArgument);
  return graph.status().message();
}

inline std::vector<float> values(const Literal& literal) {
  const auto elements = literal.as<float>();
  return {elements.begin(), elements.end()};
}

}  // namespace seaway::function
