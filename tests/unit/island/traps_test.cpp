// The traps of the island's rules: small worlds that run through, and that deadlock, starve or are
// overwritten as soon as one sentence of the rules is left out.

#include <gtest/gtest.h>

#include "sim/exhaustive/island_world.hpp"
#include "unit/island/plans.hpp"
#include "unit/sanitized.hpp"

namespace seaway::island {
namespace {

using exhaustive::Exploration;
using exhaustive::explore;
using exhaustive::HostWeakening;
using exhaustive::IslandSpec;
using exhaustive::kDevices;
using exhaustive::make_island_world;

constexpr std::uint64_t kStatesMax = 1'000'000;

/// A world written by hand. Runs and islands count from 0; all memory is the same.
class HandMade {
 public:
  explicit HandMade(std::uint64_t memory_bytes, std::uint64_t send_room_bytes = 0) {
    for (CoreOptions& options : spec.options) {
      options.devices = kDevices;
      options.memory_bytes = memory_bytes;
      options.spill_bytes = 1000;
      options.send_room_bytes = send_room_bytes;
      options.manual = true;
    }
  }
  HandMade& part(std::uint32_t run, std::uint32_t island, const PlanMaker& maker) {
    spec.parts[run][island].plan = maker.make();
    return *this;
  }
  HandMade& edge(std::uint32_t run, std::uint32_t number, std::uint32_t source_island) {
    spec.edges.push_back({run, number, source_island, 0, 1});
    return *this;
  }

  Exploration with(Weakening weakening) const {
    IslandSpec weak = spec;
    for (CoreOptions& options : weak.options) options.weakening = weakening;
    return explore(weak, kStatesMax);
  }
  Exploration with(HostWeakening weakening) const {
    IslandSpec weak = spec;
    weak.weakening = weakening;
    return explore(weak, kStatesMax);
  }
  void expect_runs_through() const {
    const Exploration found = explore(spec, kStatesMax);
    EXPECT_TRUE(found.complete);
    EXPECT_EQ(found.failure, "");
  }

