// What a loss may be excused with: what was done, to whom, and when.

#include "sim/process_truth.hpp"

#include <gtest/gtest.h>

#include "unit/sim/process_events.hpp"

namespace seaway::sim {
namespace {

using Kind = ProcessFault::Kind;

constexpr ClientId kClient = 1;
constexpr SliceId kSlice0 = make_id(kClient, 10), kSlice1 = make_id(kClient, 11);

/// Two islands of one device, on each of which the client has a slice.
class ProcessTruthTest : public ::testing::Test {
 protected:
  ProcessTruthTest() {
    for (const auto& name : {kTheController, scheduler(0), host(0), scheduler(1), host(1)}) {
      truth.started(name, 1);
    }
    truth.started(client(kClient), 1);
  }
  /// Done from now on for `duration_ns`, and looked at often enough.
  void suffer(ProcessFault fault) {
    truth.began(fault);
    now_ns += fault.duration_ns;
    truth.look();
    truth.finished(fault);
  }

  std::uint64_t now_ns = 1;
  std::vector<std::vector<SliceId>> slices = {{kSlice0}, {kSlice1}};
  ProcessTruth truth{2, 1, [this] { return now_ns; },
                     [this](IslandId island, DeviceId) { return slices[island]; }};
};

TEST_F(ProcessTruthTest, NothingIsExcusedWhereNothingWasDone) {
  truth.look();

  EXPECT_FALSE(truth.is_excused(kClient));
  EXPECT_FALSE(truth.is_excused(kClient, kSlice0));
  EXPECT_FALSE(truth.is_any_excused(kClient));
  EXPECT_FALSE(truth.may_be_apart(host(0), kTheController));
}

TEST_F(ProcessTruthTest, AHostThatIsGoneExcusesWhatLayThereAlone) {
  truth.ended(host(0), 1);

  EXPECT_TRUE(truth.is_excused(kClient, kSlice0));
  EXPECT_FALSE(truth.is_excused(kClient, kSlice1));
  EXPECT_FALSE(truth.is_excused(kClient));
  EXPECT_TRUE(truth.may_be_apart(host(0), kTheController));
}

TEST_F(ProcessTruthTest, WhatIsBoundLongAfterTheFaultIsNotExcused) {
  truth.ended(host(0), 1);
  truth.started(host(0), 2);
  now_ns += kAftermathNs;
  slices[0].push_back(make_id(kClient, 12));

  truth.look();

  EXPECT_TRUE(truth.is_excused(kClient, kSlice0));
  EXPECT_FALSE(truth.is_excused(kClient, make_id(kClient, 12)));
}

TEST_F(ProcessTruthTest, WhatWasReadWhereASliceLayLatelyMayBeOnItsWayFromThere) {
  truth.look();
  slices = {{}, {kSlice0, kSlice1}};
  now_ns += kReadNs / 2;

  truth.ended(host(0), 1);

  EXPECT_TRUE(truth.is_excused(kClient, kSlice0));
  EXPECT_FALSE(truth.is_excused(kClient, kSlice1));
}

TEST_F(ProcessTruthTest, WhatWasReadWhereASliceLayLongAgoIsThere) {
  truth.look();
  slices = {{}, {kSlice0, kSlice1}};
  now_ns += kReadNs + 1;

  truth.ended(host(0), 1);

  EXPECT_FALSE(truth.is_excused(kClient, kSlice0));
}

TEST_F(ProcessTruthTest, ASchedulersDeathExcusesNothing) {
  truth.ended(scheduler(0), 1);

  EXPECT_FALSE(truth.is_excused(kClient, kSlice0));
  EXPECT_TRUE(truth.may_be_apart(scheduler(0), kTheController));
}

TEST_F(ProcessTruthTest, TheControllersDeathExcusesAll) {
  truth.ended(kTheController, 1);

  EXPECT_TRUE(truth.is_excused(kClient));
  EXPECT_TRUE(truth.is_excused(kClient, kSlice1));
}

TEST_F(ProcessTruthTest, ShortPausesAndSmallJumpsOfClocksAreNoReason) {
  suffer({.kind = Kind::kPause, .duration_ns = kNoticeableNs - 1, .target = host(0)});
  suffer({.kind = Kind::kClockJump, .target = host(0), .amount = -100 * 1'000'000});
  suffer({.kind = Kind::kClockRate, .duration_ns = 2'000 * kMsNs, .target = host(0), .amount = 9});

  EXPECT_FALSE(truth.is_excused(kClient, kSlice0));
}

TEST_F(ProcessTruthTest, LongPausesAndLargeJumpsOfClocksAreAReason) {
  suffer({.kind = Kind::kPause, .duration_ns = kNoticeableNs, .target = host(0)});
  suffer({.kind = Kind::kClockJump, .target = host(1), .amount = -400 * 1'000'000});

  EXPECT_TRUE(truth.is_excused(kClient, kSlice0));
  EXPECT_TRUE(truth.is_excused(kClient, kSlice1));
}

TEST_F(ProcessTruthTest, ACutConcernsTheTwoThatItIsBetween) {
  suffer({.kind = Kind::kCutPair, .duration_ns = 1, .target = client(kClient), .other = host(1)});

  EXPECT_FALSE(truth.is_excused(kClient, kSlice0));
  EXPECT_TRUE(truth.is_excused(kClient, kSlice1));
  EXPECT_FALSE(truth.may_be_apart(host(1), kTheController));
}

TEST_F(ProcessTruthTest, ACutBetweenHostsConcernsBothIslands) {
  suffer({.kind = Kind::kCutPair, .duration_ns = 1, .target = host(1), .other = host(0)});

  EXPECT_TRUE(truth.is_excused(kClient, kSlice0));
  EXPECT_TRUE(truth.is_excused(kClient, kSlice1));
}

TEST_F(ProcessTruthTest, ALostDeviceExcusesUntilItsHostBeginsANewLife) {
  truth.record(host(0), {.place = 0, .island = 0, .kind = events::EventKind::kDeviceLost});
  truth.look();
  const bool before = truth.is_excused(kClient, kSlice0);
  truth.started(host(0), 2);
  now_ns += 2 * kAftermathNs;
  slices[0] = {make_id(kClient, 12)};
  truth.look();

  EXPECT_TRUE(before);
  EXPECT_FALSE(truth.is_excused(kClient, make_id(kClient, 12)));
}

TEST_F(ProcessTruthTest, AFaultThatIsHealedIsOver) {
  truth.began({.kind = Kind::kIsolate, .target = host(0)});
  truth.healed();
  now_ns += 6'000 * kMsNs;

  EXPECT_FALSE(truth.is_troubled());
}

}  // namespace
}  // namespace seaway::sim
