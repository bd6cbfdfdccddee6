// I21 and I3 of changed bits: who may use them, and what may be said to have changed.

#include "sim/corruption_checker.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/island/plans.hpp"

namespace seaway::sim {
namespace {

using events::Event;
using events::EventKind;

constexpr RunId kRun = 70;
constexpr Stamp kStamp = 7;
constexpr std::uint32_t kEdge = 3;
constexpr ArrayId kArg = 50;
constexpr std::uint64_t kBytes = 64;
constexpr std::uint32_t kSent = 1;  // The value that gang 0 makes, and sends.

/// Gang 0 reads an array, and sends what it makes.
class Books {
 public:
  explicit Books(bool runs_all_twice = true)
      : plan_(
            island::PlanMaker({0, 1}, 64).gangs(1).arg(0, kBytes).send(0, kEdge, 1, kBytes).plan()),
        checker(surroundings_, runs_all_twice, verdict) {
    surroundings_.part_of = [this](IslandId, Stamp) { return PartFacts{&plan_, &args_, &none_}; };
  }

  Books& happens(EventKind kind, StatusCode code = StatusCode::kOk) {
    checker.record({.stamp = kStamp, .object = kRun, .kind = kind, .code = code});
    return *this;
  }
  Books& sends(StatusCode code = StatusCode::kOk) {
    checker.record({.stamp = kStamp, .position = kEdge, .kind = EventKind::kSend, .code = code});
    return *this;
  }
  Books& flips(DeviceId device) {
    checker.note(Mischief{Mischief::Kind::kFlip, 0, device, kStamp, 0});
    return *this;
  }
  Books& is_found(DeviceId device) {
    checker.record(
        {.stamp = kStamp, .object = kRun, .place = device, .kind = EventKind::kMiscompute});
    return *this;
  }
  std::string said() const {
    return verdict.ok() ? "clean"
                        : verdict.violations()[0].invariant + ": " + verdict.violations()[0].text;
  }
  std::uint64_t count(Feature feature) const {
    return verdict.coverage.counts[static_cast<std::size_t>(feature)];
  }

 private:
  program::PartPlan plan_;
  std::vector<ArrayId> args_ = {kArg}, none_;
  Surroundings surroundings_;

