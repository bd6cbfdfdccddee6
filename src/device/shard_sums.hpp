// ShardSums: checksums of the shards of a value, by which it shows that its bytes have changed.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "function/executable.hpp"

namespace seaway::device {

/// CRC-32 of each shard, in their order. Empty: they were not taken.
using ShardSums = std::vector<std::uint32_t>;

/// One shard that is not what it was.
struct Damage {
  std::size_t shard = 0;
  std::uint32_t sum_before = 0, sum_now = 0;
};

/// Of `shards` shards of `shard_bytes` bytes, what they are rounded up by left out. Reads them all.
ShardSums sums_of(function::ShardedBuffer bytes, std::size_t shards, std::uint64_t shard_bytes);

/// The first shard that differs from what `sums` says. None where there are no sums.
std::optional<Damage> find_damage(const ShardSums& sums, function::ShardedBuffer bytes,
                                  std::uint64_t shard_bytes);

/// "0x0a1b2c3d".
std::string hex(std::uint32_t sum);

}  // namespace seaway::device
