// Seeds: that they repeat, differ, cover what they should, and are clean.

#include "sim/seed_run.hpp"

#include <gtest/gtest.h>

#include <set>

#include "sim/chaos.hpp"
#include "sim/world.hpp"

namespace seaway::sim {
namespace {

constexpr std::uint64_t kSeeds = 50;

TEST(SeedRun, OneSeedGivesOneHash) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const SeedReport first = run_seed(seed);
    const SeedReport second = run_seed(seed);

    EXPECT_EQ(first.hash, second.hash) << "replay: seaway chaos --replay " << seed;
    EXPECT_EQ(first.steps, second.steps);
    EXPECT_EQ(first.counts, second.counts);
  }
}

TEST(SeedRun, SeedsDifferAndKeepTheInvariants) {
  std::set<std::uint64_t> hashes;
  Counts counts;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const SeedReport report = run_seed(seed);
    EXPECT_EQ(report.breach, Breach::kNone) << to_text(report);
    hashes.insert(report.hash);
    counts.ok += report.counts.ok;
    counts.values_checked += report.counts.values_checked;
  }

  EXPECT_EQ(hashes.size(), kSeeds);
  EXPECT_GT(counts.ok, 100u);
  EXPECT_GT(counts.values_checked, 100u);
}

TEST(SeedRun, TenantsThatCompeteGetTheSharesOfTheirWeights) {
  std::uint64_t contests = 0;
  for (std::uint64_t seed = 1; contests < 6; ++seed) {
    if (!make_world(seed).is_contest) continue;
    const SeedReport report = run_seed(seed);

    EXPECT_EQ(report.breach, Breach::kNone) << to_text(report);
    EXPECT_GT(report.shares_measured, 0u) << "replay: seaway chaos --replay " << seed;
    ++contests;
  }
}

TEST(SeedRun, AReportSaysHowToReplayIt) {
  SeedReport report;
  report.seed = 7;
  report.breach = Breach::kLiveness;
  report.violations.push_back({Breach::kLiveness, "I12", "nothing can move any more"});

  EXPECT_NE(to_text(report).find("I12 broken: nothing can move any more"), std::string::npos);
  EXPECT_EQ(replay_line(report.kind, report.seed), "seaway chaos --replay 7");
  EXPECT_NE(to_json(report).find("\"seed\":7,"), std::string::npos);
  EXPECT_NE(to_json(report).find("\"verdict\":\"liveness\""), std::string::npos);
}

}  // namespace
}  // namespace seaway::sim
