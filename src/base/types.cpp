// Names, sizes and limits of tensor types.

#include "seaway/types.hpp"

#include "base/limits.hpp"

namespace seaway {

std::string_view to_string(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return "f32";
    case DType::kI32:
      return "i32";
    case DType::kBool:
      return "i1";
    case DType::kI8:
      return "i8";
    case DType::kI16:
      return "i16";
    case DType::kI64:
      return "i64";
    case DType::kU8:
      return "ui8";
    case DType::kU16:
      return "ui16";
    case DType::kU32:
      return "ui32";
    case DType::kU64:
      return "ui64";
    case DType::kF16:
      return "f16";
    case DType::kBf16:
      return "bf16";
    case DType::kF64:
      return "f64";
    case DType::kC64:
      return "complex<f32>";
    case DType::kC128:
      return "complex<f64>";
  }
  return "?";
}

std::size_t size_of(DType dtype) {
  switch (dtype) {
    case DType::kBool:
    case DType::kI8:
    case DType::kU8:
      return 1;
    case DType::kI16:
    case DType::kU16:
    case DType::kF16:
    case DType::kBf16:
      return 2;
    case DType::kF32:
    case DType::kI32:
    case DType::kU32:
      return 4;
    case DType::kI64:
    case DType::kU64:
    case DType::kF64:
    case DType::kC64:
      return 8;
    case DType::kC128:
      return 16;
  }
  return 4;
}

std::int64_t element_count(std::span<const std::int64_t> shape) {
  // Zero first: beside an empty dimension the others may be of any size.
  for (const std::int64_t size : shape) {
    if (size == 0) return 0;
  }
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  return count;
}

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ',';
    text += std::to_string(shape[i]);
  }
  return text + "]";
}

std::string to_string(const TensorType& type) {
  return std::string(to_string(type.dtype)) + to_string(type.shape);
}

Status validate(const TensorType& type) {
  constexpr auto kBytesMax = static_cast<std::int64_t>(limits::kTensorBytes.max);
  if (Status status = limits::check(limits::kRank, type.shape.size(), "tensor"); !status.ok()) {
    return status;
  }
  std::int64_t bytes = static_cast<std::int64_t>(size_of(type.dtype));
  bool is_empty = false;
  for (const std::int64_t size : type.shape) {
    if (size < 0) {
      return invalid_argument("type " + to_string(type) + " has a negative dimension");
    }
    if (size == 0) is_empty = true;
  }
  if (is_empty) return {};
  for (const std::int64_t size : type.shape) {
    if (size > kBytesMax / bytes) {
      return invalid_argument("type " + to_string(type) + " is larger than the limit of " +
                              std::to_string(kBytesMax) + " bytes; shard it, or use a smaller one");
    }
    bytes *= size;
  }
  return {};
}

}  // namespace seaway
