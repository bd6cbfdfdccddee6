// ISA-L's CRC-32 and CRC-32C.

#include "transport/checksum.hpp"

#include <isa-l/crc.h>

namespace seaway::transport {

std::uint32_t checksum(std::span<const std::byte> bytes) {
  if (bytes.empty()) return 0;
  const auto* const begin = reinterpret_cast<const unsigned char*>(bytes.data());
  return crc32_gzip_refl(0, begin, bytes.size());
}

std::uint32_t crc32c(std::uint32_t before, std::span<const std::byte> bytes) {
  if (bytes.empty()) return before;
  // It takes the bytes as not const, and does not write them.
  auto* const begin =
      reinterpret_cast<unsigned char*>(const_cast<std::byte*>(bytes.data()));  // NOLINT
  return crc32_iscsi(begin, static_cast<int>(bytes.size()), before);
}

}  // namespace seaway::transport
