// What must hold from one life of a role to the next, with hand-made lists of events.

#include "sim/life_checkers.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "unit/island/plans.hpp"
#include "unit/sim/process_events.hpp"

namespace seaway::sim {
namespace {

using events::Event;
using events::EventKind;

constexpr ClientId kClient = 1;
constexpr RunId kRun = make_id(kClient, 70);
constexpr Stamp kStamp = 7;
constexpr std::uint32_t kEdge = 3;

/// One run of one part, of two gangs, on island 0; island 1 is there too.
class LifeCheckersTest : public ::testing::Test {
 protected:
  LifeCheckersTest() {
    surroundings.devices = 1;
    surroundings.part_of = [this](IslandId, Stamp) {
      return PartFacts{&plan, &none, &none, is_admitted, placed};
    };
    surroundings.devices_of_array = [](IslandId, ArrayId) { return nullptr; };
    surroundings.memory_of = [](IslandId, DeviceId) {
      return std::pair<std::uint64_t, std::uint64_t>();
    };
    surroundings.reserved_of = [](IslandId, DeviceId) { return 0; };
    surroundings.gangs_of = [this](IslandId island, DeviceId) { return island == 0 ? gangs : 0; };
    surroundings.has_effects = [](FunctionId) { return false; };
    surroundings.may_be_lost = [](IslandId, DeviceId, std::uint64_t) { return false; };
    checkers.started(kTheController, 1);
    for (const std::uint32_t island : {0u, 1u}) {
      checkers.started(scheduler(island), 1);
      checkers.started(host(island), 1);
      join(island, 1);
      view(island, 1);
    }
  }

  void say(const cluster::RoleName& teller, const Event& event) { checkers.record(teller, event); }
  void join(std::uint16_t island, std::uint32_t life) {
    say(kTheController, {.value = life, .island = island, .kind = EventKind::kHostJoined});
  }
  void view(std::uint16_t island, std::uint32_t number) {
    say(scheduler(island), {.value = number, .island = island, .kind = EventKind::kView});
  }
  void submit() {
    say(kTheController, {.object = kRun, .kind = EventKind::kSubmit});
    say(kTheController, {.stamp = kStamp, .object = kRun, .kind = EventKind::kStamp});
    say(scheduler(0), {.stamp = kStamp, .object = kRun, .kind = EventKind::kLaunch});
  }
  void place(std::uint32_t first, std::uint32_t last) {
    say(scheduler(0),
        {.stamp = kStamp, .value = last, .position = first, .kind = EventKind::kPlace});
  }
  void admit() { say(scheduler(0), {.stamp = kStamp, .kind = EventKind::kAdmit}); }
  void run(std::uint32_t position) {
    for (const EventKind kind : {EventKind::kGangStart, EventKind::kGangEnd}) {
      say(host(0), {.stamp = kStamp, .object = kRun, .position = position, .kind = kind});
    }
    ++gangs;
  }
  void finish_part() { say(scheduler(0), {.stamp = kStamp, .kind = EventKind::kFinished}); }
  void resolve(StatusCode code = StatusCode::kOk) {
    say(kTheController, {.object = kRun, .kind = EventKind::kResolve, .code = code});
  }
  void lose_host(std::uint16_t island) {
    say(kTheController, {.island = island, .kind = EventKind::kHostLost});
  }
  void restart(const cluster::RoleName& name, std::uint32_t life) {
    checkers.ended(name, life - 1);
    checkers.started(name, life);
  }
  std::string finish() {
    checkers.finish();
    return texts_of(verdict).front();
  }