  IslandSpec spec;
};

bool deadlocks(const Exploration& found) {
  return found.failure.find("DEADLOCK") != std::string::npos;
}
bool is_violated(const Exploration& found) {
  return found.failure.find("VIOLATION") != std::string::npos;
}

TEST(Traps, Rule2IsIslandWideNotPerSharedDevice) {
  // Run 3 joins the two devices that runs 1 and 2 do not share.
  HandMade world(10);
  world.part(0, 0, PlanMaker({0}).gangs(1).send(0, 1, 1, 1))
      .part(0, 1, PlanMaker({0}).gangs(1).receive(0, 1, 0, 1))
      .edge(0, 1, 0)
      .part(1, 1, PlanMaker({0}).gangs(1).send(0, 1, 0, 1))
      .part(1, 0, PlanMaker({1}).gangs(1).receive(0, 1, 1, 1))
      .edge(1, 1, 1)
      .part(2, 0, PlanMaker({0, 1}).gangs(1));

  world.expect_runs_through();
  EXPECT_TRUE(deadlocks(world.with(Weakening::kOrderPerDevice)));
}

TEST(Traps, AnOvertakerMustBeFreeNotOnlyHaveAdmittedProducers) {
  HandMade world(2, 2);
  world.part(0, 0, PlanMaker({0}, 1).gangs(1))
      .part(1, 0, PlanMaker({0}, 1).gangs(1).send(0, 1, 1, 1))
      .part(1, 1, PlanMaker({0}).gangs(1).receive(0, 1, 0, 1))
      .edge(1, 1, 0)
      .part(2, 1, PlanMaker({0}).gangs(1).send(0, 1, 0, 1))
      .part(2, 0, PlanMaker({0}).gangs(1).receive(0, 1, 1, 1))
      .edge(2, 1, 1);

  world.expect_runs_through();
  EXPECT_TRUE(deadlocks(world.with(Weakening::kOvertakeOnAdmittedInputs)));
}

/// Run 3 can overtake run 2 on island 0 while run 1 holds room there; its receiver has no room on
/// island 1 before run 2 is through.
HandMade overtaker_feeds_a_full_island(std::uint64_t send_room) {
  HandMade world(2, send_room);
  world.part(0, 0, PlanMaker({0}, 1).gangs(1))
      .part(1, 0, PlanMaker({0}, 1).gangs(1).send(0, 1, 1, 1))
      .part(1, 1, PlanMaker({0}, 1).gangs(1).receive(0, 1, 0, 1))
      .edge(1, 1, 0)
      .part(2, 0, PlanMaker({0}).gangs(1).send(0, 1, 1, 1))
      .part(2, 1, PlanMaker({0}).gangs(1).receive(0, 1, 0, 1))
      .edge(2, 1, 0);
  return world;
}

TEST(Traps, AnOvertakerDoesNotKeepItsSendsOnTheDevice) {
  overtaker_feeds_a_full_island(1).expect_runs_through();
  EXPECT_TRUE(deadlocks(overtaker_feeds_a_full_island(1).with(Weakening::kOvertakerKeepsSends)));
}

TEST(Traps, HostRoomIsTakenAtAdmissionNotAtTheEnd) {
  overtaker_feeds_a_full_island(0).expect_runs_through();
  EXPECT_TRUE(deadlocks(overtaker_feeds_a_full_island(0).with(Weakening::kHostRoomAtEnd)));
}

TEST(Traps, APartReservesItsPeakNotGangByGang) {
  HandMade world(2);
  for (std::uint32_t run = 0; run < 2; ++run) {
    world.part(run, 0, PlanMaker({0}).gangs(2).output(0, 1).output(1, 1));
    for (std::uint32_t gang = 0; gang < 2; ++gang) {
      const ArrayId id = 100 + world.spec.arrays.size();
      world.spec.arrays.push_back({id, 0, run, gang, 1, {0}, false, false});
      world.spec.parts[run][0].outputs.push_back(id);
    }
  }

  world.expect_runs_through();
  EXPECT_TRUE(deadlocks(world.with(Weakening::kGangByGang)));
}

TEST(Traps, RoomHasAnOwner) {
  // Each run needs both its values at once; one value of each fills the device.
  const auto make = [](std::uint64_t bytes) {
    HandMade world(2);
    for (std::uint32_t run = 0; run < 2; ++run)
      world.part(run, 0, PlanMaker({run}).gangs(1).send(0, 1, 1, 1).send(0, 2, 1, 1))
          .part(run, 1, PlanMaker({0}).gangs(1).receive(0, 1, 0, bytes).receive(0, 2, 0, bytes))
          .edge(run, 1, 0)
          .edge(run, 2, 0);
    return world;
  };

  make(1).expect_runs_through();
  EXPECT_TRUE(deadlocks(make(0).with(HostWeakening::kRoomWithoutOwner)));
}

/// Run 2 uses the room of run 1 on island 1, behind it in stream order.
HandMade second_run_in_the_same_room() {
  HandMade world(2);
  world.part(0, 1, PlanMaker({0}, 2).gangs(1))
      .part(1, 0, PlanMaker({0}).gangs(1).send(0, 1, 1, 1))
      .part(1, 1, PlanMaker({0}, 1).gangs(1).receive(0, 1, 0, 1))
      .edge(1, 1, 0);
  return world;
}

TEST(Traps, AReceiveWaitsForTheEarlierUserOfItsRoom) {
  second_run_in_the_same_room().expect_runs_through();
  EXPECT_TRUE(is_violated(second_run_in_the_same_room().with(HostWeakening::kReceiveBeforeRoom)));
}

TEST(Traps, TransfersOfDifferentPartsDoNotQueueBehindOneAnother) {
  HandMade world(2);
  for (std::uint32_t run = 0; run < 2; ++run)
    world.part(run, 0, PlanMaker({run}).gangs(1).send(0, 1, 1, 1))
        .part(run, 1, PlanMaker({0}, 1).gangs(1).receive(0, 1, 0, 1))
        .edge(run, 1, 0);

  world.expect_runs_through();
  EXPECT_TRUE(deadlocks(world.with(HostWeakening::kFifoChannels)));
}

TEST(Traps, ARunIsStampedOnlyAfterItsUploadHasArrived) {
  // The client uploads the argument of run 1 from what run 2 gave it.
  HandMade world(10);
  world.part(0, 0, PlanMaker({0}).gangs(1)).part(1, 0, PlanMaker({0}).gangs(1));

  world.expect_runs_through();
  world.spec.late_upload = 0;
  EXPECT_TRUE(deadlocks(world.with(HostWeakening::kStampedBeforeUpload)));
}

TEST(Traps, AnArrayIsFreedOnEachDeviceByItself) {
  // One device reads what run 1 made in run 2, the other in run 3, which is launched later.
  HandMade world(10);
  world.part(0, 0, PlanMaker({0, 1}).gangs(1).output(0, 1))
      .part(1, 0, PlanMaker({0}).gangs(1).arg(0, 1))
      .part(2, 0, PlanMaker({1}).gangs(1).arg(0, 1));
  world.spec.arrays.push_back({100, 0, 0, 0, 1, {0, 1}, true, false});
  world.spec.parts[0][0].outputs = world.spec.parts[1][0].args =
      world.spec.parts[2][0].args = {100};

  world.expect_runs_through();
  EXPECT_TRUE(is_violated(world.with(HostWeakening::kFreedAsAWhole)));
}

/// A large part waits while small ones come for ever, two of them always in flight. Returns after
/// how many small ones the large one is admitted; `rounds` if never.
int small_ones_before_the_large(Weakening weakening, int rounds) {
  CoreOptions options;
  options.memory_bytes = 100;
  options.send_room_bytes = 1'000'000;
  options.early = EarlyPlacement::kNever;
  options.weakening = weakening;
  SchedulerCore core(options);
  const auto small = PlanMaker({0}).gangs(1).send(0, 4, 1, 40).make();
  const auto holder = PlanMaker({0}, 40).gangs(1).receive(0, 3, 1, 0).make();
  const auto large = PlanMaker({0}, 90).gangs(1).make();
  const auto launch = [&core](Stamp stamp, const program::PartPlanPtr& plan) {
    const Status status = core.launch(
        {.stamp = stamp, .run = stamp, .tenant = 1, .plan = plan, .args = {}, .outputs = {}});
    ASSERT_TRUE(status.ok());
  };
  launch(1, holder);
  launch(2, large);
  launch(3, small);
  core.cancel(1);
  core.fenced(1);  // From here on only overtakers are in the way of part 2.
  for (int round = 0; round < rounds; ++round) {
    const Stamp stamp = 4 + static_cast<Stamp>(round);
    launch(stamp, small);
    for (const Action& action : core.actions())
      if (action.kind == Action::Kind::kAdmit && action.stamp == 2) return round;
    core.actions().clear();
    if (core.why(stamp - 1).find("runs") != std::string::npos) {
      core.done(stamp - 1, 0, 1);
      core.received(stamp - 1, 4);
    }
  }
  return rounds;
}

TEST(Traps, WithoutTheDoorALargePartStarves) {
  EXPECT_LE(small_ones_before_the_large(Weakening::kNone, 200), 2);
  EXPECT_EQ(small_ones_before_the_large(Weakening::kNoDoor, 200), 200);
}

/// How many small parts pass a large one that an earlier holder keeps waiting.
std::uint64_t small_ones_that_pass(Weakening weakening) {
  CoreOptions options;
  options.memory_bytes = 100;
  options.early = EarlyPlacement::kNever;
  options.weakening = weakening;
  SchedulerCore core(options);
  const auto launch = [&core](Stamp stamp, const PlanMaker& maker) {
    const Status status = core.launch({.stamp = stamp,
                                       .run = stamp,
                                       .tenant = 1,
                                       .plan = maker.make(),
                                       .args = {},
                                       .outputs = {}});
    ASSERT_TRUE(status.ok());
  };
  launch(1, PlanMaker({0}, 40).gangs(1).receive(0, 3, 1, 0));
  launch(2, PlanMaker({0}, 90).gangs(1));
  for (Stamp stamp = 3; stamp < 103; ++stamp) launch(stamp, PlanMaker({0}, 10).gangs(1));
  return core.counters().overtakes;
}

TEST(Traps, ACountOfOvertakesStarvesTheSmallOnesInstead) {
  EXPECT_EQ(small_ones_that_pass(Weakening::kNone), 100u);
  EXPECT_EQ(small_ones_that_pass(Weakening::kOvertakesCounted), 4u);
}

/// `make_island_world(seed)` for all seeds of the continuous integration; island_explorer walks
/// more.
TEST(Explorer, NoSmallWorldDeadlocksWhateverTheRulesAllow) {
  std::uint64_t states = 0, cut = 0;
  constexpr std::uint64_t kWorlds = fewer_if_sanitized(10'000);
  for (std::uint64_t seed = 1; seed <= kWorlds; ++seed) {
    const IslandSpec spec = make_island_world(seed, Weakening::kNone, HostWeakening::kNone);
    const Exploration found = explore(spec, 1'000);
    ASSERT_EQ(found.failure, "") << "replay: island_explorer --first " << seed << " --worlds 1";
    states += found.states;
    cut += !found.complete;
  }
  std::printf("%llu worlds, %llu states, %llu worlds cut short: no deadlock\n",
              static_cast<unsigned long long>(kWorlds), static_cast<unsigned long long>(states),
              static_cast<unsigned long long>(cut));
}

}  // namespace
}  // namespace seaway::island
