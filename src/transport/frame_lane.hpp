// FrameLane: the frames of one lane of a conversation, cut into packets, with credit.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/frame.hpp"
#include "seaway/status.hpp"
#include "transport/lane.hpp"
#include "transport/packet.hpp"

namespace seaway::transport {

/// The same at both ends: a reader acknowledges in time for the credit that its sender has. The
/// defaults are those of the bulk lane; control_lane() has those of the control lane.
struct FrameLaneOptions {
  /// Of a frame in one packet, at most kPacketFrameBytesMax; a whole word.
  std::size_t packet_bytes = std::size_t{64} << 10;
  /// The credit: bytes and packets that may be sent and not acknowledged, beside one packet. At
  /// most so much of this lane is ahead of other packets in buffers between the two processes.
  std::size_t credit_bytes = std::size_t{512} << 10;
  std::size_t credit_packets = 64;
  /// The reader acknowledges by itself after so many packets, or sooner if the credit needs it.
  std::uint32_t acknowledge_every = 8;
  /// Frames and bytes that wait for acknowledgement; more is refused. A frame on an empty lane is
  /// taken whatever its size, up to the limit of a frame.
  std::size_t frames_max = std::numeric_limits<std::size_t>::max();
  std::size_t waiting_bytes_max = std::size_t{4} << 30;
  /// The longest frame, for sender and reader.
  std::size_t frame_bytes_max = kFrameBytesMax;
};

/// Ordinary frames take one packet each; only frames of many megabytes meet the credit.
constexpr FrameLaneOptions control_lane() {
  FrameLaneOptions options;
  options.packet_bytes = kPacketFrameBytesMax;
  options.credit_bytes = 32 * kPacketFrameBytesMax;
  options.credit_packets = std::numeric_limits<std::size_t>::max();
  options.acknowledge_every = 1;
  options.frames_max = 65'536;
  options.waiting_bytes_max = std::size_t{64} << 20;
  return options;
}

/// One end's frames of one lane, in both directions. Part of a Conversation, which opens
/// connections and keeps time; a pure core, a copy goes on by itself.
///
/// A frame travels in one packet or in several, in order. Packets are numbered from 1 in each
/// direction, kept until they are acknowledged, and sent again on the next connection. The reader's
/// memory grows with the bytes that have come, up to the limit of one frame.
class FrameLane {
 public:
  FrameLane() = default;
  explicit FrameLane(FrameLaneOptions options);

  /// Takes a frame over. kResourceExhausted when too much waits, or the frame is over the limit.
  Status send(std::uint32_t channel, Frame frame);

  /// What one packet carries.
  struct Piece {
    std::uint64_t number = 0;
    std::uint32_t channel = 0;
    Frame frame;
    bool is_last = true;  // Of its frame.
  };
  /// The next one to be sent, as long as there is credit.
  std::optional<Piece> next();
  /// A connection begins: what its other end has not received is sent again. False when that is
  /// more than was ever sent.
  bool resume(std::uint64_t received);
  /// The same on an open connection.
  bool acknowledge(std::uint64_t received);
  /// The whole number of an acknowledgement that travels modulo 2^32: the two ends are never
  /// further apart than the credit.
  std::uint64_t expand(std::uint32_t received) const;

  enum class Taken : std::uint8_t { kNew, kRepeated, kGap, kWrong };
  /// A packet has come. A frame that is whole then is in `letters`. kGap: a packet before it is
  /// missing; kWrong: wrong() says what the sender may not do.
  Taken take(Piece piece, std::vector<Letter>& letters);
  const std::string& wrong() const { return wrong_; }

  /// The number of the last packet that has come, and whether the other end waits for it.
  std::uint64_t received() const { return received_; }
  bool owes_acknowledgement() const;
  /// A quarter of the sender's credit or more is used up by what it was not told of.
  bool holds_credit() const;
  bool has_news() const { return received_ != told_; }
  void told();

  void clear();
  /// Packets of all frames that were taken over, and those that the other end has acknowledged.
  std::uint64_t last() const { return last_; }
  std::uint64_t acknowledged() const { return acknowledged_; }
  /// Packets that were sent more than once.
  std::uint64_t resent() const { return resent_; }
  /// Frames, and their bytes, that are not acknowledged.
  std::size_t waiting() const { return outgoing_.size(); }
  std::size_t waiting_bytes() const { return waiting_bytes_; }
  /// Bytes of the frame that is coming.
  std::size_t coming_bytes() const { return coming_bytes_; }
  std::uint64_t hash() const;

 private:
  struct Outgoing {
    Letter letter;
    std::uint64_t first = 0, last = 0;  // Its packets.
  };
  std::uint64_t packets_of(const Frame& frame) const;
  Piece piece(const Outgoing& outgoing, std::uint64_t number) const;
  Taken refuse(std::string why);
  Frame assemble();

  FrameLaneOptions options_;
  std::deque<Outgoing> outgoing_;
  std::size_t waiting_bytes_ = 0;
  std::uint64_t last_ = 0;
  std::uint64_t said_ = 0;  // On this connection, or known to have been received.
  std::uint64_t acknowledged_ = 0;
  std::uint64_t resent_ = 0;
  std::deque<std::size_t> under_way_;  // Bytes of each that was sent and is not acknowledged.
  std::size_t under_way_bytes_ = 0;
  std::uint64_t received_ = 0;    // From the other end,
  std::uint64_t told_ = 0;        // of which it was told so many,
  std::size_t untold_bytes_ = 0;  // and these bytes were not.
  std::vector<Frame> coming_;     // Parts of the frame that is coming.
  std::size_t coming_bytes_ = 0;
  std::uint32_t coming_channel_ = 0;
  std::string wrong_;
};

}  // namespace seaway::transport
