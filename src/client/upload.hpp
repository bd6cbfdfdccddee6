// Between one global row-major value and its shards.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "seaway/sharding.hpp"
#include "transfer/reshard_plan.hpp"
#include "transport/bulk.hpp"

namespace seaway::client {

/// How a value of this sharding lies on the devices of its mesh.
transfer::Placement placement_of(const NamedSharding& sharding);

/// Distance between shards of `shard_bytes` each in one payload: a multiple of 64 bytes, and for
/// several shards not of 4096.
std::size_t stride_of(std::size_t shard_bytes, std::int64_t shards);

/// Copies the value at `data` into shards of their own. Requires a valid spec.
transport::Payload split(const ArraySpec& spec, const std::byte* data);

/// The reverse: `target` has spec.type.bytes() bytes.
void join(const ArraySpec& spec, const transport::Payload& shards, std::span<std::byte> target);

}  // namespace seaway::client
