// The parts of the reference interpreter: one function per kind of operation.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "function/interpreter.hpp"

namespace seaway::function {

using Index = std::vector<std::int64_t>;
using Operands = std::vector<const Literal*>;

/// Calls body(index) for every index of `shape` in row-major order.
template <class Body>
void for_each_index(const Shape& shape, const Body& body) {
  const std::int64_t count = element_count(shape);
  Index index(shape.size(), 0);
  for (std::int64_t i = 0; i < count; ++i) {
    body(index);
    for (std::size_t dim = shape.size(); dim-- > 0;) {
      if (++index[dim] < shape[dim]) break;
      index[dim] = 0;
    }
  }
}

/// Row-major position of `index`.
inline std::size_t position(const Shape& shape, const Index& index) {
  std::int64_t at = 0;
  for (std::size_t dim = 0; dim < shape.size(); ++dim) at = at * shape[dim] + index[dim];
  return static_cast<std::size_t>(at);
}

/// Calls body.operator()<T>() with the C++ type of `dtype`.
template <class Body>
decltype(auto) with_type(DType dtype, const Body& body) {
  switch (dtype) {
    case DType::kF32:
      return body.template operator()<float>();
    case DType::kI32:
      return body.template operator()<std::int32_t>();
    default:
      return body.template operator()<bool>();
  }
}

/// left + right in the element type; i32 wraps. maximum: NaN if either is.
float add(float left, float right);
std::int32_t add(std::int32_t left, std::int32_t right);
float maximum(float left, float right);
std::int32_t maximum(std::int32_t left, std::int32_t right);

/// Constants, iota and everything elementwise.
Literal evaluate_elementwise(const Instruction& instruction, const Operands& operands);
/// What moves elements: reshape, broadcast, transpose, slice, concatenate, rows.
Literal evaluate_movement(const Instruction& instruction, const Operands& operands);
/// dot_general and reduce.
Literal evaluate_contraction(const Instruction& instruction, const Operands& operands);
/// Over all shards at once.
ShardLiterals evaluate_collective(const Instruction& instruction, const AxisSizes& axes,
                                  const ShardLiterals& operand, std::size_t shards);

}  // namespace seaway::function
