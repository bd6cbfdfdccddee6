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
///
/// Captured functions compute with the first three. Elements of the others can be stored, moved
/// and read; what computes with them is a foreign function (Client::foreign) or a native one.
enum class DType : std::uint8_t {
  kF32 = 0,
  kI32 = 1,
  kBool = 2,
  kI8 = 3,
  kI16 = 4,
  kI64 = 5,
  kU8 = 6,
  kU16 = 7,
  kU32 = 8,
  kU64 = 9,
  kF16 = 10,
  kBf16 = 11,  // The upper half of an f32.
  kF64 = 12,
  kC64 = 13,   // Two f32: real, imaginary.
  kC128 = 14,  // Two f64.
};
inline constexpr DType kLastDType = DType::kC128;

/// "f32", "i32", "i1", "ui8", "complex<f32>": StableHLO's names.
std::string_view to_string(DType dtype);
/// Bytes of one element.
std::size_t size_of(DType dtype);
/// Whether captured functions compute with such elements.
constexpr bool is_computed_with(DType dtype) { return dtype <= DType::kBool; }

/// The element type that `T` holds one of: kF32 of float, kI32 of std::int32_t, kBool of bool, and
/// so on for integers of a fixed width and double.
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
template <>
constexpr DType dtype_of<std::int8_t>() {
  return DType::kI8;
}
template <>
constexpr DType dtype_of<std::int16_t>() {
  return DType::kI16;
}
template <>
constexpr DType dtype_of<std::int64_t>() {
  return DType::kI64;
}
template <>
constexpr DType dtype_of<std::uint8_t>() {
  return DType::kU8;
}
template <>
constexpr DType dtype_of<std::uint16_t>() {
  return DType::kU16;
}
template <>
constexpr DType dtype_of<std::uint32_t>() {
  return DType::kU32;
}
template <>
constexpr DType dtype_of<std::uint64_t>() {
  return DType::kU64;
}
template <>
constexpr DType dtype_of<double>() {
  return DType::kF64;
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
