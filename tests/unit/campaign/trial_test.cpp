// Trials: a world that crashes or never ends is an outcome like any other.

#include "campaign/trial.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/check.hpp"
#include "sim/chaos.hpp"

namespace seaway::campaign {
namespace {

sim::SeedReport world_of_two_faults(const sim::SeedOptions& options) {
  sim::SeedReport report;
  report.seed = 7;
  report.hash = 0xabc;
  report.steps = 10;
  report.islands = 2;
  for (const std::string name : {"host-kill#0", "wire cut"}) {
    const sim::FaultLine fault{name, name == "wire cut" ? "wire" : "kill", "it \"breaks\"", 5, 6};
    if (options.edits.has(fault)) report.faults.push_back(fault);
  }
  return report;
}

sim::SeedReport failing(const sim::SeedOptions& options) {
  sim::SeedReport report = world_of_two_faults(options);
  report.breach = sim::Breach::kCorrectness;
  report.violations.push_back({report.breach, "balance", "it is\nwrong", "bank.cpp:3"});
  return report;
}

TEST(Trial, OfACleanWorldHasNoFailureAndSaysHowLargeItWas) {
  sim::Edits edits;
  edits.without = {"wire cut"};

  const Outcome outcome = run_trial(world_of_two_faults, edits);

  EXPECT_FALSE(outcome.failure);
  EXPECT_EQ(outcome.hash, 0xabcu);
  EXPECT_EQ(outcome.world.islands, 2u);
  ASSERT_EQ(outcome.world.faults.size(), 1u);
  EXPECT_EQ(outcome.world.faults[0], world_of_two_faults({}).faults[0]);
}

TEST(Trial, OfAFailingWorldSaysAtWhichCheck) {
  const Outcome outcome = run_trial(failing, {});

  ASSERT_TRUE(outcome.failure);
  EXPECT_EQ(*outcome.failure, (FailureKind{sim::kChaosCorrectness, "balance", "bank.cpp:3"}));
  EXPECT_NE(outcome.text.find("it is\nwrong"), std::string::npos) << outcome.text;
}

TEST(Trial, LeavesTheCallerAsItWas) {
  int changed = 0;

  run_trial(
      [&changed](const sim::SeedOptions& options) {
        ++changed;
        return world_of_two_faults(options);
      },
      {});

  EXPECT_EQ(changed, 0);
}

TEST(Trial, OfACrashHasTheSignalAndTheLastWords) {
  const RunWorld dies = [](const sim::SeedOptions&) -> sim::SeedReport {
    std::fprintf(stderr, "farewell\n");
    std::abort();
  };

  const Outcome outcome = run_trial(dies, {});

  ASSERT_TRUE(outcome.failure);
  EXPECT_EQ(*outcome.failure, (FailureKind{sim::kChaosCrash, "crash", "signal 6"}));
  EXPECT_EQ(outcome.text, "farewell\n");
}

TEST(Trial, OfABrokenCheckOfSeawaysIsGroupedByItsPlace) {
  const RunWorld dies = [](const sim::SeedOptions&) -> sim::SeedReport {
    SEAWAY_CHECK(false, "a bug");
    return {};
  };

  const Outcome outcome = run_trial(dies, {});

  ASSERT_TRUE(outcome.failure);
  EXPECT_TRUE(outcome.failure->place.starts_with("trial_test.cpp:")) << outcome.failure->place;
}

TEST(Trial, OfAProcessThatLeavesIsACrash) {
  const Outcome outcome =
      run_trial([](const sim::SeedOptions&) -> sim::SeedReport { std::_Exit(3); }, {});

  ASSERT_TRUE(outcome.failure);
  EXPECT_EQ(outcome.failure->place, "exit 3");
}

TEST(Trial, OfAWorldThatNeverEndsIsEndedAtItsLimit) {
  const RunWorld goes_on = [](const sim::SeedOptions&) -> sim::SeedReport {
    const volatile bool is_endless = true;
    while (is_endless) continue;
    return {};
  };

  const Outcome outcome = run_trial(goes_on, {}, {.cpu_s = 1});

  ASSERT_TRUE(outcome.failure);
  EXPECT_EQ(outcome.failure->exit_code, sim::kChaosLiveness);
}

TEST(Trial, OfAWorldThatWaitsForTheRealOneIsEndedAtItsLimit) {
  const RunWorld waits = [](const sim::SeedOptions&) -> sim::SeedReport {
    pause();
    return {};
  };

  const Outcome outcome = run_trial(waits, {}, {.wait_s = 1});

  ASSERT_TRUE(outcome.failure);
  EXPECT_EQ(outcome.failure->exit_code, sim::kChaosLiveness);
}

TEST(Trial, OfAWorldThatTalksForEverKeepsTheEnd) {
  const RunWorld talks = [](const sim::SeedOptions&) -> sim::SeedReport {
    for (int i = 0; i < 100'000; ++i) std::fprintf(stderr, "line %d\n", i);
    std::abort();
  };

  const std::string text = run_trial(talks, {}).text;

  EXPECT_LT(text.size(), 200'000u);
  EXPECT_TRUE(text.ends_with("line 99999\n"));
}

TEST(PlannedWorld, IsWhatACrashCannotSay) {
  const RunWorld dies_late = [](const sim::SeedOptions& options) {
    if (options.until_event == 0) std::abort();
    return world_of_two_faults(options);
  };

  EXPECT_EQ(run_trial(dies_late, {}).world.faults.size(), 0u);
  EXPECT_EQ(planned_world(dies_late, {}).faults.size(), 2u);
}

TEST(Outcome, IsOneLineAndReadAsItWasWritten) {
  const Outcome outcome = outcome_of(failing({}));

  const std::string record = to_record(outcome);
  const auto again = parse_outcome(record);

  EXPECT_EQ(record.find('\n'), std::string::npos);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->failure, outcome.failure);
  EXPECT_EQ(again->world, outcome.world);
  EXPECT_EQ(again->text, outcome.text);
  EXPECT_FALSE(parse_outcome("half a rec"));
}

}  // namespace
}  // namespace seaway::campaign
