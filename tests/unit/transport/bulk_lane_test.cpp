// The bulk lane: chunks, credit, what is sent again, and what is no chunk.

#include "transport/bulk_lane.hpp"

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

class BulkLaneTest : public testing::Test {
 protected:
  /// Sends what may be sent; returns how many chunks that were.
  std::size_t carry() {
    std::size_t chunks = 0;
    for (; const auto chunk = left.next(); ++chunks) {
      EXPECT_EQ(right.take(*chunk, letters), BulkLane::Taken::kNew);
    }
    return chunks;
  }
  void acknowledge() {
    EXPECT_TRUE(left.acknowledge(right.received()));
    right.told();
  }

  BulkLaneOptions options{.chunk_bytes = 2 * kWord,
                          .credit_bytes = 1000,
                          .credit_chunks = 3,
                          .waiting_bytes_max = 20 * kWord,
                          .frame_bytes_max = 12 * kWord};
  BulkLane left{options}, right{options};
  std::vector<Letter> letters;
};

TEST_F(BulkLaneTest, AChunkWithoutCreditIsNotTaken) {
  options.credit_chunks = 4;
  BulkLane eager(options);
  ASSERT_TRUE(eager.send(7, frame(12)).ok());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(right.take(*eager.next(), letters), BulkLane::Taken::kNew);
  }

  EXPECT_EQ(right.take(*eager.next(), letters), BulkLane::Taken::kWrong);
}

TEST_F(BulkLaneTest, AFrameIsPutTogetherFromItsChunks) {
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

TEST_F(BulkLaneTest, MoreThanTheCreditIsNeverUnderWay) {
  ASSERT_TRUE(left.send(1, frame(12)).ok());

  EXPECT_EQ(carry(), 3u);
  EXPECT_EQ(carry(), 0u);
  EXPECT_TRUE(left.acknowledge(1));
  right.told();
  EXPECT_EQ(carry(), 1u);
  EXPECT_TRUE(letters.empty());
}

TEST_F(BulkLaneTest, CreditCountsBytesToo) {
  options.credit_chunks = 100;
  options.credit_bytes = 2 * 3 * kWord;  // Two whole chunks with their first words.
  left = BulkLane(options);
  ASSERT_TRUE(left.send(1, frame(12)).ok());

  EXPECT_EQ(carry(), 2u);
}

TEST_F(BulkLaneTest, ItsReaderOwesAWordWhenPartOfTheCreditIsUsed) {
  options.credit_chunks = 16;
  right = BulkLane(options);
  ASSERT_TRUE(left.send(1, frame(12)).ok());

  EXPECT_EQ(right.take(*left.next(), letters), BulkLane::Taken::kNew);
  EXPECT_FALSE(right.owes_acknowledgement());
  EXPECT_TRUE(right.has_news());
  EXPECT_EQ(right.take(*left.next(), letters), BulkLane::Taken::kNew);
  EXPECT_TRUE(right.owes_acknowledgement());
  right.told();
  EXPECT_FALSE(right.owes_acknowledgement());
  EXPECT_FALSE(right.has_news());
}

TEST_F(BulkLaneTest, ANewConnectionBringsAgainWhatHasNotArrivedAndNothingElse) {
  ASSERT_TRUE(left.send(1, frame(6)).ok());
  EXPECT_EQ(right.take(*left.next(), letters), BulkLane::Taken::kNew);
  const auto lost = left.next();
  ASSERT_TRUE(lost);

  ASSERT_TRUE(left.resume(right.received()));
  EXPECT_EQ(left.next()->number, lost->number);
  EXPECT_EQ(right.take(*lost, letters), BulkLane::Taken::kNew);
  EXPECT_EQ(right.take(*lost, letters), BulkLane::Taken::kRepeated);
  EXPECT_EQ(right.take(*left.next(), letters), BulkLane::Taken::kNew);
  ASSERT_EQ(letters.size(), 1u);
  EXPECT_EQ(words_of(letters[0].frame), words_of(frame(6)));
}

TEST_F(BulkLaneTest, WhatNobodyHasSentCannotBeAcknowledged) {
  ASSERT_TRUE(left.send(1, frame(2)).ok());

  EXPECT_FALSE(left.acknowledge(1));
  left.next();
  EXPECT_TRUE(left.acknowledge(1));
  EXPECT_TRUE(left.acknowledge(0));  // An older word, repeated.
  EXPECT_FALSE(left.resume(2));
}

TEST_F(BulkLaneTest, TooMuchThatWaitsIsRefusedWithTheNumbers) {
  ASSERT_TRUE(left.send(1, frame(12)).ok());
  ASSERT_TRUE(left.send(1, frame(8)).ok());

  const Status status = left.send(1, frame(1));
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_NE(status.message().find("160 bytes of payload wait, and 8 more"), std::string::npos)
      << status.message();
}

TEST_F(BulkLaneTest, AFrameAboveTheLimitIsRefusedAtBothEnds) {
  EXPECT_TRUE(left.send(1, frame(12)).ok());
  EXPECT_EQ(BulkLane(options).send(1, frame(13)).code(), StatusCode::kResourceExhausted);

  const auto begin = [](std::uint64_t left) { return BulkLane::Chunk{1, 0, frame(3, left)}; };
  EXPECT_EQ(BulkLane(options).take(begin(12), letters), BulkLane::Taken::kNew);
  EXPECT_EQ(BulkLane(options).take(begin(13), letters), BulkLane::Taken::kWrong);
}

TEST_F(BulkLaneTest, AChunkThatDoesNotGoOnFromTheOneBeforeIsWrong) {
  const auto chunk = [](std::uint64_t number, std::size_t words, std::uint64_t left) {
    return BulkLane::Chunk{number, 0, frame(words, left)};
  };
  EXPECT_EQ(right.take(chunk(2, 3, 5), letters), BulkLane::Taken::kGap);
  EXPECT_EQ(right.take({1, 0, Frame()}, letters), BulkLane::Taken::kWrong);
  EXPECT_EQ(right.take(chunk(1, 3, 1), letters), BulkLane::Taken::kWrong);  // Longer than it says.
  EXPECT_EQ(right.take(chunk(1, 3, 5), letters), BulkLane::Taken::kNew);
  EXPECT_EQ(right.take(chunk(2, 3, 4), letters), BulkLane::Taken::kWrong);  // 3 are missing.
  EXPECT_EQ(right.take(chunk(2, 1, 3), letters), BulkLane::Taken::kWrong);  // Brings nothing.
}

}  // namespace
}  // namespace seaway::transport
