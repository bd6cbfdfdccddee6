// Element types, shapes, and the type of a tensor: known before any input exists.

#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "seaway/status.hpp"

namespace seaway {

/// Type of one element. kBool is stored in one byte, 0 or 1.
enum class DType : std::uint8_t { kF32 = 0, kI32 = 1, kBool = 2 };

/// "f32", "i32", "i1": StableHLO's names.
std::string_view to_string(DType dtype);
/// Bytes of one element.
std::size_t size_of(DType dtype);

/// The C++ type that holds one element: float, std::int32_t, bool.
template <class T>
constexpr DType dtype_of();
template <>
constexpr DType dtype_of<float>() {
  return DType::kF32;
}
template <>
constexpr DType dtype_of<std::int32_t>() {
  return DType::kI32;
}
template <>
constexpr DType dtype_of<bool>() {
  return DType::kBool;
}

/// Sizes of the dimensions, outermost first; row-major. Rank 0 is a scalar. A dimension may be 0.
using Shape = std::vector<std::int64_t>;

/// Number of elements; 1 for a scalar. Requires dimensions >= 0.
std::int64_t element_count(std::span<const std::int64_t> shape);
/// "[2,3]", "[]".
std::string to_string(const Shape& shape);

/// Shape and element type of one tensor. A value.
struct TensorType {
  DType dtype = DType::kF32;
  Shape shape;

  std::int64_t elements() const { return element_count(shape); }
  std::size_t bytes() const { return static_cast<std::size_t>(elements()) * size_of(dtype); }

  friend bool operator==(const TensorType&, const TensorType&) = default;
};

/// "f32[2,3]".
std::string to_string(const TensorType& type);

/// kInvalidArgument when a dimension is negative or the tensor would be larger than 2^40 bytes.
Status validate(const TensorType& type);

inline TensorType f32(std::initializer_list<std::int64_t> shape) { return {DType::kF32, shape}; }
inline TensorType i32(std::initializer_list<std::int64_t> shape) { return {DType::kI32, shape}; }
inline TensorType boolean(std::initializer_list<std::int64_t> shape) {
  return {DType::kBool, shape};
}

}  // namespace seaway
