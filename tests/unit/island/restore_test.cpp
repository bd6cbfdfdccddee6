// A scheduler that is lost and restored: in random worlds, and what does not fit together.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "unit/island/plans.hpp"
#include "unit/island/restore_world.hpp"

namespace seaway::island {
namespace {

constexpr std::uint64_t kWorlds = 3000;

/// Runs `world` to its end; `at_random` is called about every `every` steps.
template <class AtRandom>
void run(RestoreWorld& world, std::uint64_t seed, std::uint64_t every, const AtRandom& at_random) {
  RandomStream random(seed, 2);
  while (!world.over()) {
    if (random.below(every) == 0) at_random();
    ASSERT_EQ(world.violation(), "") << "seed " << seed << "\n" << world.to_string();
    const bool moved = world.step();
    ASSERT_EQ(world.violation(), "") << "seed " << seed << "\n" << world.to_string();
    ASSERT_TRUE(moved || world.over()) << "seed " << seed << " is stuck\n" << world.to_string();
  }
}

void expect_nothing_left(const RestoreWorld& world, std::uint64_t seed) {
  EXPECT_TRUE(world.core().idle()) << "seed " << seed;
  EXPECT_EQ(world.core().array_count(), 0u) << "seed " << seed << "\n" << world.to_string();
  for (DeviceId device = 0; device < world.devices(); ++device)
    EXPECT_EQ(world.core().used_bytes(device), 0u) << "seed " << seed;
  EXPECT_EQ(world.core().counters().spilled_bytes, 0u) << "seed " << seed;
  EXPECT_EQ(world.core().counters().send_room_used_bytes, 0u) << "seed " << seed;
}

TEST(Restore, WithNothingInFlightTheNewSchedulerEqualsTheLostOne) {
  std::uint32_t exact = 0;
  for (std::uint64_t seed = 1; seed <= kWorlds && !HasFatalFailure(); ++seed) {
    RestoreWorld world(seed);

    run(world, seed, 15, [&] { world.replace_scheduler(); });

    if (!HasFatalFailure()) expect_nothing_left(world, seed);
    exact += world.exact_comparisons();
  }
  EXPECT_GT(exact, 5 * kWorlds);
}

TEST(Restore, WhateverWasInFlightIsLostAndEveryPartStillFinishes) {
  RestoreWorld::Seen seen;
  for (std::uint64_t seed = 1; seed <= kWorlds && !HasFatalFailure(); ++seed) {
    RestoreWorld world(seed);

    run(world, seed, 15, [&] { world.lose_scheduler(); });

    if (!HasFatalFailure()) expect_nothing_left(world, seed);
    const RestoreWorld::Seen& one = world.seen();
    seen.overtakers += one.overtakers;
    seen.moved += one.moved;
    seen.fencing += one.fencing;
    seen.out_of_order += one.out_of_order;
    seen.only_at_host += one.only_at_host;
    seen.not_at_host += one.not_at_host;
    seen.over_at_host += one.over_at_host;
    seen.in_spill_room += one.in_spill_room;
    seen.spilling += one.spilling;
    seen.poison += one.poison;
    seen.donated += one.donated;
  }
  // Else the worlds are too tame to show anything.
  for (const std::uint32_t count : {seen.overtakers, seen.moved, seen.fencing, seen.out_of_order,
                                    seen.only_at_host, seen.not_at_host, seen.over_at_host,
                                    seen.in_spill_room, seen.spilling, seen.poison, seen.donated})
    EXPECT_GT(count, 20u);
}

// ---- One thing at a time --------------------------------------------------------------------

CoreOptions options_of(std::uint64_t memory_bytes) {
  CoreOptions options;
  options.devices = 2;
  options.memory_bytes = memory_bytes;
  options.spill_bytes = 100;
  options.send_room_bytes = 100;
  return options;
}

Launch launch_of(Stamp stamp, const program::PartPlanPtr& plan, std::vector<ArrayId> args = {},
                 std::vector<ArrayId> outputs = {}) {
  Launch launch;
  launch.stamp = launch.run = stamp;
  launch.plan = plan;
  launch.args = std::move(args);
  launch.outputs = std::move(outputs);
  return launch;
}

PartState admitted(Stamp stamp, std::uint32_t gangs_placed) {
  PartState state;
  state.stamp = stamp;
  state.admitted = true;
  state.gangs_placed = gangs_placed;
  return state;
}

ArrayState array_of(ArrayId id, ArrayState::Place place, std::uint64_t bytes = 1) {
  ArrayState state;
  state.id = id;
  state.devices = {0};
  state.bytes_per_device = bytes;
  state.place = place;
  return state;
}

std::size_t count_of(SchedulerCore& core, Action::Kind kind, Stamp stamp) {
  return static_cast<std::size_t>(std::count_if(
      core.actions().begin(), core.actions().end(),
      [&](const Action& action) { return action.kind == kind && action.stamp == stamp; }));
}

TEST(Restore, APartThatIsOverIsFinishedAtOnceAndItsPeersHearOfItsSendsAgain) {
  SchedulerCore core(options_of(10));
  const std::vector<Launch> launches{launch_of(5, PlanMaker({0}).gangs(1).send(0, 7, 1, 1).make())};

  const Status status = core.restore({.last_stamp = 5, .parts = {}, .arrays = {}}, launches, {});

  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(count_of(core, Action::Kind::kExists, 5), 1u);
  EXPECT_EQ(count_of(core, Action::Kind::kFinished, 5), 1u);
  EXPECT_TRUE(core.idle());
}

TEST(Restore, APartThatHasNotReachedTheHostIsAdmittedAndPlaced) {
  SchedulerCore core(options_of(10));
  const std::vector<Launch> launches{launch_of(5, PlanMaker({0}, 3).gangs(2).make())};

  const Status status = core.restore({.last_stamp = 4, .parts = {}, .arrays = {}}, launches, {});

  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(count_of(core, Action::Kind::kAdmit, 5), 1u);
  EXPECT_EQ(count_of(core, Action::Kind::kPlace, 5), 1u);
}

TEST(Restore, GangsThatArePlacedAreNotPlacedAgainAndTheirRoomIsCounted) {
  SchedulerCore core(options_of(10));
  const std::vector<Launch> launches{
      launch_of(5, PlanMaker({0}, 3).gangs(4).output(0, 2).output(3, 1).make(), {}, {1, 2})};
  PartState state = admitted(5, 3);
  state.gangs_done = {{0, 1}, {2, 3}};  // Gang 1 is on its way.

  const Status status = core.restore({.last_stamp = 5,
                                      .parts = {state},
                                      .arrays = {array_of(1, ArrayState::Place::kDevices, 2),
                                                 array_of(2, ArrayState::Place::kNowhere, 1)}},
                                     launches, std::vector<ArrayId>{1, 2});

  ASSERT_TRUE(status.ok()) << status.to_string();
  ASSERT_EQ(core.actions().size(), 1u);
  EXPECT_EQ(core.actions()[0].kind, Action::Kind::kPlace);
  EXPECT_EQ(core.actions()[0].first, 3u);
  EXPECT_EQ(core.used_bytes(0), 3u);  // Both outputs; the block ends with the last gang.
  core.done(5, 1, 2);
  core.done(5, 3, 4);
  EXPECT_TRUE(core.idle());
}

TEST(Restore, WhatTheHostAloneKnowsIsCancelledThereAndArraysThatNobodyNamesAreFreed) {
  SchedulerCore core(options_of(10));
  PartState state;
  state.stamp = 5;

  const Status status = core.restore({.last_stamp = 5,
                                      .parts = {state},
                                      .arrays = {array_of(1, ArrayState::Place::kDevices),
                                                 array_of(2, ArrayState::Place::kSpillRoom),
                                                 array_of(3, ArrayState::Place::kNowhere)}},
                                     {}, std::vector<ArrayId>{2});

  ASSERT_TRUE(status.ok()) << status.to_string();
  ASSERT_EQ(core.actions().size(), 3u);
  EXPECT_EQ(core.actions()[0].kind, Action::Kind::kCancel);
  EXPECT_EQ(core.actions()[1].array, 1u);
  EXPECT_EQ(core.actions()[2].array, 3u);
  EXPECT_EQ(core.used_bytes(0), 0u);
  EXPECT_EQ(core.array_count(), 1u);
}

/// Of an array in `place` that gang 0 was to take over; gang 1, which is placed, reads its result.
void restore_poison_instead_of(ArrayState::Place place) {
  SchedulerCore core(options_of(10));
  program::PartPlan plan = PlanMaker({0}).gangs(2).arg(0, 1).output(0, 1).donate(0, 0).plan();
  plan.gangs[1].operands.push_back(plan.outputs[0].value);
  const std::vector<Launch> launches{
      launch_of(5, std::make_shared<program::PartPlan>(std::move(plan)), {1}, {2})};
  PartState part = admitted(5, 2);
  part.gangs_done = {{0, 1}};
  ArrayState poison = array_of(2, ArrayState::Place::kNowhere);
  poison.poison = true;

  const Status status =
      core.restore({.last_stamp = 5, .parts = {part}, .arrays = {array_of(1, place), poison}},
                   launches, std::vector<ArrayId>{1, 2});

  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(core.used_bytes(0), 0u);
  EXPECT_EQ(core.counters().spilled_bytes, 0u);
  core.done(5, 1, 2);
  core.free(2);
  EXPECT_TRUE(core.idle());
  EXPECT_EQ(core.array_count(), 0u);
}

TEST(Restore, WhatAGangThatDidNothingWasToTakeOverIsNotWhereItLayBefore) {
  restore_poison_instead_of(ArrayState::Place::kUploadRoom);
  restore_poison_instead_of(ArrayState::Place::kSpillRoom);
}

TEST(Restore, OnlyASchedulerThatHasNotWorkedYetCanBeRestored) {
  SchedulerCore core(options_of(10));
  ASSERT_TRUE(core.launch(launch_of(1, PlanMaker({0}).gangs(1).make())).ok());

  const Status status = core.restore({}, {}, {});

  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("restore a new one"), std::string::npos);
}

/// Part 5: gang 1 reads array 1, gang 0 makes array 2; it receives edge 3 and sends edge 4.
class RestoreRefuses : public testing::Test {
 protected:
  RestoreRefuses()
      : launches_{launch_of(5,
                            PlanMaker({0})
                                .gangs(2)
                                .arg(1, 1)
                                .output(0, 1)
                                .receive(0, 3, 1, 1)
                                .send(0, 4, 1, 1)
                                .make(),
                            {1}, {2})} {
    snapshot_.last_stamp = 5;
    snapshot_.parts = {admitted(5, 1)};
    snapshot_.arrays = {array_of(1, ArrayState::Place::kDevices),
                        array_of(2, ArrayState::Place::kNowhere)};
  }
  void expect(StatusCode code, const std::string& text) {
    SchedulerCore core(options_of(100));
    const Status status = core.restore(snapshot_, launches_, std::vector<ArrayId>{1, 2});
    EXPECT_EQ(status.code(), code);
    EXPECT_NE(status.message().find(text), std::string::npos) << status.message();
  }
  void expect_protocol_error(const std::string& text) { expect(StatusCode::kProtocolError, text); }

