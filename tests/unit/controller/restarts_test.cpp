// Restart intensity: islands whose roles are lost too often, and how they come back.

#include <gtest/gtest.h>

#include <string>

#include "unit/controller/controller_world.hpp"

namespace seaway::controller {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

/// One island, of which each role may be lost once within 10 s.
struct Restarts {
  Restarts() {
    world.join({0});
    world.said();
  }
  void at(std::uint64_t time_ns) {
    world.clock.advance_to(time_ns);
    world.said();
  }
  void lose_host(std::uint32_t next_epoch) {
    world.core.host_lost(0, "no word");
    world.core.host_joined(0, next_epoch);
  }
  void lose_scheduler(std::uint32_t next_epoch) {
    world.core.scheduler_lost(0);
    world.core.scheduler_joined(0, next_epoch);
  }
  bool has_failed() const { return world.core.next_return_ns() != 0; }

  ControllerWorld world{{.islands = 1,
                         .has_members = true,
                         .limits = {.restarts_max = 1, .restart_window_ns = 10 * kSecond}}};
};

TEST(Restarts, AnIslandOfWhichOneRoleIsLostTooOftenHasFailed) {
  Restarts some;
  some.lose_host(2);
  some.lose_scheduler(2);
  EXPECT_FALSE(some.has_failed());

  some.at(10 * kSecond);
  some.lose_host(3);

  EXPECT_TRUE(some.has_failed());
  EXPECT_FALSE(some.world.core.has_host(0));
  EXPECT_FALSE(some.world.core.has_scheduler(0));
  EXPECT_EQ(some.world.core.outbox().failed_islands, std::vector<IslandId>{0});
}

TEST(Restarts, LossesThatAreFarApartAreNotCountedTogether) {
  Restarts some;
  some.lose_host(2);

  some.at(10 * kSecond + 1);
  some.lose_host(3);

  EXPECT_FALSE(some.has_failed());
}

TEST(Restarts, RunsOnAnIslandThatFailedSayWhyAndWhatToDo) {
  Restarts some;
  const ClientId client = some.world.client();
  const SliceId slice = some.world.slice(client, 0);
  const FunctionId f = some.world.function(client, "f");
  const ProgramId program = some.world.chain(client, {.function = f, .slices = {slice}});
  some.world.binder.is_room = false;
  const ArrayId input = some.world.upload(client, slice);
  some.lose_scheduler(2);
  some.world.said();

  some.lose_scheduler(3);
  some.world.run(client, program, {input});

  const std::string said = some.world.said();
  EXPECT_NE(said.find("run 1 ISLAND_UNAVAILABLE: program chain uses slice 11, but island 0 has "
                      "failed: its scheduler was lost 2 times within 10 s, and 1 are allowed; see "
                      "what ends it; it is used again once nothing of it was lost for 10 s"),
            std::string::npos)
      << said;
}

TEST(Restarts, WhatIsInFlightWhenAnIslandFailsEndsWithItsHost) {
  Restarts some;
  const ClientId client = some.world.client();
  const SliceId slice = some.world.slice(client, 0);
  const FunctionId f = some.world.function(client, "f", {.idempotent = false});
  const ProgramId program = some.world.chain(client, {.function = f, .slices = {slice}});
  some.world.run(client, program, {some.world.upload(client, slice)});
  some.world.binder.is_room = false;
  some.lose_scheduler(2);
  some.world.said();

  some.lose_scheduler(3);

  const std::string said = some.world.said();
  EXPECT_NE(said.find("run 1 MAYBE_EXECUTED: function f, which is not idempotent, may have run or "
                      "not: the host of island 0 is lost: its island has failed: its scheduler was "
                      "lost 2 times within 10 s, and 1 are allowed"),
            std::string::npos)
      << said;
}

TEST(Restarts, WhoeverIsThereWhenTheIslandWasLeftAloneForLongEnoughIsUsed) {
  Restarts some;
  some.lose_host(2);
  some.lose_host(3);
  some.world.core.scheduler_joined(0, 2);

  some.at(10 * kSecond - 1);
  EXPECT_FALSE(some.world.core.has_host(0));
  EXPECT_FALSE(some.world.core.has_scheduler(0));
  some.at(10 * kSecond);

  EXPECT_TRUE(some.world.core.has_host(0));
  EXPECT_TRUE(some.world.core.has_scheduler(0));
  EXPECT_FALSE(some.has_failed());
}

TEST(Restarts, OneThatIsLostWhileItIsWaitedForIsWaitedForAnew) {
  Restarts some;
  some.lose_host(2);
  some.lose_host(3);

  some.at(9 * kSecond);
  some.lose_host(4);
  some.at(10 * kSecond);
  EXPECT_FALSE(some.world.core.has_host(0));
  some.at(19 * kSecond);

  EXPECT_TRUE(some.world.core.has_host(0));
}

TEST(Restarts, AnIslandThatIsUsedAgainIsCountedAnew) {
  Restarts hosts, schedulers;
  for (const std::uint32_t epoch : {2u, 3u}) {
    hosts.lose_host(epoch);
    schedulers.lose_scheduler(epoch);
  }

  for (Restarts* some : {&hosts, &schedulers}) some->at(10 * kSecond);
  hosts.lose_host(4);
  schedulers.lose_scheduler(4);

  EXPECT_FALSE(hosts.has_failed());
  EXPECT_FALSE(schedulers.has_failed());
}

TEST(Restarts, AnIslandWithoutAHostIsWaitedForAsLongAsItTakes) {
  Restarts some;
  some.lose_host(2);
  some.world.core.host_lost(0, "no word");
  some.at(10 * kSecond);
  EXPECT_FALSE(some.has_failed());
  EXPECT_FALSE(some.world.core.has_host(0));

  some.world.core.host_joined(0, 3);

  EXPECT_TRUE(some.world.core.has_host(0));
}

}  // namespace
}  // namespace seaway::controller
