// Which bytes of a stream lie where, at both of its ends.

#include "transfer/value_stream.hpp"

#include <algorithm>
#include <cstring>
#include <map>

#include "base/check.hpp"

namespace seaway::transfer {
namespace {

/// Of replicas the first.
std::uint32_t first_of(const ShardLayout& layout, std::uint32_t shard, std::size_t dims) {
  std::vector<std::int64_t> pieces(dims);
  for (std::size_t d = 0; d < dims; ++d) pieces[d] = layout.piece(shard, d);
  return static_cast<std::uint32_t>(layout.shard_of(pieces, 0));
}

/// Copies what `copy` and bytes [begin, end) of its source shard have in common. `bytes` is what
/// lies at `begin`.
class Clipped {
 public:
  Clipped(const Copy& copy, std::uint64_t begin, std::span<const std::byte> bytes,
          std::byte* target)
      : copy_(copy), begin_(begin), end_(begin + bytes.size()), bytes_(bytes), target_(target) {}

  void run() const { dims(copy_.source_offset, copy_.target_offset, 0); }

 private:
  void dims(std::uint64_t from, std::uint64_t to, std::size_t dim) const {
    const std::uint64_t extent = copy_.extents[dim];
    if (dim + 1 == copy_.extents.size()) {
      const std::uint64_t first = std::max(from, begin_), last = std::min(from + extent, end_);
      if (first >= last) return;
      std::memcpy(target_ + to + (first - from), bytes_.data() + (first - begin_), last - first);
      return;
    }
    // Rows rise: those before the first that ends behind `begin` are not looked at.
    const std::uint64_t stride = copy_.source_strides[dim], row = span_of(dim + 1);
    std::uint64_t i = begin_ > from + row ? (begin_ - from - row) / stride : 0;
    for (; i < extent && from + i * stride < end_; ++i) {
      dims(from + i * stride, to + i * copy_.target_strides[dim], dim + 1);
    }
  }
  /// From the first byte to behind the last one of dimensions `dim` and further in.
  std::uint64_t span_of(std::size_t dim) const {
    std::uint64_t span = 0;
    for (; dim + 1 < copy_.extents.size(); ++dim) {
      span += (copy_.extents[dim] - 1) * copy_.source_strides[dim];
    }
    return span + copy_.extents.back();
  }

  const Copy& copy_;
  const std::uint64_t begin_, end_;
  const std::span<const std::byte> bytes_;
  std::byte* const target_;
};

}  // namespace

ValueStream::ValueStream(const TensorType& type, const Placement& placement) {
  const ShardLayout layout(placement.axes, placement.spec);
  shard_bytes_ = size_of(type.dtype);
  for (std::size_t d = 0; d < type.shape.size(); ++d) {
    shard_bytes_ *= static_cast<std::uint64_t>(type.shape[d] / layout.pieces(d));
  }
  for (std::uint32_t shard = 0; shard < layout.shards(); ++shard) {
    if (layout.replica(shard) == 0) shards_.push_back(shard);
  }
}

void ValueStream::add_pieces(const std::byte* base, std::size_t stride, std::uint64_t begin,
                             std::uint64_t end,
                             std::vector<std::span<const std::byte>>& pieces) const {
  SEAWAY_CHECK(begin <= end && end <= bytes(), begin, end, bytes());
  while (begin < end) {
    const std::uint64_t place = begin / shard_bytes_, offset = begin % shard_bytes_;
    const std::uint64_t count = std::min(shard_bytes_ - offset, end - begin);
    pieces.emplace_back(base + shards_[place] * stride + offset, count);
    begin += count;
  }
}

StreamTarget::StreamTarget(const TensorType& type, const Placement& source, const Placement& target)
    : stream_(type, source), parts_(stream_.shards().size()) {
  const ShardLayout layout(source.axes, source.spec);
  std::map<std::uint32_t, std::size_t> places;
  for (std::size_t i = 0; i < parts_.size(); ++i) places[stream_.shards()[i]] = i;
  // Devices do not matter: of replicas one goes, and to whoever wants it.
  const ReshardPlan plan(type, {source.axes, source.spec, {}}, {target.axes, target.spec, {}});
  for (std::uint32_t shard = 0; shard < plan.target_shards(); ++shard) {
    for (Copy& copy : plan.copies(shard)) {
      const std::uint32_t first = first_of(layout, copy.source_shard, type.shape.size());
      parts_[places.at(first)].push_back({shard, std::move(copy)});
    }
  }
}

std::span<std::byte> StreamTarget::place(std::byte* base, std::size_t stride, std::uint64_t begin,
                                         std::uint64_t most) const {
  if (begin >= stream_.bytes()) return {};
  const std::uint64_t offset = begin % stream_.shard_bytes();
  const std::vector<Part>& parts = parts_[begin / stream_.shard_bytes()];
  const Part* only = nullptr;
  std::uint64_t end = stream_.shard_bytes();
  for (const Part& part : parts) {
    if (part.copy.extents.size() > 1) return {};
    const std::uint64_t first = part.copy.source_offset, last = first + part.copy.extents[0];
    if (offset >= first && offset < last) {
      if (only) return {};
      only = &part;
      end = std::min(end, last);
    } else if (first > offset) {
      end = std::min(end, first);
    }
  }
  if (!only) return {};
  std::byte* const to = base + only->target_shard * stride + only->copy.target_offset +
                        (offset - only->copy.source_offset);
  return {to, std::min(end - offset, most)};
}

void StreamTarget::scatter(std::byte* base, std::size_t stride, std::uint64_t begin,
                           std::span<const std::byte> bytes) const {
  SEAWAY_CHECK(begin + bytes.size() <= stream_.bytes(), begin, bytes.size(), stream_.bytes());
  while (!bytes.empty()) {
    const std::uint64_t offset = begin % stream_.shard_bytes();
    const std::size_t count = std::min<std::uint64_t>(stream_.shard_bytes() - offset, bytes.size());
    for (const Part& part : parts_[begin / stream_.shard_bytes()]) {
      Clipped(part.copy, offset, bytes.first(count), base + part.target_shard * stride).run();
    }
    begin += count;
    bytes = bytes.subspan(count);
  }
}

}  // namespace seaway::transfer
