// Groups of shards along one mesh axis: who takes part in a collective with whom.

#pragma once

#include <cstdint>
#include <string_view>

#include "function/graph.hpp"

namespace seaway::function {

/// One axis of a row-major mesh: the shards of a group differ in this coordinate only.
struct AxisGroups {
  std::int64_t size = 1;    // Shards in one group.
  std::int64_t stride = 1;  // Between neighbours of a group.

  std::int64_t coordinate(std::int64_t shard) const { return shard / stride % size; }
  /// The shard of the same group at `coordinate`.
  std::int64_t member(std::int64_t shard, std::int64_t at) const {
    return shard + (at - coordinate(shard)) * stride;
  }
};

/// Requires that `axes` has an axis of that name.
inline AxisGroups groups_of(const AxisSizes& axes, std::string_view axis) {
  AxisGroups groups;
  for (std::size_t i = axes.size(); i-- > 0;) {
    if (axes[i].first == axis) {
      groups.size = axes[i].second;
      return groups;
    }
    groups.stride *= axes[i].second;
  }
  return groups;
}

}  // namespace seaway::function
