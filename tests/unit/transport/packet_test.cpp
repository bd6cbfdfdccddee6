// Packets: what was written is read, and nothing else.

#include "transport/packet.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "base/random.hpp"

namespace seaway::transport {
namespace {

Frame make_frame(std::size_t words, std::uint64_t first) {
  return Frame::make(words, [first](std::span<std::uint64_t> out) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = first + i;
  });
}

Packet make_packet(std::size_t words = 3) {
  constexpr std::uint64_t kLife = std::uint64_t{0xfffe'ffff} << 32;
  return {Packet::Kind::kFrame, kLife | 7, kLife | 8, 9, 10, make_frame(words, 100), 11};
}

std::vector<std::byte> bytes_of(const Packet& packet) {
  std::vector<std::byte> bytes;
  write_packet(packet, bytes);
  return bytes;
}

void expect_equal(const Packet& one, const Packet& other) {
  EXPECT_EQ(one.kind, other.kind);
  EXPECT_EQ(one.from_epoch, other.from_epoch);
  EXPECT_EQ(one.to_epoch, other.to_epoch);
  EXPECT_EQ(one.sequence, other.sequence);
  EXPECT_EQ(one.acknowledged, other.acknowledged);
  EXPECT_EQ(one.channel, other.channel);
  EXPECT_TRUE(std::ranges::equal(one.frame.words(), other.frame.words()));
}

TEST(Packets, ComeBackAsTheyWereFromPiecesOfAnySize) {
  std::vector<std::byte> bytes;
  for (std::size_t words : {0u, 1u, 500u}) write_packet(make_packet(words), bytes);

  for (const std::size_t piece : {1u, 7u, 40u, 4096u, 100'000u}) {
    PacketReader reader;
    std::vector<Packet> read;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      reader.feed(std::span(bytes).subspan(at, std::min(piece, bytes.size() - at)));
      for (auto packet = reader.next(); packet.ok() && *packet; packet = reader.next()) {
        read.push_back(std::move(**packet));
      }
    }
    ASSERT_EQ(read.size(), 3u) << piece;
    expect_equal(read[0], make_packet(0));
    expect_equal(read[1], make_packet(1));
    expect_equal(read[2], make_packet(500));
  }
}

TEST(Packets, ABitThatChangedIsSeenWhereverItIs) {
  const std::vector<std::byte> bytes = bytes_of(make_packet());
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::vector<std::byte> changed = bytes;
    changed[bit / 8] ^= std::byte{1} << bit % 8;
    PacketReader reader;

    reader.feed(changed);
    const auto packet = reader.next();

    // At once: nobody waits for a length that is wrong. Another connection may heal it.
    EXPECT_EQ(packet.status().code(), StatusCode::kProtocolError) << "bit " << bit;
    EXPECT_FALSE(reader.is_refusal()) << "bit " << bit;
  }
}

TEST(Packets, WhatIsNoneIsRefusedAndSoIsAllBehindIt) {
  const std::vector<std::tuple<std::size_t, std::uint8_t, std::string>> wrongs = {
      {0, 0, "bytes that are no packet"},
      {2, 9, "version 9 of packets; this is version 6"},
      {7, 0xff, "a header whose checksum is wrong"},
      {66, 1, "a frame whose checksum is wrong"}};
  for (const auto& [at, value, text] : wrongs) {
    std::vector<std::byte> bytes = bytes_of(make_packet());
    bytes[at] = std::byte{value};
    PacketReader reader;

    reader.feed(bytes);

    EXPECT_EQ(reader.next().status(), protocol_error("a connection brings " + text));
    reader.feed(bytes_of(make_packet()));
    EXPECT_EQ(reader.next().status().code(), StatusCode::kProtocolError);
  }
}

TEST(Packets, AnUnknownKindIsRefused) {
  Packet packet = make_packet();
  packet.kind = static_cast<Packet::Kind>(7);
  PacketReader reader;

  reader.feed(bytes_of(packet));

  EXPECT_EQ(reader.next().status(),
            protocol_error("a connection brings packets of kind 7, which is unknown"));
}

TEST(Packets, AFrameAtTheLimitIsReadAndOneAboveItRefused) {
  PacketReader reader(64);
  PacketReader other(64);

  reader.feed(bytes_of(make_packet(8)));
  other.feed(bytes_of(make_packet(9)));

  EXPECT_TRUE(reader.next().value().has_value());
  EXPECT_EQ(
      other.next().status(),
      protocol_error(
          "a connection brings a packet of kind 1 with a frame of 72 bytes; the limit is 64"));
}

TEST(Packets, RandomBytesAreRefusedOrWaitForMore) {
  RandomStream random(1, 1);
  for (int round = 0; round < 2'000; ++round) {
    std::vector<std::byte> bytes(random.below(200));
    for (std::byte& one : bytes) one = static_cast<std::byte>(random.next());
    PacketReader reader;

    reader.feed(bytes);
    const auto packet = reader.next();

    EXPECT_TRUE(!packet.ok() || !*packet);
  }
}

}  // namespace
}  // namespace seaway::transport
