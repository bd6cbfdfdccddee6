// Clients that wait for too long, and clients that are remembered for too long.

#include "sim/client_watch.hpp"

#include <gtest/gtest.h>

#include "unit/sim/process_events.hpp"

namespace seaway::sim {
namespace {

class ClientWatchTest : public ::testing::Test {
 protected:
  std::string verdict_at(std::uint64_t at_ns) {
    now_ns = at_ns;
    watch.look();
    return texts_of(verdict).front();
  }

  std::uint64_t now_ns = 1;
  ProcessTruth::Now now = [this] { return now_ns; };
  ProcessTruth truth{1, 1, now, [](IslandId, DeviceId) { return std::vector<SliceId>(); }};
  std::string left;
  Verdict verdict;
  ClientWatch watch{truth, now, 7, [this](ClientId) { return left; }, verdict};
};

TEST_F(ClientWatchTest, AFutureHasItsOutcomeSoonAfterTheLastFault) {
  watch.add(3, [] { return std::optional<std::uint64_t>(5); });
  EXPECT_EQ(verdict_at(100 * kSettleNsMax), "clean");  // Faults may still be there.
  now_ns = 20;
  watch.healed();

  EXPECT_EQ(verdict_at(20 + kSettleNsMax + 7), "clean");
  EXPECT_EQ(verdict_at(20 + kSettleNsMax + 8),
            "I2: client 3 waits since 5 ns, and all faults were over at 20 ns");
}

TEST_F(ClientWatchTest, AFutureOfLaterHasItsOwnTime) {
  watch.healed();
  watch.add(3, [] { return std::optional<std::uint64_t>(1'000'000); });

  EXPECT_EQ(verdict_at(1'000'000 + kSettleNsMax + 7), "clean");
  EXPECT_NE(verdict_at(1'000'000 + kSettleNsMax + 8), "clean");
}

TEST_F(ClientWatchTest, NothingIsLeftOfADeadClient) {
  left = "1 arrays";
  watch.ended(client(3), 1);

  EXPECT_EQ(verdict_at(1 + kCleanNsMax), "clean");
  EXPECT_EQ(verdict_at(2 + kCleanNsMax),
            "I9: client 3 died, or whoever cleans up behind it was hindered, until 1 ns, and there "
            "is left of it: 1 arrays");
}

TEST_F(ClientWatchTest, WhoIsHinderedToForgetHasLonger) {
  left = "1 arrays";
  watch.ended(client(3), 1);
  truth.ended(kTheController, 1);
  EXPECT_EQ(verdict_at(2 * kCleanNsMax), "clean");
  truth.started(kTheController, 2);
  now_ns += kAftermathNs;

  EXPECT_EQ(verdict_at(3 * kCleanNsMax), "clean");
  EXPECT_NE(verdict_at(4 * kCleanNsMax), "clean");
}

TEST_F(ClientWatchTest, WhoIsForgottenIsNotLookedForAgain) {
  watch.ended(client(3), 1);
  verdict_at(2);
  left = "1 arrays";

  EXPECT_EQ(verdict_at(3 * kCleanNsMax), "clean");
}

}  // namespace
}  // namespace seaway::sim
