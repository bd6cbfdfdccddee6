// A lane: packets, credit, what is sent again, and what no sender may send.

#include "transport/frame_lane.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace seaway::transport {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);

Frame frame(std::size_t words, std::uint64_t first = 1) {
  return Frame::make(
      words, [first](std::span<std::uint64_t> all) { std::iota(all.begin(), all.end(), first); });
}

std::vector<std::uint64_t> words_of(const Frame& frame) {
  return {frame.words().begin(), frame.words().end()};
}

class FrameLaneTest : public testing::Test {
 protected:
  /// Sends what may be sent; returns how many chunks that were.
  std::size_t carry() {
    std::size_t chunks = 0;
    for (; const auto chunk = left.next(); ++chunks) {
      EXPECT_EQ(right.take(*chunk, letters), FrameLane::Taken::kNew);
    }
    return chunks;
  }
  void acknowledge() {
    EXPECT_TRUE(left.acknowledge(right.received()));
    right.told();
  }

  FrameLaneOptions options{.packet_bytes = 2 * kWord,
                           .credit_bytes = 1000,
                           .credit_packets = 3,
                           .waiting_bytes_max = 20 * kWord,
                           .frame_bytes_max = 12 * kWord};
  FrameLane left{options}, right{options};
  std::vector<Letter> letters;
};

TEST_F(FrameLaneTest, RefusesAPacketWithoutCredit) {
  options.credit_packets = 4;
  FrameLane eager(options);
  ASSERT_TRUE(eager.send(7, frame(12)).ok());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(right.take(*eager.next(), letters), FrameLane::Taken::kNew);
  }

  EXPECT_EQ(right.take(*eager.next(), letters), FrameLane::Taken::kWrong);
}

TEST_F(FrameLaneTest, AFrameIsPutTogetherFromItsChunks) {
  ASSERT_TRUE(left.send(7, frame(5)).ok());
  ASSERT_TRUE(left.send(8, Frame()).ok());

  EXPECT_EQ(carry(), 3u);
  acknowledge();
  EXPECT_EQ(carry(), 1u);
  acknowledge();

  ASSERT_EQ(letters.size(), 2u);
  EXPECT_EQ(letters[0].channel, 7u);
  EXPECT_EQ(words_of(letters[0].frame), words_of(frame(5)));
  EXPECT_EQ(letters[1].channel, 8u);
  EXPECT_TRUE(letters[1].frame.words().empty());
  EXPECT_EQ(left.waiting_bytes(), 0u);
}

TEST_F(FrameLaneTest, MoreThanTheCreditIsNeverUnderWay) {
  ASSERT_TRUE(left.send(1, frame(12)).ok());

  EXPECT_EQ(carry(), 3u);
  EXPECT_EQ(carry(), 0u);
  EXPECT_TRUE(left.acknowledge(1));
  right.told();
  EXPECT_EQ(carry(), 1u);
  EXPECT_TRUE(letters.empty());
}

TEST_F(FrameLaneTest, CreditCountsBytesToo) {
  options.credit_packets = 100;
  options.credit_bytes = 2 * 2 * kWord;  // Two packets.
  left = FrameLane(options);
  ASSERT_TRUE(left.send(1, frame(12)).ok());

  EXPECT_EQ(carry(), 2u);
}

TEST_F(FrameLaneTest, ItsReaderOwesAWordWhenPartOfTheCreditIsUsed) {
  options.credit_packets = 16;
  left = right = FrameLane(options);
  ASSERT_TRUE(left.send(1, frame(12)).ok());

  EXPECT_EQ(right.take(*left.next(), letters), FrameLane::Taken::kNew);
  EXPECT_FALSE(right.owes_acknowledgement());
  EXPECT_TRUE(right.has_news());
  EXPECT_EQ(right.take(*left.next(), letters), FrameLane::Taken::kNew);
  EXPECT_TRUE(right.owes_acknowledgement());
  EXPECT_FALSE(right.holds_credit());
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(right.take(*left.next(), letters), FrameLane::Taken::kNew);
  }
  EXPECT_TRUE(right.holds_credit());
  right.told();
  EXPECT_FALSE(right.owes_acknowledgement());
  EXPECT_FALSE(right.has_news());
}

