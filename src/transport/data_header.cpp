// Headers as bytes.

#include "transport/data_header.hpp"

#include <bit>
#include <cstring>

#include "transport/checksum.hpp"

namespace seaway::transport {

static_assert(std::endian::native == std::endian::little);

namespace {

constexpr std::size_t kChecked = 40;
// Zeros have the checksum 0 without it.
constexpr std::uint32_t kSeed = ~std::uint32_t{0};

template <class T>
void put(DataHeader::Bytes& bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof(value));
}
template <class T>
T get(const DataHeader::Bytes& bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(value));
  return value;
}

}  // namespace

DataHeader::Bytes DataHeader::to_bytes() const {
  Bytes bytes = {};
  put(bytes, 0, static_cast<std::uint32_t>(kind));
  put(bytes, 4, length);
  put(bytes, 8, key.id);
  put(bytes, 16, key.part);
  put(bytes, 20, checksum);
  put(bytes, 24, offset);
  put(bytes, 32, end);
  put(bytes, kChecked, crc32c(kSeed, std::span(bytes).first(kChecked)));
  return bytes;
}

std::optional<DataHeader> DataHeader::read(const Bytes& bytes) {
  if (get<std::uint32_t>(bytes, kChecked) != crc32c(kSeed, std::span(bytes).first(kChecked))) {
    return std::nullopt;
  }
  DataHeader header;
  const auto kind = get<std::uint32_t>(bytes, 0);
  if (kind < 1 || kind > static_cast<std::uint32_t>(Kind::kStop)) return std::nullopt;
  header.kind = static_cast<Kind>(kind);
  header.length = get<std::uint32_t>(bytes, 4);
  header.key = {get<std::uint64_t>(bytes, 8), get<std::uint32_t>(bytes, 16)};
  header.checksum = get<std::uint32_t>(bytes, 20);
  header.offset = get<std::uint64_t>(bytes, 24);
  header.end = get<std::uint64_t>(bytes, 32);
  const bool is_chunk = header.kind == Kind::kChunk;
  if (is_chunk ? header.length == 0 || header.length > kChunkBytesMax : header.length != 0) {
    return std::nullopt;
  }
  if (header.kind == Kind::kAsk && header.offset >= header.end) return std::nullopt;
  return header;
}

}  // namespace seaway::transport
