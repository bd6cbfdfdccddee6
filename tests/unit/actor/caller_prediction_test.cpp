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
  call(CallerPrediction::kCallsMin - 1);
  EXPECT_FALSE(prediction_.is_likely());
  call(1);

  EXPECT_TRUE(prediction_.spoke(self_, now_ns_));
}

TEST_F(CallerPredictionTest, TrustsOnlyTheFirstWordSinceAWait) {
  call(CallerPrediction::kCallsMin);

  EXPECT_TRUE(prediction_.spoke(self_, now_ns_));
  EXPECT_FALSE(prediction_.spoke(self_, now_ns_));
}

TEST_F(CallerPredictionTest, TrustsNoOtherThread) {
  call(CallerPrediction::kCallsMin);

  EXPECT_FALSE(prediction_.spoke(std::thread::id(), now_ns_));
}

TEST_F(CallerPredictionTest, DoesNotTrustAThreadThatComputesBeforeItWaits) {
  call(CallerPrediction::kCallsMin, CallerPrediction::kPatienceNs);

  EXPECT_FALSE(prediction_.spoke(self_, now_ns_));
}

TEST_F(CallerPredictionTest, NeedsTwiceAsManyCallsAfterEachMiss) {
  call(CallerPrediction::kCallsMin);
  prediction_.missed();

  call(2 * CallerPrediction::kCallsMin - 1);
  EXPECT_FALSE(prediction_.is_likely());
  call(1);
  EXPECT_TRUE(prediction_.is_likely());
}

TEST_F(CallerPredictionTest, ForgetsAMissAfterManyGoodCalls) {
  call(CallerPrediction::kCallsMin);
  prediction_.missed();
  call(64 * 2 * CallerPrediction::kCallsMin);
  prediction_.forget_if_quiet(now_ns_ + CallerPrediction::kQuietNs + 1);

  call(CallerPrediction::kCallsMin);

  EXPECT_TRUE(prediction_.is_likely());
}

TEST_F(CallerPredictionTest, ForgetsACallerThatHasGoneQuiet) {
  call(CallerPrediction::kCallsMin);

  prediction_.forget_if_quiet(now_ns_ + CallerPrediction::kQuietNs);
  EXPECT_TRUE(prediction_.is_likely());
  prediction_.forget_if_quiet(now_ns_ + CallerPrediction::kQuietNs + 1);
  EXPECT_FALSE(prediction_.is_likely());
}

}  // namespace
}  // namespace seaway::actor
