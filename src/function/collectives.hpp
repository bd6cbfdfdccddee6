// Collectives: what a function needs of the other shards of its gang; src/collective implements it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "function/collective.hpp"
#include "function/executable.hpp"
#include "function/graph.hpp"

namespace seaway::function {

/// Which share of the work a call does: shares [begin, end) of `count` equal ones. The result of
/// all shares together does not depend on how the work was shared out.
struct WorkShare {
  std::size_t begin = 0, end = 1, count = 1;
};

/// Reductions and exchanges over all shards of a gang. Stateless and thread-safe; does not throw.
/// `in` and `out` do not overlap, except that all_reduce may work in place. Sums are taken along a
/// fixed balanced tree by coordinate, ((0+1)+(2+3))+((4+5)+6): never by thread or by arrival.
class Collectives {
 public:
  virtual ~Collectives() = default;

  /// Every member gets the sum or maximum over its group, element by element.
  virtual void all_reduce(const CollectiveGroups& groups, Reduce reduce, DType dtype,
                          std::size_t elements, ShardedBuffer in, ShardedBuffer out,
                          WorkShare share) const = 0;
  /// Each shard holds `rows` runs of `run_bytes`; every member gets for each row the runs of all
  /// members one after another.
  virtual void all_gather(const CollectiveGroups& groups, std::size_t rows, std::size_t run_bytes,
                          ShardedBuffer in, ShardedBuffer out, WorkShare share) const = 0;
  /// Each shard holds `rows` times `size` runs of `run_elements`; member c gets for each row the
  /// sum of run c over all members.
  virtual void reduce_scatter(const CollectiveGroups& groups, DType dtype, std::size_t rows,
                              std::size_t run_elements, ShardedBuffer in, ShardedBuffer out,
                              WorkShare share) const = 0;
  /// Member c gets the `bytes` bytes of member sources[c], or zeros where that is negative.
  virtual void permute(const CollectiveGroups& groups, std::span<const std::int64_t> sources,
                       std::size_t bytes, ShardedBuffer in, ShardedBuffer out,
                       WorkShare share) const = 0;
};

}  // namespace seaway::function
