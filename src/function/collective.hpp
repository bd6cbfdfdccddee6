// Collective: one exchange between the shards of a gang, as whoever carries it out needs it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "function/graph.hpp"

namespace seaway::function {

/// The groups of shards that exchange values along one mesh axis. Member c of group g is shard
/// (g / inner * size + c) * inner + g % inner; members are counted in coordinate order.
struct CollectiveGroups {
  std::size_t groups = 1;  // Product of the sizes of all other axes.
  std::size_t size = 1;    // Size of the axis.
  std::size_t inner = 1;   // Product of the sizes of the axes after it.

  std::size_t shard(std::size_t group, std::size_t member) const {
    return (group / inner * size + member) * inner + group % inner;
  }
};

/// What Collectives says of each of its functions, in numbers.
struct Collective {
  enum class Kind : std::uint8_t { kAllReduce, kAllGather, kReduceScatter, kPermute };
  Kind kind = Kind::kAllReduce;
  CollectiveGroups groups = {};
  Reduce reduce = Reduce::kSum;  // kAllReduce; a kReduceScatter adds.
  DType dtype = DType::kF32;
  /// kAllReduce: one row of all elements. kAllGather, kReduceScatter: rows of runs.
  std::size_t rows = 1;
  std::size_t run_elements = 0;
  std::size_t run_bytes = 0;               // kPermute: all that a shard has.
  std::vector<std::int64_t> sources = {};  // kPermute.

  /// What a shard puts in, and what it gets.
  std::size_t in_bytes() const {
    return rows * run_bytes * (kind == Kind::kReduceScatter ? groups.size : 1);
  }
  std::size_t out_bytes() const {
    return rows * run_bytes * (kind == Kind::kAllGather ? groups.size : 1);
  }
};

}  // namespace seaway::function
