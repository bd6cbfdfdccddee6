// Strides.

#include "front/host_layout.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "base/check.hpp"
#include "base/limits.hpp"

namespace seaway::front {
namespace {

constexpr std::size_t kRankMax = limits::kRank.max;

}  // namespace

bool is_dense(const TensorType& type, std::span<const std::int64_t> byte_strides) {
  if (byte_strides.empty() || type.elements() == 0) return true;
  auto dense = static_cast<std::int64_t>(size_of(type.dtype));
  for (std::size_t dim = type.shape.size(); dim-- > 0;) {
    // Of a dimension of size 1 the distance means nothing.
    if (type.shape[dim] != 1 && byte_strides[dim] != dense) return false;
    dense *= type.shape[dim];
  }
  return true;
}

std::vector<std::byte> make_dense(const TensorType& type, const std::byte* data,
                                  std::span<const std::int64_t> byte_strides) {
  std::vector<std::byte> dense(type.bytes());
  if (dense.empty()) return dense;
  const std::size_t rank = type.shape.size(), bytes = size_of(type.dtype);
  std::vector<std::int64_t> index(rank, 0);
  const std::byte* from = data;
  for (std::byte* to = dense.data(); to != dense.data() + dense.size(); to += bytes) {
    std::memcpy(to, from, bytes);
    for (std::size_t dim = rank; dim-- > 0;) {
      from += byte_strides[dim];
      if (++index[dim] < type.shape[dim]) break;
      from -= byte_strides[dim] * type.shape[dim];
      index[dim] = 0;
    }
  }
  return dense;
}

std::span<const std::int64_t> minor_to_major(std::size_t rank) {
  static const auto falling = [] {
    std::array<std::int64_t, kRankMax> all;
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i] = static_cast<std::int64_t>(all.size() - 1 - i);
    }
    return all;
  }();
  SEAWAY_CHECK(rank <= falling.size(), rank);
  return std::span(falling).last(rank);
}

Status check_row_major(const TensorType& type, const pjrt::abi::MemoryLayout* layout) {
  if (layout == nullptr) return {};
  bool is_row_major = false;
  if (layout->type == pjrt::abi::LayoutType::kStrides) {
    is_row_major =
        is_dense(type, {layout->strided.byte_strides, layout->strided.byte_strides_count});
  } else {
    const pjrt::abi::TiledLayout& tiled = layout->tiled;
    const std::span order(tiled.minor_to_major, tiled.minor_to_major_size);
    is_row_major = tiled.tiles == 0 && std::ranges::equal(order, minor_to_major(type.shape.size()));
  }
  if (is_row_major) return {};
  return unimplemented("a layout other than row-major of " + to_string(type) +
                       ": arrays of Seaway's are dense and row-major; leave the layout out");
}

}  // namespace seaway::front
