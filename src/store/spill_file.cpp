// Shards and their places, piece by piece.

#include "store/spill_file.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "transport/checksum.hpp"

namespace seaway::store {
namespace {

/// After so many bytes it is asked whether anybody still needs them.
constexpr std::uint64_t kPieceBytes = std::uint64_t{1} << 20;
constexpr std::uint32_t kNoSum = 0xffffffff;

Status move_shard(SpillShard& shard, bool is_write, const std::atomic<bool>& is_cancelled,
                  const MoveBytes& move) {
  std::uint32_t sum = kNoSum;
  std::span<std::byte> left = shard.bytes;
  for (const Extent& place : shard.places) {
    for (std::uint64_t begin = 0; begin < place.bytes; begin += kPieceBytes) {
      if (is_write && is_cancelled) return cancelled("nobody needs it in the file any more");
      const auto piece = left.first(std::min(kPieceBytes, place.bytes - begin));
      if (is_write) sum = transport::crc32c(sum, piece);
      if (Status status = move(place.offset + begin, piece); !status.ok()) return status;
      if (!is_write) sum = transport::crc32c(sum, piece);
      left = left.subspan(piece.size());
    }
  }
  SEAWAY_CHECK(left.empty(), left.size());
  shard.sum = sum;
  return {};
}

}  // namespace

std::vector<SpillShard> deal_shards(const std::vector<Extent>& extents, std::byte* base,
                                    std::size_t stride, std::size_t shards, std::uint64_t bytes,
                                    std::uint64_t place_bytes) {
  std::vector<SpillShard> dealt(shards);
  auto extent = extents.begin();
  std::uint64_t skipped = 0;  // Of *extent.
  for (std::size_t s = 0; s < shards; ++s) {
    dealt[s].bytes = {base + s * stride, bytes};
    // What a place is rounded up by belongs to it, and is neither written nor read.
    for (std::uint64_t at = 0; at < place_bytes;) {
      SEAWAY_CHECK(extent != extents.end(), s, at, place_bytes);
      const std::uint64_t part = std::min(extent->bytes - skipped, place_bytes - at);
      const std::uint64_t used = at < bytes ? std::min(part, bytes - at) : 0;
      if (used > 0) dealt[s].places.push_back({extent->offset + skipped, used});
      at += part;
      skipped += part;
      if (skipped < extent->bytes) continue;
      ++extent;
      skipped = 0;
    }
  }
  return dealt;
}

Status move_shards(SpillJob& job, bool is_write, const MoveBytes& move) {
  for (SpillShard& shard : job.shards) {
    Status status = move_shard(shard, is_write, job.is_cancelled, move);
    if (!status.ok()) return status;
  }
  return {};
}

}  // namespace seaway::store
