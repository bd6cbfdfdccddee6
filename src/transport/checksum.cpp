// zlib's CRC-32.

#include "transport/checksum.hpp"

#include <zlib.h>

namespace seaway::transport {

std::uint32_t checksum(std::span<const std::byte> bytes) {
  if (bytes.empty()) return 0;
  const auto* const begin = reinterpret_cast<const Bytef*>(bytes.data());
  return static_cast<std::uint32_t>(crc32_z(0, begin, bytes.size()));
}

}  // namespace seaway::transport
