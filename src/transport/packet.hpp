// Packet: what one end of a connection says to the other, and how that is cut out of a stream of
// bytes that a stranger may have sent.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/frame.hpp"
#include "seaway/status.hpp"

namespace seaway::transport {

/// One packet. Epochs say which lives of the two processes talk: see Conversation.
struct Packet {
  enum class Kind : std::uint8_t {
    kHello,  // First on each connection, from both ends.
    kFrame,  // Frame number `sequence`.
    kAck,    // Nothing but what every packet says: `acknowledged`, and that its sender lives.
    kEnd,    // Nothing more follows, for ever.
    kChunk,  // Chunk number `sequence` of the bulk lane.
  };
  Kind kind = Kind::kAck;
  std::uint64_t from_epoch = 0;
  std::uint64_t to_epoch = 0;  // 0 in a Hello to somebody who was never heard.
  std::uint64_t sequence = 0;
  std::uint64_t acknowledged = 0;  // All frames up to this number have been received.
  Frame frame;
  std::uint32_t channel =
      0;  // Of a frame: whom in the process it is for; what that means is its users'.
  std::uint32_t chunks_acknowledged = 0;  // All chunks up to this number, modulo 2^32.
};

/// Equal for equal packets. For explorers.
std::uint64_t hash_of(const Packet& packet);

/// Bytes on the wire: seven little-endian words (what it is and how many words its frame has, the
/// two epochs, sequence, acknowledged, the channel and the chunks acknowledged, a CRC-32 of these
/// six and one of the frame), then the frame's words.
constexpr std::size_t kPacketHeaderBytes = 7 * sizeof(std::uint64_t);

/// Appends `packet` to `bytes`.
void write_packet(const Packet& packet, std::vector<std::byte>& bytes);

/// Cuts packets out of a stream of bytes. Memory grows with what has come, never with what was
/// announced. Not thread-safe.
class PacketReader {
 public:
  /// A frame of a control message is at most 16 MiB; larger payload has channels of its own.
  explicit PacketReader(std::size_t frame_bytes_max = std::size_t{16} << 20)
      : frame_bytes_max_(frame_bytes_max) {}

  /// Takes bytes as they come, in pieces of any size.
  void feed(std::span<const std::byte> bytes);
  /// The next whole packet; nothing: more bytes are needed. Errors: kProtocolError for bytes that
  /// are no packet, or a frame above the limit; then the connection is of no use any more, and each
  /// further call says the same.
  Result<std::optional<Packet>> next();

 private:
  std::size_t frame_bytes_max_;
  std::vector<std::byte> bytes_;
  std::size_t begin_ = 0;  // What comes before it has been read.
  Status failure_;
};

}  // namespace seaway::transport
