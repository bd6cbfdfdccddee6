// Mixed-radix arithmetic between shard numbers and the pieces they hold.

#include "transfer/shard_layout.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace seaway::transfer {

ShardLayout::ShardLayout(const std::vector<MeshAxis>& axes, const PartitionSpec& spec) {
  std::vector<Axis> all(axes.size());
  for (std::size_t i = axes.size(); i-- > 0;) {
    all[i] = {.size = axes[i].second, .stride = shards_};
    shards_ *= axes[i].second;
  }
  std::vector<bool> is_used(axes.size(), false);
  for (const DimAxes& names : spec.dims()) {
    Dim dim;
    for (const std::string& name : names) {
      const auto found = std::find_if(axes.begin(), axes.end(),
                                      [&name](const MeshAxis& axis) { return axis.first == name; });
      SEAWAY_CHECK(found != axes.end(), name);
      const auto index = static_cast<std::size_t>(found - axes.begin());
      is_used[index] = true;
      // An axis of size 1 splits nothing; without it equal layouts compare equal.
      if (all[index].size == 1) continue;
      dim.axes.push_back(all[index]);
      dim.pieces *= all[index].size;
    }
    dims_.push_back(std::move(dim));
  }
  while (!dims_.empty() && dims_.back().axes.empty()) dims_.pop_back();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (is_used[i] || all[i].size == 1) continue;
    free_axes_.push_back(all[i]);
    replicas_ *= all[i].size;
  }
}

std::int64_t ShardLayout::rank_of(const std::vector<Axis>& axes, std::int64_t shard) {
  std::int64_t rank = 0;
  for (const Axis& axis : axes) rank = rank * axis.size + shard / axis.stride % axis.size;
  return rank;
}

std::int64_t ShardLayout::shard_at(const std::vector<Axis>& axes, std::int64_t rank) {
  std::int64_t shard = 0;
  for (std::size_t i = axes.size(); i-- > 0;) {
    shard += rank % axes[i].size * axes[i].stride;
    rank /= axes[i].size;
  }
  return shard;
}

std::int64_t ShardLayout::piece(std::int64_t shard, std::size_t dim) const {
  return dim < dims_.size() ? rank_of(dims_[dim].axes, shard) : 0;
}

std::int64_t ShardLayout::replica(std::int64_t shard) const { return rank_of(free_axes_, shard); }

std::int64_t ShardLayout::shard_of(const std::vector<std::int64_t>& pieces,
                                   std::int64_t replica) const {
  std::int64_t shard = shard_at(free_axes_, replica);
  for (std::size_t d = 0; d < dims_.size(); ++d) shard += shard_at(dims_[d].axes, pieces[d]);
  return shard;
}

bool same_boxes(const ShardLayout& a, const ShardLayout& b) {
  if (a.shards_ != b.shards_ || a.dims_.size() != b.dims_.size()) return false;
  if (a.dims_ == b.dims_) return true;
  for (std::size_t d = 0; d < a.dims_.size(); ++d) {
    if (a.dims_[d].pieces != b.dims_[d].pieces) return false;
    for (std::int64_t shard = 0; shard < a.shards_; ++shard) {
      if (a.piece(shard, d) != b.piece(shard, d)) return false;
    }
  }
  return true;
}

}  // namespace seaway::transfer
