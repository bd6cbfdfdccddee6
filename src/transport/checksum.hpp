// The checksum of bytes that travel or lie in memory.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace seaway::transport {

/// CRC-32 of `bytes`, as zlib and Ethernet have it: one bit that has changed always shows. 0 of
/// none. About 20 ns, and 0.02 ns for each byte (Intel, "Fast CRC Computation for Generic
/// Polynomials Using PCLMULQDQ", 2009).
std::uint32_t checksum(std::span<const std::byte> bytes);

/// CRC-32C (Castagnoli) of bytes that follow others whose result was `before`: at first all ones.
/// The same cost; not inverted at the end. `before` of none.
std::uint32_t crc32c(std::uint32_t before, std::span<const std::byte> bytes);

}  // namespace seaway::transport
