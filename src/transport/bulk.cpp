// Payload in memory of its own.

#include "transport/bulk.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/aligned.hpp"

namespace seaway::transport {

Status check_payload(std::size_t bytes, const std::string& what) {
  if (bytes <= kPayloadBytesMax) return {};
  return resource_exhausted(what + " has " + std::to_string(bytes) +
                            " bytes; between two processes one value has at most " +
                            std::to_string(kPayloadBytesMax) + ": make it of several arrays");
}

std::size_t extent_of(const Payload& payload) {
  return payload.shards == 0 ? 0 : payload.stride * (payload.shards - 1) + payload.shard_bytes;
}

void copy_shards(const Payload& payload, std::span<std::byte> target) {
  if (payload.shard_bytes == 0) return;
  for (std::size_t shard = 0; shard < payload.shards; ++shard) {
    const std::size_t at = shard * payload.stride;
    std::memcpy(target.data() + at, payload.base + at, payload.shard_bytes);
  }
}

Payload copy_payload(std::span<const std::byte> bytes, std::size_t stride) {
  std::shared_ptr<std::byte> owner = share_aligned(std::max(kLineBytes, bytes.size()));
  std::byte* const base = owner.get();
  if (!bytes.empty()) std::memcpy(base, bytes.data(), bytes.size());
  return {base, stride, std::move(owner)};
}

}  // namespace seaway::transport
