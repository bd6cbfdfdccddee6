// ISA-L's CRC-32.

#include "transport/checksum.hpp"

#include <isa-l/crc.h>

namespace seaway::transport {

std::uint32_t checksum(std::span<const std::byte> bytes) {
  if (bytes.empty()) return 0;
  const auto* const begin = reinterpret_cast<const unsigned char*>(bytes.data());
  return crc32_gzip_refl(0, begin, bytes.size());
}

}  // namespace seaway::transport