  std::vector<Launch> launches_;
  Snapshot snapshot_;
};

TEST_F(RestoreRefuses, NothingOfWhatFits) {
  SchedulerCore core(options_of(100));

  EXPECT_TRUE(core.restore(snapshot_, launches_, std::vector<ArrayId>{1, 2}).ok());
}
TEST_F(RestoreRefuses, LaunchesOutOfOrder) {
  launches_.push_back(launches_[0]);

  expect(StatusCode::kInvalidArgument, "stamps rise");
}
TEST_F(RestoreRefuses, ALaunchWithoutAPlan) {
  launches_[0].plan = nullptr;

  expect(StatusCode::kInvalidArgument, "part of stamp 5 has no plan");
}
TEST_F(RestoreRefuses, APartThatTheHostCannotHave) {
  snapshot_.last_stamp = 4;

  expect_protocol_error("has part of stamp 5, but has seen stamps up to 4");
}
TEST_F(RestoreRefuses, APartTwice) {
  snapshot_.parts.push_back(snapshot_.parts[0]);

  expect_protocol_error("part of stamp 5 twice");
}
TEST_F(RestoreRefuses, AnArrayTwice) {
  snapshot_.arrays.push_back(snapshot_.arrays[0]);

  expect_protocol_error("array 1 twice");
}
TEST_F(RestoreRefuses, AnArrayOnAnUnknownDevice) {
  snapshot_.arrays[0].devices = {2};

  expect_protocol_error("array 1 lies on device 2; the island has 2");
}
TEST_F(RestoreRefuses, AFinishedPartWhoseGangsRun) {
  launches_.clear();

  expect_protocol_error("takes part of stamp 5 for finished; the host has 1 gangs");
}
TEST_F(RestoreRefuses, AnArrayThatNobodyMakes) {
  snapshot_.arrays.push_back(array_of(9, ArrayState::Place::kNowhere));

  expect_protocol_error("array 9 is not made, and no unfinished part makes it");
}
TEST_F(RestoreRefuses, GangsPlacedOfAPartThatIsNotAdmitted) {
  snapshot_.parts[0].admitted = false;

  expect_protocol_error("1 gangs are placed; it has 2, and is not admitted");
}
TEST_F(RestoreRefuses, AnOvertakerThatIsNotAdmitted) {
  snapshot_.parts[0] = {};
  snapshot_.parts[0].stamp = 5;
  snapshot_.parts[0].overtakes = true;

  expect_protocol_error("it overtook or gave its sends to host room");
}
TEST_F(RestoreRefuses, GangsDoneThatAreNotPlaced) {
  snapshot_.parts[0].gangs_done = {{0, 2}};

  expect_protocol_error("gangs [0, 2) are done, behind 0 and with 1 placed");
}
TEST_F(RestoreRefuses, EdgesThatThePlanHasNot) {
  snapshot_.parts[0].values_here = {4};
  expect_protocol_error("it received edge 4");
  snapshot_.parts[0].values_here = {};
  snapshot_.parts[0].sends_closed = {3};
  expect_protocol_error("edge 3 was received");
}
TEST_F(RestoreRefuses, AnArrayThatIsGoneTooEarly) {
  snapshot_.arrays.erase(snapshot_.arrays.begin());
  expect_protocol_error("the host has not array 1, which gang 1");
  snapshot_.parts[0] = {};
  snapshot_.parts[0].stamp = 5;
  expect_protocol_error("the host has not array 1, which 1 uses");
}
TEST_F(RestoreRefuses, AnOutputOfAnotherSize) {
  snapshot_.arrays[1].bytes_per_device = 7;

  expect_protocol_error("array 2 has 7 bytes a device at the host; part of stamp 5 makes 1");
}
TEST_F(RestoreRefuses, AnOutputWhoseGangIsNotPlaced) {
  snapshot_.parts[0].gangs_placed = 0;
  snapshot_.arrays[1].place = ArrayState::Place::kDevices;

  expect_protocol_error("the host holds array 2, but gang 0 of part of stamp 5");
}
TEST_F(RestoreRefuses, AnArrayThatIsSpilledWhileItIsRead) {
  snapshot_.arrays[0].place = ArrayState::Place::kSpilling;

  expect_protocol_error("array 1 is in host room or on its way there, and in use");
}

}  // namespace
}  // namespace seaway::island
