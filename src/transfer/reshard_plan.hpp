// ReshardPlan: which bytes go from which shard to which when an array changes its sharding. Pure.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/ids.hpp"
#include "seaway/sharding.hpp"
#include "transfer/shard_layout.hpp"

namespace seaway::transfer {

/// One end of a reshard: how the array is split, and on which devices.
struct Placement {
  std::vector<MeshAxis> axes;
  PartitionSpec spec;
  /// Device of each shard, numbered alike on both ends; empty: not known, or the ends share none.
  std::vector<DeviceId> devices;
};

/// A rectangular copy out of one source shard. Extents and strides go from the outermost dimension
/// to the innermost, which is counted in bytes with stride 1 at both ends; dimensions that lie
/// densely behind one another at both ends are merged. All offsets and strides are in bytes.
struct Copy {
  std::uint32_t source_shard = 0;
  std::uint64_t source_offset = 0, target_offset = 0;
  std::vector<std::uint64_t> extents, source_strides, target_strides;

  std::uint64_t bytes() const;
  friend bool operator==(const Copy&, const Copy&) = default;
};

/// Runs `copy` in this thread: row-major, one memcpy per contiguous run. The shards must not
/// overlap.
void copy_region(const std::byte* source_shard, std::byte* target_shard, const Copy& copy);

/// The copies of one reshard, in closed form: it takes O(axes + devices) to build, and copies()
/// computes what one target shard reads, whatever the number of the others.
///
/// Each byte of each target shard is written by exactly one copy. A piece that several source
/// shards hold is read from the one on the target's own device if there is one; else the targets
/// that read it are dealt out over its replicas in turn, so that none serves more than
/// ceil(targets / replicas) of them.
class ReshardPlan {
 public:
  /// Both placements must validate for `type`; device lists, if given, have one entry per shard.
  ReshardPlan(const TensorType& type, const Placement& source, const Placement& target);

  std::size_t source_shards() const { return static_cast<std::size_t>(source_.shards()); }
  std::size_t target_shards() const { return static_cast<std::size_t>(target_.shards()); }
  std::uint64_t source_shard_bytes() const;
  std::uint64_t target_shard_bytes() const;
  /// Bytes that all copies write together.
  std::uint64_t bytes_total() const { return target_shard_bytes() * target_shards(); }
  /// True when each target shard is the source shard of the same number, on the same device if
  /// devices are known: nothing needs to be copied.
  bool is_identity() const { return is_identity_; }

  /// What `target_shard` reads, ordered by its pieces, row-major. Empty for an array without
  /// elements. O(pieces).
  std::vector<Copy> copies(std::size_t target_shard) const;

 private:
  struct Range {
    std::int64_t first = 0, last = 0;  // Pieces [first, last).
  };
  std::int64_t source_extent(std::size_t dim) const;
  std::int64_t target_extent(std::size_t dim) const;
  Range source_pieces(std::int64_t target_piece, std::size_t dim) const;
  Range target_pieces(std::int64_t source_piece, std::size_t dim) const;
  std::uint32_t choose_source(const std::vector<std::int64_t>& pieces,
                              std::int64_t target_shard) const;
  Copy make_copy(const std::vector<std::int64_t>& pieces, std::int64_t target_shard) const;

  TensorType type_;
  ShardLayout source_, target_;
  std::vector<DeviceId> target_devices_;
  std::vector<std::pair<DeviceId, std::uint32_t>> source_by_device_;  // Sorted.
  bool is_identity_ = false;
};

}  // namespace seaway::transfer
