// Sums of shards, taken and compared.

#include "device/shard_sums.hpp"

#include <array>
#include <cstdio>
#include <span>

#include "transport/checksum.hpp"

namespace seaway::device {
namespace {

std::uint32_t sum_of(function::ShardedBuffer bytes, std::size_t shard, std::uint64_t shard_bytes) {
  if (shard_bytes == 0) return 0;
  return transport::checksum(std::span<const std::byte>(bytes.shard(shard), shard_bytes));
}

}  // namespace

ShardSums sums_of(function::ShardedBuffer bytes, std::size_t shards, std::uint64_t shard_bytes) {
  ShardSums sums(shards);
  for (std::size_t shard = 0; shard < shards; ++shard) {
    sums[shard] = sum_of(bytes, shard, shard_bytes);
  }
  return sums;
}

std::optional<Damage> find_damage(const ShardSums& sums, function::ShardedBuffer bytes,
                                  std::uint64_t shard_bytes) {
  for (std::size_t shard = 0; shard < sums.size(); ++shard) {
    const std::uint32_t sum = sum_of(bytes, shard, shard_bytes);
    if (sum != sums[shard]) return Damage{shard, sums[shard], sum};
  }
  return {};
}

std::string hex(std::uint32_t sum) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "0x%08x", static_cast<unsigned>(sum));
  return text.data();
}

}  // namespace seaway::device
