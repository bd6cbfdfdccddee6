// I18, with hand-made stories: whoever is gone is found in time, and nobody else.

#include "sim/detector_checker.hpp"

#include <gtest/gtest.h>

#include "unit/sim/process_events.hpp"

namespace seaway::sim {
namespace {

using events::EventKind;
using Kind = ProcessFault::Kind;

/// A controller, and an island whose host and scheduler it knows.
class DetectorCheckerTest : public ::testing::Test {
 protected:
  DetectorCheckerTest() {
    for (const auto& name : {kTheController, scheduler(0), host(0)}) start(name, 1);
    say(kTheController, {.value = 1, .island = 0, .kind = EventKind::kHostJoined});
    say(scheduler(0), {.value = 2, .island = 0, .kind = EventKind::kView});
  }
  void start(const cluster::RoleName& name, std::uint32_t life) {
    truth.started(name, life);
    checker.started(name, life);
  }
  void end(const cluster::RoleName& name) {
    truth.ended(name, 1);
    checker.ended(name, 1);
  }
  void begin(const ProcessFault& fault) {
    truth.began(fault);
    checker.began(fault);
  }
  void say(const cluster::RoleName& teller, const events::Event& event) {
    truth.record(teller, event);
    checker.record(teller, event);
  }
  std::string verdict_after(std::uint64_t wait_ns) {
    now_ns += wait_ns;
    checker.look();
    return texts_of(verdict).front();
  }

  std::uint64_t now_ns = 1;
  ProcessTruth::Now now = [this] { return now_ns; };
  ProcessTruth truth{1, 1, now, [](IslandId, DeviceId) { return std::vector<SliceId>(); }};
  Verdict verdict;
  DetectorChecker checker{truth, now, verdict};
};

TEST_F(DetectorCheckerTest, WhoIsKilledIsKnownToBeLostInTime) {
  end(host(0));
  EXPECT_EQ(verdict_after(kDetectNsMax - 1), "clean");

  EXPECT_EQ(
      verdict_after(1),
      "I18: the host of island 0 in its life 1 was not heard from 1 ns on, and the controller "
      "does not know it at 1540000001");
}

TEST_F(DetectorCheckerTest, ASchedulerIsNoOther) {
  end(scheduler(0));

  EXPECT_NE(verdict_after(kDetectNsMax), "clean");
}

TEST_F(DetectorCheckerTest, WhoWasFoundIsNotSoughtAnyMore) {
  end(host(0));
  say(kTheController, {.island = 0, .kind = EventKind::kHostLost});

  EXPECT_EQ(verdict_after(kDetectNsMax), "clean");
}

TEST_F(DetectorCheckerTest, ALifeThatWasLostIsNotSoughtThoughItBeginsAViewOfBefore) {
  begin({.kind = Kind::kMute, .duration_ns = 1, .target = scheduler(0)});
  say(kTheController, {.island = 0, .kind = EventKind::kSchedulerLost});
  say(scheduler(0), {.value = 2, .island = 0, .kind = EventKind::kView});
  end(scheduler(0));

  EXPECT_EQ(verdict_after(kDetectNsMax), "clean");
}

TEST_F(DetectorCheckerTest, WhoIsIsolatedOrPausedIsLostToo) {
  begin({.kind = Kind::kIsolate, .target = host(0)});
  begin({.kind = Kind::kPause, .duration_ns = 2 * kDetectNsMax, .target = scheduler(0)});

  EXPECT_NE(verdict_after(kDetectNsMax), "clean");
  verdict_after(1);
  EXPECT_EQ(verdict.violations().size(), 2u);
}

TEST_F(DetectorCheckerTest, WhoComesBackBeforeNeedNotBeLost) {
  const ProcessFault fault{.kind = Kind::kMute, .target = host(0)};
  begin(fault);
  now_ns += kDetectNsMax / 2;
  checker.finished(fault);
  truth.finished(fault);

  EXPECT_EQ(verdict_after(kDetectNsMax), "clean");
}

TEST_F(DetectorCheckerTest, WhatIsDoneToTheControllerExcusesIt) {
  end(host(0));
  begin({.kind = Kind::kPause, .duration_ns = 1, .target = kTheController});

  EXPECT_EQ(verdict_after(kDetectNsMax), "clean");
}

TEST_F(DetectorCheckerTest, NobodyIsLostWithoutAReason) {
  say(kTheController, {.island = 0, .kind = EventKind::kHostLost});
  say(kTheController, {.island = 0, .kind = EventKind::kSchedulerLost});

  EXPECT_EQ(texts_of(verdict),
            (std::vector<std::string>{"I18: the controller took the host of island 0 for lost, but "
                                      "nothing was done to either of them",
                                      "I18: the controller took the scheduler of island 0 for "
                                      "lost, but nothing was done to either of them"}));
}

TEST_F(DetectorCheckerTest, AReasonIsOneForThoseThatItConcerns) {
  begin({.kind = Kind::kCutPair, .target = kTheController, .other = host(0)});
  say(kTheController, {.island = 0, .kind = EventKind::kHostLost});
  EXPECT_EQ(texts_of(verdict).front(), "clean");

  say(kTheController, {.island = 0, .kind = EventKind::kSchedulerLost});
  EXPECT_NE(texts_of(verdict).front(), "clean");
}

TEST_F(DetectorCheckerTest, ReportsARestartWithoutReason) {
  checker.orphaned(annex(0, 1));
  EXPECT_EQ(texts_of(verdict).front(),
            "I18: host 1 of island 0 ended itself, but nothing was done to it or to the "
            "controller");
}

TEST_F(DetectorCheckerTest, AllowsRestartAfterFaultInIsland) {
  end(annex(0, 1));
  checker.orphaned(host(0));
  checker.orphaned(annex(0, 2));

  EXPECT_EQ(texts_of(verdict).front(), "clean");
}

TEST_F(DetectorCheckerTest, AllowsRestartWhileIslandHasFailed) {
  say(kTheController, {.value = 1, .island = 0, .kind = EventKind::kIslandFailed});
  checker.orphaned(host(0));
  EXPECT_EQ(texts_of(verdict).front(), "clean");

  say(kTheController, {.value = 0, .island = 0, .kind = EventKind::kIslandFailed});
  checker.orphaned(host(0));
  EXPECT_NE(texts_of(verdict).front(), "clean");
}

}  // namespace
}  // namespace seaway::sim
