// CallerPrediction: when a word may wait for its speaker, and when that was wrong.

#include "actor/caller_prediction.hpp"

#include <gtest/gtest.h>

namespace seaway::actor {
namespace {

class CallerPredictionTest : public ::testing::Test {
 protected:
  /// `count` calls, each of which waits `delay_ns` after its first word.
  void call(int count, std::uint64_t delay_ns = 1000) {
    for (int i = 0; i < count; ++i) {
      prediction_.spoke(self_, now_ns_ += 1000);
      prediction_.waits(self_, now_ns_ += delay_ns);
    }
  }

  const std::thread::id self_ = std::this_thread::get_id();
  std::uint64_t now_ns_ = 1;
  CallerPrediction prediction_;
};

TEST_F(CallerPredictionTest, TrustsAThreadThatHasCalledAndWaitedInTurns) {
  call(CallerPrediction::kScoreLikely - 1);
  EXPECT_FALSE(prediction_.is_likely());
  call(1);

  EXPECT_TRUE(prediction_.spoke(self_, now_ns_));
}

TEST_F(CallerPredictionTest, TrustsOnlyTheFirstWordSinceAWait) {
  call(CallerPrediction::kScoreLikely);

  EXPECT_TRUE(prediction_.spoke(self_, now_ns_));
  EXPECT_FALSE(prediction_.spoke(self_, now_ns_));
}

TEST_F(CallerPredictionTest, TrustsNoOtherThread) {
  call(CallerPrediction::kScoreLikely);

  EXPECT_FALSE(prediction_.spoke(std::thread::id(), now_ns_));
}

TEST_F(CallerPredictionTest, DoesNotTrustAThreadThatComputesBeforeItWaits) {
  call(CallerPrediction::kScoreLikely, CallerPrediction::kAnnouncedNs);

  EXPECT_FALSE(prediction_.spoke(self_, now_ns_));
}

TEST_F(CallerPredictionTest, HasToEarnTrustAgainAfterAMiss) {
  call(CallerPrediction::kScoreLikely);
  prediction_.missed();

  call(CallerPrediction::kMissCost - 1);
  EXPECT_FALSE(prediction_.is_likely());
  call(1);
  EXPECT_TRUE(prediction_.is_likely());
}

TEST_F(CallerPredictionTest, SoonLosesTrustInAThreadThatWaitsTooLateForWhatItLeavesLying) {
  call(CallerPrediction::kScoreLikely, CallerPrediction::kPatienceNs);
  EXPECT_TRUE(prediction_.is_likely());

  call(1, CallerPrediction::kPatienceNs);

  EXPECT_FALSE(prediction_.is_likely());
}

TEST_F(CallerPredictionTest, ForgivesAMissNowAndThen) {
  call(10 * CallerPrediction::kScoreMax);

  prediction_.missed();
  prediction_.missed();

  EXPECT_TRUE(prediction_.is_likely());
}

TEST_F(CallerPredictionTest, IsWrongAtMostOnceInSoManyCalls) {
  int misses = 0, calls = 0;
  for (; calls < 100'000; ++calls) {
    if (prediction_.spoke(self_, now_ns_ += 1000) && calls % 2 == 0) {
      prediction_.missed();
      ++misses;
    } else {
      prediction_.waits(self_, now_ns_ += 1000);
    }
  }

  EXPECT_LE(misses, calls / CallerPrediction::kMissCost);
}

TEST_F(CallerPredictionTest, ForgetsACallerThatHasGoneQuiet) {
  call(CallerPrediction::kScoreLikely);

  prediction_.forget_if_quiet(now_ns_ + CallerPrediction::kQuietNs);
  EXPECT_TRUE(prediction_.is_likely());
  prediction_.forget_if_quiet(now_ns_ + CallerPrediction::kQuietNs + 1);
  EXPECT_FALSE(prediction_.is_likely());
}

}  // namespace
}  // namespace seaway::actor
