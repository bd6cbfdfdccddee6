// P3: what a stream may hold that waits for others.

#include "sim/delay_checker.hpp"

#include <gtest/gtest.h>

#include <string>

#include "unit/island/plans.hpp"

namespace seaway::sim {
namespace {

using events::Event;
using events::EventKind;
using island::PlanMaker;

constexpr std::uint32_t kEdge = 3;

/// Every run: gang 0 of island 1 makes a value, which gang 1, on device 0 of island 0, reads.
class Streams {
 public:
  Streams() {
    maker_ = PlanMaker({0}).gangs(1).send(0, kEdge, 0, 64).plan();
    reader_ = PlanMaker({0}, 64).gangs(1).receive(0, kEdge, 1, 64).plan();
    reader_.gangs[0].position = 1;
    surroundings_.devices = 1;
    surroundings_.part_of = [this](IslandId island, Stamp) {
      return PartFacts{island == 0 ? &reader_ : &maker_, nullptr, nullptr};
    };
  }
  Streams& happens(EventKind kind, Stamp stamp, std::uint16_t island, std::uint32_t position = 0) {
    checker.record({.stamp = stamp, .position = position, .island = island, .kind = kind});
    return *this;
  }
  Streams& places_reader(Stamp stamp) {
    checker.record({.stamp = stamp, .value = 1, .kind = EventKind::kPlace});
    return *this;
  }
  std::string verdict() const {
    return verdict_.ok() ? "clean"
                         : verdict_.violations().front().invariant + ": " +
                               verdict_.violations().front().text;
  }

 private:
  program::PartPlan reader_, maker_;
  Surroundings surroundings_;
  Verdict verdict_;

 public:
  DelayChecker checker{surroundings_, verdict_};
};

TEST(DelayChecker, TwoGangsThatWaitInOneStreamAreOneTooMany) {
  Streams streams;
  streams.places_reader(7);
  EXPECT_EQ(streams.verdict(), "clean");

  streams.places_reader(8);

  EXPECT_EQ(streams.verdict(),
            "P3: gang 1 of stamp 8 on island 0 was placed on device 0 before its inputs exist, "
            "behind gang 1 of stamp 7 on island 0, whose inputs do not exist either: if they are "
            "lost, what comes behind is delayed by more than one gang");
  EXPECT_EQ(streams.checker.early(), 2u);
}

TEST(DelayChecker, OneThatHasHadItsTurnOrIsCancelledHoldsUpNobody) {
  for (const EventKind end : {EventKind::kGangStart, EventKind::kGangNoop, EventKind::kCancel}) {
    Streams streams;
    streams.places_reader(7).happens(end, 7, 0, 1).places_reader(8);
    EXPECT_EQ(streams.verdict(), "clean") << events::to_string(end);
  }
  Streams others;
  others.places_reader(7).happens(EventKind::kCancel, 6, 0).happens(EventKind::kGangStart, 7, 1, 1);
  EXPECT_NE(others.places_reader(8).verdict(), "clean");
}

TEST(DelayChecker, WhatIsMadeOrSentExists) {
  for (const EventKind made : {EventKind::kGangEnd, EventKind::kGangNoop}) {
    Streams streams;
    streams.happens(made, 8, 1).places_reader(7).places_reader(8);
    EXPECT_EQ(streams.verdict(), "clean") << events::to_string(made);
  }
  Streams sent, other;
  sent.happens(EventKind::kSend, 8, 1, kEdge).places_reader(7).places_reader(8);
  other.happens(EventKind::kSend, 8, 1, kEdge + 1).places_reader(7).places_reader(8);
  EXPECT_EQ(sent.verdict(), "clean");
  EXPECT_NE(other.verdict(), "clean");
}

TEST(DelayChecker, OneWhoseInputsHaveComeToExistHoldsUpNobody) {
  Streams streams;
  streams.places_reader(7).happens(EventKind::kSend, 7, 1, kEdge).places_reader(8);
  EXPECT_EQ(streams.verdict(), "clean");

  EXPECT_NE(streams.places_reader(9).verdict(), "clean") << "8 still waits";
}

TEST(DelayChecker, WhatIsLostWithAnIslandCountsAsExisting) {
  Streams lost, viewed, later;
  lost.places_reader(7).happens(EventKind::kLaunch, 8, 0).checker.lose(1);
  viewed.places_reader(7).happens(EventKind::kView, 0, 0);
  later.places_reader(7).checker.lose(1);

  EXPECT_EQ(lost.places_reader(8).verdict(), "clean");
  EXPECT_EQ(viewed.places_reader(8).verdict(), "clean") << "the first of a new view";
  EXPECT_EQ(later.places_reader(8).verdict(), "clean") << "7 is lost, and holds up nobody";
  EXPECT_NE(later.places_reader(9).verdict(), "clean") << "8 is not lost";
}

}  // namespace
}  // namespace seaway::sim
