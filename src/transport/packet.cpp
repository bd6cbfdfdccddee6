// Packets as bytes.

#include "transport/packet.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>

#include "base/random.hpp"
#include "transport/checksum.hpp"
#include "transport/protocol_version.hpp"

namespace seaway::transport {
namespace {

static_assert(std::endian::native == std::endian::little, "words travel as they lie in memory");

constexpr std::uint64_t kMagic = 0x5357;  // "WS" on the wire.
constexpr std::uint64_t kVersion = kProtocolVersion;
constexpr std::size_t kWord = sizeof(std::uint64_t);
using Header = std::array<std::uint64_t, kPacketHeaderBytes / kWord>;

std::uint64_t first_word(Packet::Kind kind, std::size_t frame_words) {
  return kMagic | kVersion << 16 | std::uint64_t{static_cast<std::uint8_t>(kind)} << 24 |
         std::uint64_t{frame_words} << 32;
}

/// The header has a sum of its own: else a length that arrived changed would have its reader wait
/// for bytes that never come, and take all that follows for them.
std::uint64_t header_sum(const Header& header) {
  return checksum(std::as_bytes(std::span(header)).first(kPacketHeaderBytes - kWord));
}

}  // namespace

std::uint64_t hash_of(const Packet& packet) {
  std::uint64_t hash = mix64(static_cast<std::uint64_t>(packet.kind) + 1);
  const auto add = [&hash](std::uint64_t value) { hash = mix64(hash ^ value) + value; };
  add(packet.from_epoch);
  add(packet.to_epoch);
  add(packet.sequence);
  add(packet.acknowledged);
  add(packet.channel | std::uint64_t{packet.chunks_acknowledged} << 32);
  for (const std::uint64_t word : packet.frame.words()) add(word);
  return hash;
}

void write_packet(const Packet& packet, std::vector<std::byte>& bytes) {
  const auto words = packet.frame.words();
  const auto frame = std::as_bytes(words);
  Header header = {first_word(packet.kind, words.size()),
                   packet.from_epoch,
                   packet.to_epoch,
                   packet.sequence,
                   packet.acknowledged,
                   packet.channel | std::uint64_t{packet.chunks_acknowledged} << 32,
                   0};
  header.back() = header_sum(header) | std::uint64_t{checksum(frame)} << 32;
  const auto head = std::as_bytes(std::span(header));
  bytes.insert(bytes.end(), head.begin(), head.end());
  bytes.insert(bytes.end(), frame.begin(), frame.end());
}

void PacketReader::feed(std::span<const std::byte> bytes) {
  if (!failure_.ok()) return;
  if (begin_ == bytes_.size()) {
    bytes_.clear();
    begin_ = 0;
  } else if (begin_ > bytes_.size() / 2) {
    bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(begin_));
    begin_ = 0;
  }
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

Result<std::optional<Packet>> PacketReader::next() {
  if (!failure_.ok()) return failure_;
  const auto fail = [this](std::string text) {
    failure_ = protocol_error("a connection brings " + std::move(text));
    bytes_.clear();
    begin_ = 0;
    return failure_;
  };
  const std::size_t available = bytes_.size() - begin_;
  if (available < kPacketHeaderBytes) return std::optional<Packet>();
  Header header;
  std::memcpy(header.data(), bytes_.data() + begin_, kPacketHeaderBytes);
  const std::uint64_t head = header[0];
  is_refusal_ = (header.back() & 0xffff'ffff) == header_sum(header);
  if ((head & 0xffff) != kMagic) return fail("bytes that are no packet");
  if ((head >> 16 & 0xff) != kVersion) {
    return fail("version " + std::to_string(head >> 16 & 0xff) + " of packets; this is version " +
                std::to_string(kVersion));
  }
  if (!is_refusal_) {
    return fail("a header whose checksum is wrong");
  }
  const std::uint64_t kind = head >> 24 & 0xff;
  const std::size_t frame_bytes = (head >> 32) * kWord;
  if (kind > static_cast<std::uint8_t>(Packet::Kind::kChunkPart)) {
    return fail("packets of kind " + std::to_string(kind) + ", which is unknown");
  }
  if (frame_bytes > frame_bytes_max_) {
    return fail("a packet of kind " + std::to_string(kind) + " with a frame of " +
                std::to_string(frame_bytes) + " bytes; the limit is " +
                std::to_string(frame_bytes_max_));
  }
  if (available < kPacketHeaderBytes + frame_bytes) return std::optional<Packet>();
  const std::span<const std::byte> frame(bytes_.data() + begin_ + kPacketHeaderBytes, frame_bytes);
  if (header.back() >> 32 != checksum(frame)) {
    is_refusal_ = false;
    return fail("a frame whose checksum is wrong");
  }
  is_refusal_ = false;
  Packet packet;
  packet.kind = static_cast<Packet::Kind>(kind);
  packet.from_epoch = header[1];
  packet.to_epoch = header[2];
  packet.sequence = header[3];
  packet.acknowledged = header[4];
  packet.channel = static_cast<std::uint32_t>(header[5]);
  packet.chunks_acknowledged = static_cast<std::uint32_t>(header[5] >> 32);
  if (frame_bytes > 0) {
    packet.frame = Frame::make(frame_bytes / kWord, [frame](std::span<std::uint64_t> words) {
      std::memcpy(words.data(), frame.data(), frame.size());
    });
  }
  begin_ += kPacketHeaderBytes + frame_bytes;
  return std::optional<Packet>(std::move(packet));
}

}  // namespace seaway::transport
