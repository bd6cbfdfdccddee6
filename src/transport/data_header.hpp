// DataHeader: what one end of a connection for data says, ahead of bytes or by itself.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "transport/checksum.hpp"
#include "transport/data_plane.hpp"

namespace seaway::transport {

/// 48 bytes in the order of the machine, which is little-endian:
///   0  kind, length   8  id   16 part, checksum of the bytes   24 offset   32 end   40 own
///   checksum
struct DataHeader {
  static constexpr std::size_t kBytes = 48;
  static constexpr std::uint32_t kChunkBytesMax = std::uint32_t{256} << 10;

  enum class Kind : std::uint32_t {
    kAsk = 1,    // For bytes [offset, end) of `key`.
    kChunk = 2,  // `length` bytes from `offset` on follow.
    kGone = 3,   // What was asked for is not to be had; `end`: how many bytes there are, or 0.
    kStop = 4,   // No more of `key`.
  };
  Kind kind = Kind::kAsk;
  std::uint32_t length = 0;
  DataKey key;
  std::uint32_t checksum = 0;
  std::uint64_t offset = 0, end = 0;

  using Bytes = std::array<std::byte, kBytes>;
  Bytes to_bytes() const;
  /// Nothing: it has changed on its way, or is no such header.
  static std::optional<DataHeader> read(const Bytes& bytes);
};

}  // namespace seaway::transport
