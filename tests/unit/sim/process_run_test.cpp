// Worlds of processes from end to end: what each kind of fault costs clients, and what it does not.

#include "sim/process_run.hpp"

#include <gtest/gtest.h>

#include "sim/chaos.hpp"
#include "unit/sim/process_events.hpp"

namespace seaway::sim {
namespace {

using Kind = ProcessFault::Kind;

/// A world of two islands in which nothing fails by itself, and clients take their time.
World quiet_world(std::uint64_t seed, std::uint32_t hosts) {
  World world = make_process_world(seed);
  const World plain;
  world.cluster.islands = 2;
  world.cluster.devices = 2;
  world.cluster.hosts = hosts;
  world.cost.in_stages = hosts > 1;
  if (hosts > 1) world.cluster.integrity = {};
  world.cluster.device_memory = world.cluster.host_memory = world.cluster.send_memory = 1 << 26;
  world.faults = {};
  world.is_memory_tight = world.has_failures = world.has_cancels = false;
  world.has_irregular = world.has_rebinds = world.is_flooded = false;
  world.upload_bytes_max = plain.upload_bytes_max;
  world.runs_in_flight_max = plain.runs_in_flight_max;
  world.cluster.runs_in_flight = plain.cluster.runs_in_flight;
  world.clients = 2;
  world.actions = 30;
  return world;
}

ProcessFaults faults(std::vector<ProcessFault> all) {
  ProcessFaults made;
  made.wires.latency_max_ns = 200'000;
  made.wires.keepalive_ns = 20 * kMsNs;
  for (const ProcessFault& fault : all) {
    made.end_ns = std::max(made.end_ns, fault.at_ns + fault.duration_ns);
  }
  made.faults = std::move(all);
  return made;
}

/// The sums of `worlds` seeds, all of which have to be clean.
struct Sum {
  Counts counts;
  Coverage coverage;
  std::uint64_t of(Feature feature) const {
    return coverage.counts[static_cast<std::size_t>(feature)];
  }
};
Sum run_clean(const ProcessFaults& what, std::uint64_t worlds = 6, std::uint32_t hosts = 1) {
  Sum sum;
  for (std::uint64_t seed = 1; seed <= worlds; ++seed) {
    const SeedReport report = run_process_world(quiet_world(seed, hosts), what);
    EXPECT_EQ(report.breach, Breach::kNone) << to_text(report);
    sum.counts.runs += report.counts.runs;
    sum.counts.failed += report.counts.failed;
    sum.counts.values_checked += report.counts.values_checked;
    sum.coverage += report.coverage;
  }
  return sum;
}

/// It begins in the midst of the work, and lasts for longer than silence is borne.
ProcessFault long_fault(Kind kind, cluster::RoleName target) {
  return {.kind = kind, .at_ns = 4 * kMsNs, .duration_ns = 2'000 * kMsNs, .target = target};
}
ProcessFault kill(cluster::RoleName target) {
  return {.kind = Kind::kKill, .at_ns = 4 * kMsNs, .duration_ns = 5 * kMsNs, .target = target};
}

TEST(ProcessRun, ASeedGivesTheSameRun) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const SeedReport first = run_process_seed(seed);

    EXPECT_EQ(run_process_seed(seed).hash, first.hash);
    EXPECT_EQ(first.breach, Breach::kNone) << to_text(first);
    EXPECT_NE(run_process_seed(seed + 100).hash, first.hash);
  }
}

TEST(ProcessRun, WholeProcessesCostNobodyAnything) {
  const Sum sum = run_clean(faults({}));

  EXPECT_GT(sum.counts.values_checked, 20u);
  EXPECT_EQ(sum.counts.failed, 0u);
  EXPECT_EQ(sum.of(Feature::kWholeProcesses), 6u);
}

TEST(ProcessRun, WiresThatBreakFlipAndRepeatCostNobodyAnything) {
  ProcessFaults broken = faults({});
  broken.wires.faults = {.cut = 30, .half_open = 20, .flip = 30, .repeat = 60};

  const Sum sum = run_clean(broken);

  EXPECT_EQ(sum.counts.failed, 0u);
  EXPECT_GT(sum.of(Feature::kWireCut), 10u);
  EXPECT_GT(sum.of(Feature::kWireHalfOpen), 10u);
  EXPECT_GT(sum.of(Feature::kWireFlip), 10u);
  EXPECT_GT(sum.of(Feature::kWireRepeat), 10u);
}

TEST(ProcessRun, ASchedulerThatIsKilledGoesOnWhereItWas) {
  const Sum sum = run_clean(faults({kill(scheduler(0)), kill(scheduler(1))}));

  EXPECT_EQ(sum.counts.failed, 0u);
  EXPECT_GT(sum.of(Feature::kSchedulerRestored), 0u);
}

TEST(ProcessRun, ASchedulerThatIsSilentCostsNoRun) {
  for (const Kind kind : {Kind::kPause, Kind::kIsolate, Kind::kDeafen, Kind::kMute}) {
    EXPECT_EQ(run_clean(faults({long_fault(kind, scheduler(0))}), 3).counts.failed, 0u);
  }
}

TEST(ProcessRun, ACutBetweenAnIslandsTwoCostsNoRun) {
  ProcessFault cut = long_fault(Kind::kCutPair, scheduler(0));
  cut.other = host(0);

  const Sum sum = run_clean(faults({cut}));

  EXPECT_EQ(sum.counts.failed, 0u);
  EXPECT_GT(sum.of(Feature::kViewWithoutDeath), 0u);
}

TEST(ProcessRun, AHostThatIsKilledTakesItsRunsAndArrays) {
  const Sum sum = run_clean(faults({kill(host(0))}));

  EXPECT_GT(sum.of(Feature::kHostLostWithRuns), 0u);
  EXPECT_GT(sum.of(Feature::kHostLostWithArrays), 0u);
  EXPECT_GT(sum.counts.failed, 0u);
}

TEST(ProcessRun, AMachineTakesBothWithIt) {
  EXPECT_GT(run_clean(faults({long_fault(Kind::kKillMachine, host(0))})).counts.failed, 0u);
}

TEST(ProcessRun, AnyOfItsHostsTakesAnIslandWithIt) {
  const cluster::RoleName annex{actor::Role::kAnnex, actor::annex_of(0, 1)};
  EXPECT_EQ(run_clean(faults({}), 3, 2).of(Feature::kHostLostWithArrays), 0u);

  const Sum sum = run_clean(faults({kill(annex)}), 6, 2);
  EXPECT_GT(sum.of(Feature::kHostLostWithArrays), 0u);
  EXPECT_GT(sum.counts.failed, 0u);
  for (const Kind kind : {Kind::kPause, Kind::kIsolate, Kind::kDeafen, Kind::kMute}) {
    EXPECT_GT(run_clean(faults({long_fault(kind, annex)}), 3, 2).counts.failed, 0u);
  }
}

TEST(ProcessRun, AHostThatIsNotHeardIsAsGoodAsDead) {
  for (const Kind kind : {Kind::kPause, Kind::kIsolate, Kind::kDeafen, Kind::kMute}) {
    EXPECT_GT(run_clean(faults({long_fault(kind, host(0))}), 3).counts.failed, 0u);
  }
}

TEST(ProcessRun, ACutBetweenHostsFailsWhatIsOnBoth) {
  ProcessFault cut = long_fault(Kind::kCutPair, host(0));
  cut.other = host(1);

  EXPECT_GT(run_clean(faults({cut}), 12).of(Feature::kRunLostBetweenHosts), 0u);
}

TEST(ProcessRun, AControllerThatIsKilledLeavesNothingBehind) {
  const Sum sum = run_clean(faults({kill(kTheController)}));

  EXPECT_GT(sum.of(Feature::kControllerLostWithRuns), 0u);
  EXPECT_GT(sum.of(Feature::kClientCameBack), 0u);
}

TEST(ProcessRun, AClientThatIsKilledIsMissedByNobody) {
  const Sum sum = run_clean(faults({kill(client(1))}));

  EXPECT_GT(sum.of(Feature::kClientLostWithRuns), 0u);
  EXPECT_EQ(sum.counts.failed, 0u);  // By those that live to see it.
}

TEST(ProcessRun, ClocksThatAreALittleOffCostNothing) {
  ProcessFault fast = long_fault(Kind::kClockRate, host(0));
  ProcessFault slow = long_fault(Kind::kClockRate, kTheController);
  fast.amount = 50'000;
  slow.amount = -50'000;

  EXPECT_EQ(run_clean(faults({fast, slow})).counts.failed, 0u);
}

TEST(ProcessRun, AClockThatIsMovedFarLosesThoseWhoRelyOnIt) {
  ProcessFault jump = long_fault(Kind::kClockJump, host(0));
  jump.amount = 3'000 * static_cast<std::int64_t>(kMsNs);

  EXPECT_EQ(run_clean(faults({jump})).of(Feature::kClockJump), 6u);
}

}  // namespace
}  // namespace seaway::sim
