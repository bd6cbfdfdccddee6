// Packet: what one end of a connection says to the other, and how that is cut out of a stream of
// bytes that a stranger may have sent.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/frame.hpp"
#include "base/limits.hpp"
#include "seaway/status.hpp"

namespace seaway::transport {

/// Most bytes of one frame, on every lane, for its sender and for its receiver.
constexpr std::size_t kFrameBytesMax = std::size_t{1} << 30;
/// Most bytes of what a user makes as one frame: a program, a function, a message. Below the limit
/// of a frame, for other roles put it into frames of their own, and add to it.
constexpr std::size_t kUserFrameBytesMax = limits::kFrameBytes.max;
/// Most bytes of a frame in one packet: longer frames travel in several.
constexpr std::size_t kPacketFrameBytesMax = std::size_t{256} << 10;

/// One packet. Epochs say which lives of the two processes talk: see Conversation.
struct Packet {
  enum class Kind : std::uint8_t {
    kHello,      // First on each connection, from both ends.
    kFrame,      // A frame of the control lane, or the end of one, as its packet number `sequence`.
    kAck,        // Nothing but what every packet says: `acknowledged`, and that its sender lives.
    kEnd,        // Nothing more follows, for ever. Its frame, if there is one, says why (text).
    kChunk,      // The same on the bulk lane.
    kPart,       // A frame's part on the control lane: its next packet there continues the frame.
    kChunkPart,  // The same on the bulk lane.
  };
  Kind kind = Kind::kAck;
  std::uint64_t from_epoch = 0;
  std::uint64_t to_epoch = 0;      // 0 in a Hello to somebody who was never heard.
  std::uint64_t sequence = 0;      // Of kFrame and kPart: one sequence for both.
  std::uint64_t acknowledged = 0;  // All of these up to this number have been received.
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
  explicit PacketReader(std::size_t frame_bytes_max = kPacketFrameBytesMax)
      : frame_bytes_max_(frame_bytes_max) {}

  /// Takes bytes as they come, in pieces of any size.
  void feed(std::span<const std::byte> bytes);
  /// The next whole packet; nothing: more bytes are needed. Errors: kProtocolError for bytes that
  /// are no packet, or a frame above the limit; then the connection is of no use any more, and each
  /// further call says the same.
  Result<std::optional<Packet>> next();
  /// After an error of next(): true if the checksum of the refused packet's header is right. The
  /// peer has sent the packet so, and will send it so again; else a new connection may heal it.
  bool is_refusal() const { return is_refusal_; }

 private:
  std::size_t frame_bytes_max_;
  std::vector<std::byte> bytes_;
  std::size_t begin_ = 0;  // What comes before it has been read.
  Status failure_;
  bool is_refusal_ = false;
};

}  // namespace seaway::transport