TEST_F(FrameLaneTest, ANewConnectionBringsAgainWhatHasNotArrivedAndNothingElse) {
  ASSERT_TRUE(left.send(1, frame(6)).ok());
  EXPECT_EQ(right.take(*left.next(), letters), FrameLane::Taken::kNew);
  const auto lost = left.next();
  ASSERT_TRUE(lost);

  ASSERT_TRUE(left.resume(right.received()));
  EXPECT_EQ(left.next()->number, lost->number);
  EXPECT_EQ(right.take(*lost, letters), FrameLane::Taken::kNew);
  EXPECT_EQ(right.take(*lost, letters), FrameLane::Taken::kRepeated);
  EXPECT_EQ(right.take(*left.next(), letters), FrameLane::Taken::kNew);
  ASSERT_EQ(letters.size(), 1u);
  EXPECT_EQ(words_of(letters[0].frame), words_of(frame(6)));
}

TEST_F(FrameLaneTest, WhatNobodyHasSentCannotBeAcknowledged) {
  ASSERT_TRUE(left.send(1, frame(2)).ok());

  EXPECT_FALSE(left.acknowledge(1));
  left.next();
  EXPECT_TRUE(left.acknowledge(1));
  EXPECT_TRUE(left.acknowledge(0));  // An older word, repeated.
  EXPECT_FALSE(left.resume(2));
}

TEST_F(FrameLaneTest, TooMuchThatWaitsIsRefusedWithTheNumbers) {
  ASSERT_TRUE(left.send(1, frame(12)).ok());
  ASSERT_TRUE(left.send(1, frame(8)).ok());

  const Status status = left.send(1, frame(1));
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(),
            "has not acknowledged 2 frames of 160 bytes, and 8 bytes more are too many; the limits "
            "are 18446744073709551615 and 160; wait until it has");
}

TEST_F(FrameLaneTest, AnEmptyLaneTakesALongFrame) {
  options.waiting_bytes_max = kWord;
  left = FrameLane(options);

  EXPECT_TRUE(left.send(1, frame(12)).ok());
  EXPECT_EQ(left.send(1, frame(1)).code(), StatusCode::kResourceExhausted);
}

TEST_F(FrameLaneTest, RefusesALongFrameAtBothEnds) {
  EXPECT_TRUE(left.send(1, frame(12)).ok());
  const Status status = FrameLane(options).send(1, frame(13));
  EXPECT_EQ(status, resource_exhausted("a frame of 104 bytes; the limit is 96: send it in parts"));

  for (std::uint64_t number = 1; number <= 3; ++number) {
    ASSERT_EQ(right.take({number, 0, frame(4), false}, letters), FrameLane::Taken::kNew);
    right.told();
  }
  EXPECT_EQ(right.coming_bytes(), 96u);
  EXPECT_EQ(FrameLane(right).take({4, 0, Frame(), true}, letters), FrameLane::Taken::kNew);
  EXPECT_EQ(right.take({4, 0, frame(1), true}, letters), FrameLane::Taken::kWrong);
  EXPECT_EQ(right.wrong(), "a frame of at least 104 bytes; the limit is 96");
}

TEST_F(FrameLaneTest, RefusesAPacketThatDoesNotContinueItsFrame) {
  EXPECT_EQ(right.take({2, 0, frame(2), false}, letters), FrameLane::Taken::kGap);
  EXPECT_EQ(right.take({1, 0, Frame(), false}, letters), FrameLane::Taken::kWrong);
  EXPECT_EQ(right.take({1, 7, frame(2), false}, letters), FrameLane::Taken::kNew);
  EXPECT_EQ(right.take({2, 8, frame(2), true}, letters), FrameLane::Taken::kWrong);
  EXPECT_EQ(right.wrong(), "packet 2, which does not continue its frame");
  EXPECT_EQ(right.take({2, 7, Frame(), false}, letters), FrameLane::Taken::kWrong);
  EXPECT_TRUE(letters.empty());
}

TEST_F(FrameLaneTest, ExpandsAcknowledgementsModulo32Bits) {
  EXPECT_EQ(left.expand(3), 3u);
  EXPECT_EQ(left.expand(0xffff'ffff), ~std::uint64_t{0});  // An older one, which has no effect.
  EXPECT_TRUE(left.acknowledge(left.expand(0xffff'ffff)));
}

}  // namespace
}  // namespace seaway::transport
