// How a framework's arrays lie in its memory, and the same values dense and row-major.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "pjrt/abi_front.hpp"
#include "seaway/status.hpp"
#include "seaway/types.hpp"

namespace seaway::front {

/// Whether elements with these distances, in bytes, lie densely and row-major. No distances: they
/// do.
bool is_dense(const TensorType& type, std::span<const std::int64_t> byte_strides);

/// Copies elements that lie `byte_strides` apart, which may be negative or 0, into a dense value.
std::vector<std::byte> make_dense(const TensorType& type, const std::byte* data,
                                  std::span<const std::int64_t> byte_strides);

/// Seaway's arrays are dense and row-major. kUnimplemented for a layout that is not; null is.
Status check_row_major(const TensorType& type, const pjrt::abi::MemoryLayout* layout);

/// Dimensions from the innermost to the outermost, of a row-major layout; for ever. Requires a rank
/// that arrays can have.
std::span<const std::int64_t> minor_to_major(std::size_t rank);

}  // namespace seaway::front