 public:
  Verdict verdict;
  CorruptionChecker checker;
};

TEST(CorruptionChecker, I21IsThatNoGangReadsAnArrayThatHasChanged) {
  Books other, same, later;
  other.checker.note(RottenValue{0, 1, kArg + 1, 0, 0});
  same.checker.note(RottenValue{0, 1, kArg, 0, 0});
  later.happens(EventKind::kGangStart);
  later.checker.note(RottenValue{0, 1, kArg, 0, 0});

  other.happens(EventKind::kGangStart);
  same.happens(EventKind::kGangStart);

  EXPECT_EQ(other.said(), "clean");
  EXPECT_EQ(later.said(), "clean");
  EXPECT_EQ(same.said(),
            "I21: gang 0 of stamp 7 on island 0 started, but a bit of its value 0 had changed");
}

TEST(CorruptionChecker, I21IsThatNothingIsSentOrSpilledThatHasChanged) {
  Books sent, poison, spilled;
  sent.checker.note(RottenValue{0, 1, 0, kStamp, kSent});
  poison.checker.note(RottenValue{0, 1, 0, kStamp, kSent});
  spilled.checker.note(RottenValue{0, 1, kArg, 0, 0});

  sent.sends();
  poison.sends(StatusCode::kDataCorruption);
  spilled.checker.record({.object = kArg, .kind = EventKind::kArraySpill});

  EXPECT_EQ(sent.said(), "I21: edge 3 of stamp 7 left, but a bit of its value had changed");
  EXPECT_EQ(poison.said(), "clean");
  EXPECT_EQ(spilled.said(), "I21: array 50 on island 0 was spilled, but a bit of it had changed");
}

TEST(CorruptionChecker, I3IsAChangeBehindEachThatIsFound) {
  const Event damage{.object = kArg, .place = 1, .kind = EventKind::kDamage};
  Books unfounded, founded, before_its_life;
  founded.checker.note(RottenValue{0, 1, kArg, 0, 0});
  before_its_life.checker.note(RottenValue{0, 1, kArg, 0, 0});
  before_its_life.checker.forget(0);

  for (Books* books : {&unfounded, &founded, &before_its_life}) books->checker.record(damage);
  founded.checker.record(damage);

  EXPECT_EQ(founded.said(), "clean");
  EXPECT_EQ(founded.count(Feature::kRotFound), 1u);
  for (const Books* books : {&unfounded, &before_its_life}) {
    EXPECT_EQ(
        books->said(),
        "I3: damage at 0 ns: island=0 value=0 device=1 array=50: but nothing had changed there");
  }
}

TEST(CorruptionChecker, I21IsThatNoRunSucceedsWithAWrongBitWhereAllGangsRunTwice) {
  Books found, escaped, failed, again, sampled(false);
  for (Books* books : {&found, &escaped, &failed, &again, &sampled}) books->flips(1);

  found.is_found(1).happens(EventKind::kGangEnd).happens(EventKind::kResolve);
  escaped.happens(EventKind::kGangEnd).happens(EventKind::kResolve);
  failed.happens(EventKind::kGangEnd).happens(EventKind::kResolve, StatusCode::kCancelled);
  again.happens(EventKind::kGangEnd);
  again.checker.record({.object = kRun, .value = kStamp, .kind = EventKind::kRerun});
  again.happens(EventKind::kResolve);
  sampled.happens(EventKind::kGangEnd).happens(EventKind::kResolve);

  EXPECT_EQ(
      escaped.said(),
      "I21: run 70 succeeded, but a gang of it computed a wrong bit, and it was to run twice");
  for (const Books* books : {&found, &failed, &again, &sampled}) EXPECT_EQ(books->said(), "clean");
  EXPECT_EQ(found.count(Feature::kFlipFound), 1u);
  EXPECT_EQ(sampled.count(Feature::kFlipMissed), 1u);
  EXPECT_EQ(failed.count(Feature::kFlipMissed), 0u);
}

TEST(CorruptionChecker, I3IsAWrongBitBehindEachDeviceThatIsBlamed) {
  Books nobody, other;
  other.flips(0);

  nobody.is_found(1);
  other.is_found(1);

  const std::string error =
      "I3: gang 0 of stamp 7 on island 0 is said to have given two results on device 1, which "
      "computed nothing wrong";
  EXPECT_EQ(nobody.said(), error);
  EXPECT_EQ(other.said(), error);
}

TEST(MischiefTruth, ExcusesTheSlicesThatLayThereOfWhatWasDoneAlone) {
  MischiefTruth truth([](IslandId, DeviceId device) { return std::vector<SliceId>{device}; });
  const Status corruption(StatusCode::kDataCorruption, "changed");

  truth.note(RottenValue{0, 1, kArg, 0, 0});
  truth.note(Mischief{Mischief::Kind::kShortage, 0, 2, kStamp, 0});
  truth.note(Mischief{Mischief::Kind::kFlip, 0, 3, kStamp, 0});

  EXPECT_TRUE(truth.is_excused(corruption, 1));
  EXPECT_TRUE(truth.is_excused(input_lost("array 1: " + corruption.to_string()), 1));
  EXPECT_FALSE(truth.is_excused(corruption, 2));
  EXPECT_FALSE(truth.is_excused(corruption, 3));
  EXPECT_TRUE(truth.is_excused(resource_exhausted("no memory"), 2));
  EXPECT_FALSE(truth.is_excused(resource_exhausted("no memory"), 1));
  EXPECT_FALSE(truth.is_excused(input_lost("array 1: DEVICE_LOST: gone"), 1));
  EXPECT_TRUE(truth.may_be_wrong(3));
  EXPECT_FALSE(truth.may_be_wrong(1));
}

TEST(MischiefTruth, ExcusesASliceThatWasMovedForItsArraysFollowIt) {
  std::vector<SliceId> bound = {7};
  MischiefTruth truth([&bound](IslandId, DeviceId) { return bound; });
  const Status corruption(StatusCode::kDataCorruption, "changed");

  truth.look(0, 1);
  bound = {8};
  truth.note(RottenValue{0, 1, kArg, 0, 0});

  EXPECT_TRUE(truth.is_excused(corruption, 7));
  EXPECT_TRUE(truth.is_excused(corruption, 8));
  EXPECT_FALSE(truth.is_excused(corruption, 9));
}

}  // namespace
}  // namespace seaway::sim
