// LocalCollectives: reductions and exchanges between the shards of a gang in one address space.

#pragma once

#include "function/collectives.hpp"

namespace seaway::collective {

/// Reads and writes the shards directly, in the calling thread. Stateless and thread-safe.
class LocalCollectives final : public function::Collectives {
 public:
  void all_reduce(const function::CollectiveGroups& groups, function::Reduce reduce, DType dtype,
                  std::size_t elements, function::ShardedBuffer in, function::ShardedBuffer out,
                  function::WorkShare share) const override;
  void all_gather(const function::CollectiveGroups& groups, std::size_t rows, std::size_t run_bytes,
                  function::ShardedBuffer in, function::ShardedBuffer out,
                  function::WorkShare share) const override;
  void reduce_scatter(const function::CollectiveGroups& groups, DType dtype, std::size_t rows,
                      std::size_t run_elements, function::ShardedBuffer in,
                      function::ShardedBuffer out, function::WorkShare share) const override;
  void permute(const function::CollectiveGroups& groups, std::span<const std::int64_t> sources,
               std::size_t bytes, function::ShardedBuffer in, function::ShardedBuffer out,
               function::WorkShare share) const override;
};

}  // namespace seaway::collective
