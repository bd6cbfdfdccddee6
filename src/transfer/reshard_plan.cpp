// Intersections of source and target boxes, and the copies that follow from them.

#include "transfer/reshard_plan.hpp"

#include <algorithm>
#include <cstring>

#include "base/check.hpp"

namespace seaway::transfer {
namespace {

void copy_dims(const std::byte* source, std::byte* target, const Copy& copy, std::size_t dim) {
  const std::uint64_t extent = copy.extents[dim];
  if (dim + 1 == copy.extents.size()) {
    std::memcpy(target, source, extent);
    return;
  }
  for (std::uint64_t i = 0; i < extent; ++i) {
    copy_dims(source + i * copy.source_strides[dim], target + i * copy.target_strides[dim], copy,
              dim + 1);
  }
}

/// Steps `index` through the box [first, last) row-major; false behind the last one.
template <class Ranges>
bool advance(std::vector<std::int64_t>& index, const Ranges& ranges) {
  for (std::size_t d = index.size(); d-- > 0;) {
    if (++index[d] < ranges[d].last) return true;
    index[d] = ranges[d].first;
  }
  return false;
}

}  // namespace

std::uint64_t Copy::bytes() const {
  std::uint64_t bytes = 1;
  for (const std::uint64_t extent : extents) bytes *= extent;
  return bytes;
}

void copy_region(const std::byte* source_shard, std::byte* target_shard, const Copy& copy) {
  copy_dims(source_shard + copy.source_offset, target_shard + copy.target_offset, copy, 0);
}

ReshardPlan::ReshardPlan(const TensorType& type, const Placement& source, const Placement& target)
    : type_(type), source_(source.axes, source.spec), target_(target.axes, target.spec) {
  const bool knows_devices = !source.devices.empty() && !target.devices.empty();
  if (knows_devices) {
    SEAWAY_CHECK(source.devices.size() == source_shards(), source.devices.size(), source_shards());
    SEAWAY_CHECK(target.devices.size() == target_shards(), target.devices.size(), target_shards());
    target_devices_ = target.devices;
    for (std::uint32_t shard = 0; shard < source.devices.size(); ++shard) {
      source_by_device_.emplace_back(source.devices[shard], shard);
    }
    std::sort(source_by_device_.begin(), source_by_device_.end());
  }
  is_identity_ =
      same_boxes(source_, target_) && (!knows_devices || source.devices == target.devices);
}

std::int64_t ReshardPlan::source_extent(std::size_t dim) const {
  return type_.shape[dim] / source_.pieces(dim);
}

std::int64_t ReshardPlan::target_extent(std::size_t dim) const {
  return type_.shape[dim] / target_.pieces(dim);
}

std::uint64_t ReshardPlan::source_shard_bytes() const {
  std::uint64_t bytes = size_of(type_.dtype);
  for (std::size_t d = 0; d < type_.shape.size(); ++d) {
    bytes *= static_cast<std::uint64_t>(source_extent(d));
  }
  return bytes;
}

std::uint64_t ReshardPlan::target_shard_bytes() const {
  std::uint64_t bytes = size_of(type_.dtype);
  for (std::size_t d = 0; d < type_.shape.size(); ++d) {
    bytes *= static_cast<std::uint64_t>(target_extent(d));
  }
  return bytes;
}

ReshardPlan::Range ReshardPlan::source_pieces(std::int64_t target_piece, std::size_t dim) const {
  const std::int64_t from = target_piece * target_extent(dim);
  return {from / source_extent(dim), (from + target_extent(dim) - 1) / source_extent(dim) + 1};
}

ReshardPlan::Range ReshardPlan::target_pieces(std::int64_t source_piece, std::size_t dim) const {
  const std::int64_t from = source_piece * source_extent(dim);
  return {from / target_extent(dim), (from + source_extent(dim) - 1) / target_extent(dim) + 1};
}

std::uint32_t ReshardPlan::choose_source(const std::vector<std::int64_t>& pieces,
                                         std::int64_t target_shard) const {
  if (!source_by_device_.empty()) {
    const DeviceId device = target_devices_[static_cast<std::size_t>(target_shard)];
    auto it = std::lower_bound(source_by_device_.begin(), source_by_device_.end(),
                               std::pair<DeviceId, std::uint32_t>(device, 0));
    for (; it != source_by_device_.end() && it->first == device; ++it) {
      bool holds_it = true;
      for (std::size_t d = 0; d < pieces.size(); ++d) {
        holds_it = holds_it && source_.piece(it->second, d) == pieces[d];
      }
      if (holds_it) return it->second;
    }
  }
  // The rank of this target among all that read the piece: dense, so that taking it modulo the
  // number of replicas deals the readers out evenly.
  std::int64_t rank = target_.replica(target_shard);
  for (std::size_t d = 0; d < pieces.size(); ++d) {
    const Range readers = target_pieces(pieces[d], d);
    rank = rank * (readers.last - readers.first) + target_.piece(target_shard, d) - readers.first;
  }
  return static_cast<std::uint32_t>(source_.shard_of(pieces, rank % source_.replicas()));
}

Copy ReshardPlan::make_copy(const std::vector<std::int64_t>& pieces,
                            std::int64_t target_shard) const {
  Copy copy;
  copy.source_shard = choose_source(pieces, target_shard);
  // Innermost first; the element itself is the innermost dimension, in bytes.
  const std::uint64_t element = size_of(type_.dtype);
  copy.extents = {element};
  copy.source_strides = {1};
  copy.target_strides = {1};
  std::uint64_t source_stride = element, target_stride = element;
  for (std::size_t d = pieces.size(); d-- > 0;) {
    const std::int64_t source_first = pieces[d] * source_extent(d);
    const std::int64_t target_first = target_.piece(target_shard, d) * target_extent(d);
    const std::int64_t first = std::max(source_first, target_first);
    const std::int64_t last =
        std::min(source_first + source_extent(d), target_first + target_extent(d));
    const auto extent = static_cast<std::uint64_t>(last - first);
    copy.source_offset += static_cast<std::uint64_t>(first - source_first) * source_stride;
    copy.target_offset += static_cast<std::uint64_t>(first - target_first) * target_stride;
    const bool is_dense = copy.source_strides.back() * copy.extents.back() == source_stride &&
                          copy.target_strides.back() * copy.extents.back() == target_stride;
    if (is_dense) {
      copy.extents.back() *= extent;
    } else if (extent > 1) {
      copy.extents.push_back(extent);
      copy.source_strides.push_back(source_stride);
      copy.target_strides.push_back(target_stride);
    }
    source_stride *= static_cast<std::uint64_t>(source_extent(d));
    target_stride *= static_cast<std::uint64_t>(target_extent(d));
  }
  std::reverse(copy.extents.begin(), copy.extents.end());
  std::reverse(copy.source_strides.begin(), copy.source_strides.end());
  std::reverse(copy.target_strides.begin(), copy.target_strides.end());
  return copy;
}

std::vector<Copy> ReshardPlan::copies(std::size_t target_shard) const {
  SEAWAY_CHECK(target_shard < target_shards(), target_shard, target_shards());
  if (type_.elements() == 0) return {};
  const auto shard = static_cast<std::int64_t>(target_shard);
  std::vector<Range> ranges(type_.shape.size());
  std::vector<std::int64_t> pieces(ranges.size());
  for (std::size_t d = 0; d < ranges.size(); ++d) {
    ranges[d] = source_pieces(target_.piece(shard, d), d);
    pieces[d] = ranges[d].first;
  }
  std::vector<Copy> copies;
  do {
    copies.push_back(make_copy(pieces, shard));
  } while (advance(pieces, ranges));
  return copies;
}

}  // namespace seaway::transfer