  program::PartPlan plan = island::PlanMaker({0}).gangs(2).plan();
  std::vector<ArrayId> none;
  bool is_admitted = true;
  std::uint32_t placed = 2;
  std::uint64_t gangs = 0;
  std::uint64_t views = 0;            // That the controller has begun, of each island.
  std::uint32_t controller_life = 1;  // That schedulers have joined.
  Surroundings surroundings;
  Verdict verdict;
  std::map<cluster::RoleName, std::uint32_t> serve_another;  // Who have joined another life of it.
  LifeCheckers checkers{{surroundings,
                         [this](const cluster::RoleName& name) {
                           const auto found = serve_another.find(name);
                           return found == serve_another.end() ? controller_life : found->second;
                         },
                         [this](IslandId) { return views; }},
                        verdict};
};

TEST_F(LifeCheckersTest, ARunThroughTheLivesOfItsSchedulerPasses) {
  submit();
  admit();
  place(0, 2);
  run(0);
  restart(scheduler(0), 2);
  view(0, 2);
  run(1);
  finish_part();
  resolve();

  EXPECT_EQ(finish(), "clean");
}

TEST_F(LifeCheckersTest, I4IsOfTheOrdersThatTheHostHasHeard) {
  submit();
  admit();
  place(0, 2);
  run(0);
  placed = 1;
  restart(scheduler(0), 2);
  view(0, 2);

  run(1);

  EXPECT_EQ(texts_of(verdict).front(),
            "I4: gang 1 of stamp 7 on island 0 took its turn, but was never placed");
}

TEST_F(LifeCheckersTest, I4IsNotOfOrdersThatWereSaidAgain) {
  submit();
  admit();
  place(0, 2);
  run(0);
  placed = 1;
  restart(scheduler(0), 2);
  view(0, 2);
  place(1, 2);
  run(1);
  finish_part();
  resolve();

  EXPECT_EQ(finish(), "clean");
}

TEST_F(LifeCheckersTest, I6IsOfTheAdmissionsThatTheHostHasHeard) {
  submit();
  admit();
  is_admitted = false;
  placed = 0;
  restart(scheduler(0), 2);
  view(0, 2);
  place(0, 2);

  run(0);

  EXPECT_EQ(texts_of(verdict).front(),
            "I6: gang 0 of stamp 7 on island 0 of run " + std::to_string(kRun) +
                " started, but its part was never admitted: its room is not reserved");
}

TEST_F(LifeCheckersTest, I8IsThatNothingSucceedsThatWasLostWithItsHost) {
  submit();
  lose_host(0);
  finish_part();  // Says whoever has not heard of it.

  resolve();

  EXPECT_EQ(texts_of(verdict).front(), "I8: run " + std::to_string(kRun) +
                                           " succeeded, but the host of island 0 was lost before "
                                           "its part there had finished");
}

TEST_F(LifeCheckersTest, I8LetsWhatWasLostFailAndWhatHadFinishedSucceed) {
  submit();
  lose_host(0);
  resolve(StatusCode::kHostLost);
  EXPECT_EQ(texts_of(verdict).front(), "clean");

  say(kTheController, {.object = kRun + 1, .kind = EventKind::kSubmit});
  say(scheduler(1), {.stamp = 8, .object = kRun + 1, .island = 1, .kind = EventKind::kLaunch});
  say(scheduler(1), {.stamp = 8, .island = 1, .kind = EventKind::kFinished});
  lose_host(1);
  say(kTheController, {.object = kRun + 1, .kind = EventKind::kResolve});

  EXPECT_EQ(texts_of(verdict).front(), "clean");
}

TEST_F(LifeCheckersTest, I8IsThatNoEdgeReachesALifeThatWasNotThereWhenItWasSent) {
  submit();
  say(host(1),
      {.stamp = kStamp, .position = kEdge, .place = 0, .island = 1, .kind = EventKind::kSend});
  restart(host(0), 2);

  say(host(0), {.stamp = kStamp, .position = kEdge, .place = 1, .kind = EventKind::kReceive});

  EXPECT_EQ(texts_of(verdict).front(),
            "I6: edge 3 of stamp 7 was received 1 times and sent 0 times");
}

TEST_F(LifeCheckersTest, AStampOfAControllerThatIsGoneIsAnotherOne) {
  const Event sent{
      .stamp = kStamp, .position = kEdge, .place = 0, .island = 1, .kind = EventKind::kSend};
  serve_another[host(1)] = 1;
  controller_life = 2;
  say(host(1), sent);
  EXPECT_TRUE(verdict.ok());
  restart(host(1), 2);
  serve_another.clear();

  say(host(1), sent);
  say(host(0), {.stamp = kStamp, .position = kEdge, .place = 1, .kind = EventKind::kReceive});

  EXPECT_EQ(finish(), "clean");
}

TEST_F(LifeCheckersTest, WhatAHostHadIsNotAskedOfItsNextLife) {
  submit();
  admit();
  place(0, 2);
  say(host(0), {.stamp = kStamp, .object = kRun, .kind = EventKind::kGangStart});
  lose_host(0);
  resolve(StatusCode::kHostLost);
  restart(host(0), 2);

  EXPECT_EQ(finish(), "clean");
}

TEST_F(LifeCheckersTest, WhatASchedulerSaysToADeadHostEntersNoOtherBooks) {
  submit();
  restart(host(0), 2);
  views = 1;
  join(0, 2);
  admit();
  place(0, 2);  // In the view of the first life.
  view(0, 2);

  run(0);

  EXPECT_EQ(texts_of(verdict).front(),
            "I4: gang 0 of stamp 7 on island 0 took its turn, but was never placed");
}

TEST_F(LifeCheckersTest, I12IsOfPartsThatANewSchedulerWasHanded) {
  submit();
  resolve(StatusCode::kCancelled);
  restart(scheduler(0), 2);
  view(0, 2);
  finish_part();
  finish_part();

  EXPECT_EQ(texts_of(verdict).front(),
            "I12: the part of stamp 7 on island 0 finished, but was not launched, or had finished "
            "before");
}

TEST_F(LifeCheckersTest, I12IsNotOfEndsThatANewSchedulerSaysAgain) {
  submit();
  admit();
  place(0, 2);
  run(0);
  run(1);
  finish_part();
  for (const std::uint32_t life : {2u, 3u}) {
    restart(scheduler(0), life);
    view(0, life);
    finish_part();
  }
  resolve();

  EXPECT_EQ(finish(), "clean");
}

TEST_F(LifeCheckersTest, I12IsThatPartsFinishWhoeverIsTheirScheduler) {
  submit();
  resolve(StatusCode::kCancelled);
  restart(scheduler(0), 2);
  view(0, 2);

  EXPECT_EQ(finish(), "I12: the part of stamp 7 on island 0, of run " + std::to_string(kRun) +
                          ", never finished: it was not admitted, 0 gangs were placed and 0 ended");
}

TEST_F(LifeCheckersTest, I2IsOfOneLifeOfTheController) {
  submit();
  restart(kTheController, 2);
  restart(host(0), 2);
  EXPECT_EQ(finish(), "clean");

  resolve();

  EXPECT_EQ(texts_of(verdict).front(),
            "I2: run " + std::to_string(kRun) + " has an outcome but no submission");
}

TEST_F(LifeCheckersTest, I17IsThatViewsRise) {
  restart(scheduler(0), 2);
  view(0, 1);

  EXPECT_EQ(texts_of(verdict).front(),
            "I17: view 1 of island 0, in which the scheduler of island 0 speaks in its life 2, "
            "begins behind view 1");
}

TEST_F(LifeCheckersTest, I17IsThatNobodySpeaksOutsideOfAView) {
  restart(scheduler(0), 2);
  admit();

  EXPECT_EQ(texts_of(verdict).front(),
            "I17: the scheduler of island 0 has said something before its first view");
}

TEST_F(LifeCheckersTest, I17IsThatTheControllerBeganTheView) {
  restart(kTheController, 2);
  controller_life = 2;
  restart(scheduler(0), 2);
  view(0, 1);

  EXPECT_EQ(texts_of(verdict).front(),
            "I17: view 1 of island 0, in which the scheduler of island 0 speaks in its life 2, is "
            "one that no controller began");
}

TEST_F(LifeCheckersTest, I20IsOfEachClientThatLostNobody) {
  submit();
  finish_part();
  resolve();

  checkers.finish(kClient, {.runs = 1, .ok = 1});
  EXPECT_EQ(texts_of(verdict).front(), "clean");
  checkers.finish(kClient, {.runs = 1, .failed = 1});

  EXPECT_EQ(texts_of(verdict).front(),
            "I20: by the controller's events 1 runs were ok, by the clients' count 0");
}

}  // namespace
}  // namespace seaway::sim
