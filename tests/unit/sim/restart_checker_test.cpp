// F11, with hand-made stories: islands have failed when they were lost too often, and else never.

#include "sim/restart_checker.hpp"

#include <gtest/gtest.h>

#include "unit/sim/process_events.hpp"

namespace seaway::sim {
namespace {

using events::EventKind;

constexpr std::uint64_t kWindowNs = 10'000'000'000;

/// What a controller says of one island.
class RestartCheckerTest : public ::testing::Test {
 protected:
  void say(EventKind kind, std::uint64_t time_ns, std::uint64_t value = 0) {
    checker.look();
    checker.record(kTheController, {.time_ns = time_ns, .value = value, .island = 0, .kind = kind});
  }
  void lose_hosts(std::uint64_t times) {
    for (std::uint64_t time = 0; time < times; ++time) say(EventKind::kHostLost, time);
  }
  std::string verdict_of() {
    checker.look();
    return texts_of(verdict).front();
  }

  Verdict verdict;
  RestartChecker checker{{.restarts_max = 3, .restart_window_ns = kWindowNs}, verdict};
};

TEST_F(RestartCheckerTest, LossesUpToTheLimitAreNoReason) {
  lose_hosts(3);
  for (std::uint64_t time = 0; time < 3; ++time) say(EventKind::kSchedulerLost, time);
  say(EventKind::kHostLost, 2 * kWindowNs);
  EXPECT_EQ(verdict_of(), "clean");

  say(EventKind::kIslandFailed, 2 * kWindowNs, kWindowNs);

  EXPECT_EQ(verdict_of(), "F11: island 0 has failed without a reason");
}

TEST_F(RestartCheckerTest, OneMoreIsAndTheIslandHasFailedAtOnce) {
  lose_hosts(4);
  say(EventKind::kIslandFailed, 4, kWindowNs);

  EXPECT_EQ(verdict_of(), "F11: island 0 was lost too often, and has not failed");
}

TEST_F(RestartCheckerTest, WhatFollowsTheFailureIsNotCounted) {
  lose_hosts(3);
  checker.record(kTheController, {.time_ns = 3, .island = 0, .kind = EventKind::kHostLost});
  checker.record(kTheController,
                 {.time_ns = 3, .value = kWindowNs, .island = 0, .kind = EventKind::kIslandFailed});
  for (std::uint64_t time = 3; time < 8; ++time) say(EventKind::kSchedulerLost, time);
  say(EventKind::kIslandFailed, 3 + kWindowNs);
  say(EventKind::kHostJoined, 3 + kWindowNs);
  say(EventKind::kHostLost, 4 + kWindowNs);

  EXPECT_EQ(verdict_of(), "clean");
}

TEST_F(RestartCheckerTest, AnIslandThatFailedIsLeftAlone) {
  lose_hosts(3);
  checker.record(kTheController, {.time_ns = 3, .island = 0, .kind = EventKind::kHostLost});
  checker.record(kTheController,
                 {.time_ns = 3, .value = kWindowNs, .island = 0, .kind = EventKind::kIslandFailed});
  say(EventKind::kHostJoined, 4);
  say(EventKind::kIslandFailed, 2 + kWindowNs);

  EXPECT_EQ(texts_of(verdict),
            (std::vector<std::string>{
                "F11: island 0 has a host, though it has failed",
                "F11: island 0 is used again before it was left alone for long enough"}));
}

TEST_F(RestartCheckerTest, WhatOthersSayIsNotCounted) {
  for (std::uint64_t time = 0; time < 4; ++time) {
    checker.record(host(0), {.time_ns = time, .island = 0, .kind = EventKind::kHostLost});
  }

  EXPECT_EQ(verdict_of(), "clean");
}

TEST_F(RestartCheckerTest, ANewControllerCountsAnew) {
  lose_hosts(3);
  checker.started(kTheController, 2);
  lose_hosts(3);

  EXPECT_EQ(verdict_of(), "clean");
}

}  // namespace
}  // namespace seaway::sim
