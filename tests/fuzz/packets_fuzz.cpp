// Any bytes on a connection, and any packets whose sums are right: what a conversation delivers has
// come, once and in order, and it never says more than it was asked to.

#include <algorithm>
#include <vector>

#include "base/check.hpp"
#include "target.hpp"
#include "transport/conversation.hpp"
#include "transport/packet.hpp"

namespace seaway::fuzz {
namespace {

constexpr std::size_t kFrameBytesMax = 4096;
constexpr std::uint32_t kEpoch = 3;

/// This end, and what it was told.
struct End {
  End()
      : conversation({.epoch = kEpoch,
                      .peer = "the peer",
                      .peer_epoch_min = 2,
                      .control = control(),
                      .heartbeat_ns = 100,
                      .silence_max_ns = 10'000},
                     0) {
    conversation.connected(0);
  }
  static transport::FrameLaneOptions control() {
    transport::FrameLaneOptions control = transport::control_lane();
    control.frames_max = 64;
    control.waiting_bytes_max = 1 << 16;
    control.acknowledge_every = 2;
    control.frame_bytes_max = kFrameBytesMax;
    return control;
  }

  void look() {
    for (const transport::Letter& letter : conversation.take_letters()) {
      SEAWAY_CHECK(letter.frame.size_bytes() <= kFrameBytesMax);
      ++letters;
    }
    SEAWAY_CHECK(conversation.counts().received == letters);
    SEAWAY_CHECK(conversation.unacknowledged() <= 64);
    // Each packet that comes is worth one answer at most; a greeting, all that waits as well.
    SEAWAY_CHECK(conversation.take_packets(now_ns).size() <= 64 + packets + 2);
    packets = 0;
    if (conversation.take_close() && !conversation.has_ended()) {
      conversation.disconnected();
      conversation.connected(now_ns);
      reader = transport::PacketReader(kFrameBytesMax);
    }
  }
  void take(std::span<const std::byte> bytes) {
    reader.feed(bytes);
    for (;;) {
      auto packet = reader.next();
      if (!packet.ok()) {
        SEAWAY_CHECK(packet.status().code() == StatusCode::kProtocolError);
        SEAWAY_CHECK(!reader.next().ok());
        conversation.unreadable(packet.status(), reader.is_refusal());
        conversation.connected(now_ns);
        reader = transport::PacketReader(kFrameBytesMax);
        return look();
      }
      if (!*packet) return look();
      ++packets;
      SEAWAY_CHECK((*packet)->frame.size_bytes() <= kFrameBytesMax);
      conversation.receive(std::move(**packet), now_ns);
    }
  }

  transport::Conversation conversation;
  transport::PacketReader reader{kFrameBytesMax};
  std::uint64_t now_ns = 0;
  std::uint64_t letters = 0;
  std::size_t packets = 0;
};

transport::Packet packet_of(const Said& said) {
  transport::Packet packet;
  packet.kind =
      static_cast<transport::Packet::Kind>((said.from & 3) + ((said.to & 1) != 0 ? 3 : 0));
  packet.from_epoch = said.from >> 2 & 7;
  // Mostly for this life, so that conversations come about.
  packet.to_epoch = (said.from & 0x80) != 0 ? said.to : kEpoch;
  packet.sequence = said.number & 0xff;
  packet.acknowledged = said.number >> 8;
  packet.frame = said.frame;
  packet.channel = said.to;
  return packet;
}

}  // namespace

void packets(std::span<const std::uint8_t> input) {
  if (input.empty()) return;
  const std::uint8_t how = input[0];
  input = input.subspan(1);
  End end;
  if ((how & 1) == 0) {
    const std::size_t piece = std::max<std::size_t>(1, how);
    while (!input.empty()) {
      const auto some = input.first(std::min(piece, input.size()));
      end.take(std::as_bytes(some));
      input = input.subspan(some.size());
    }
    return;
  }
  Said said;
  for (Sayings sayings(input); sayings.next(said);) {
    end.now_ns += said.to;
    if (said.from == 0xff) {
      static_cast<void>(end.conversation.send(said.frame, end.now_ns, said.to).ok());
      end.look();
      continue;
    }
    if (said.from == 0xfe) {
      end.conversation.tick(end.now_ns);
      end.look();
      continue;
    }
    std::vector<std::byte> bytes;
    transport::write_packet(packet_of(said), bytes);
    // As it is written, a bit of it changed, or half of it.
    if (said.from == 0xfd) bytes[said.number % bytes.size()] ^= std::byte{4};
    if (said.from == 0xfc) bytes.resize(bytes.size() / 2);
    end.take(bytes);
  }
}

}  // namespace seaway::fuzz
