// ShardLayout: which box of a global array each shard holds, in closed form.

#pragma once

#include <cstdint>
#include <vector>

#include "seaway/sharding.hpp"

namespace seaway::transfer {

/// Where the shards of one (mesh axes, partition spec) lie, whatever the type: along dimension d
/// the array is cut into pieces(d) equal pieces, and shard s holds piece piece(s, d). Shards that
/// hold the same box are its replicas. A value; cheap to build: O(axes).
class ShardLayout {
 public:
  ShardLayout() = default;
  /// Requires that NamedSharding(mesh of `axes`, `spec`).validate() is ok for the arrays it is
  /// asked about.
  ShardLayout(const std::vector<MeshAxis>& axes, const PartitionSpec& spec);

  std::int64_t shards() const { return shards_; }
  /// Number of shards that hold the same box.
  std::int64_t replicas() const { return replicas_; }
  std::int64_t pieces(std::size_t dim) const { return dim < dims_.size() ? dims_[dim].pieces : 1; }
  std::int64_t piece(std::int64_t shard, std::size_t dim) const;
  /// Which of the replicas of its box `shard` is: in [0, replicas()).
  std::int64_t replica(std::int64_t shard) const;
  /// The shard that is replica `replica` of the box with these pieces. Dimensions that are not
  /// split are not looked at.
  std::int64_t shard_of(const std::vector<std::int64_t>& pieces, std::int64_t replica) const;

  /// True when both have as many shards and shard s holds the same box in both, for each s.
  /// O(shards), and O(1) for two equal ones.
  friend bool same_boxes(const ShardLayout& a, const ShardLayout& b);

 private:
  /// One mesh axis as it shows in a shard's number: coordinate = shard / stride % size.
  struct Axis {
    std::int64_t size = 1, stride = 1;
    friend bool operator==(const Axis&, const Axis&) = default;
  };
  struct Dim {
    std::int64_t pieces = 1;
    std::vector<Axis> axes;  // Major first.
    friend bool operator==(const Dim&, const Dim&) = default;
  };
  static std::int64_t rank_of(const std::vector<Axis>& axes, std::int64_t shard);
  static std::int64_t shard_at(const std::vector<Axis>& axes, std::int64_t rank);

  std::vector<Dim> dims_;
  std::vector<Axis> free_axes_;  // Those that split no dimension.
  std::int64_t shards_ = 1, replicas_ = 1;
};

bool same_boxes(const ShardLayout& a, const ShardLayout& b);

}  // namespace seaway::transfer
