// Worlds of actors: that they repeat, differ, do what they are there to do, and are clean.

#include "sim/app_world.hpp"

#include <gtest/gtest.h>

#include <set>

#include "sim/chaos.hpp"

namespace seaway::sim {
namespace {

constexpr std::uint64_t kSeeds = 100;

TEST(AppWorlds, OneSeedGivesOneHash) {
  for (std::uint64_t seed = 1; seed <= kSeeds / 2; ++seed) {
    const AppSeedReport first = run_app_seed(seed);
    const AppSeedReport second = run_app_seed(seed);

    EXPECT_EQ(first.seed.hash, second.seed.hash) << "replay: seaway chaos --apps --replay " << seed;
    EXPECT_EQ(first.seed.steps, second.seed.steps);
    EXPECT_EQ(first.counts, second.counts);
  }
}

TEST(AppWorlds, SeedsDifferKeepThePromisesAndDoEverything) {
  std::set<std::uint64_t> hashes;
  std::map<std::string_view, std::uint64_t> counts;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const AppSeedReport report = run_app_seed(seed);
    EXPECT_EQ(report.seed.breach, Breach::kNone) << to_text(report.seed);
    hashes.insert(report.seed.hash);
    for (const auto& [what, count] : report.counts) counts[what] += count;
  }

  EXPECT_EQ(hashes.size(), kSeeds);
  for (const char* what : {"plain",
                           "slow",
                           "poll",
                           "relay",
                           "relayed",
                           "nest",
                           "nested",
                           "child",
                           "later",
                           "feed",
                           "send",
                           "call of all",
                           "reduce",
                           "head of a chain",
                           "link of a chain",
                           "crash",
                           "meet",
                           "met",
                           "watch",
                           "death heard of",
                           "found",
                           "deposit",
                           "audit",
                           "OK",
                           "ACTOR_LOST",
                           "HOST_LOST",
                           "CANCELLED",
                           "DEADLINE_EXCEEDED",
                           "INPUT_LOST",
                           "RESOURCE_EXHAUSTED",
                           "USER_FUNCTION_ERROR",
                           "host killed",
                           "host paused",
                           "clock set",
                           "connection cut",
                           "connection half open",
                           "bits flipped",
                           "packets repeated"}) {
    EXPECT_GT(counts[what], 0u) << what;
  }
}

TEST(AppWorlds, AReportSaysHowToReplayIt) {
  const SeedLine line = run_one(3, {.kind = WorldKind::kApps, .replay = true});

  EXPECT_EQ(line.breach, Breach::kNone);
  EXPECT_NE(line.text.find("replay: seaway chaos --apps --replay 3"), std::string::npos)
      << line.text;
  EXPECT_NE(line.text.find("last events:"), std::string::npos);
  EXPECT_NE(line.json.find("\"seed\":3,"), std::string::npos);
}

/// Its owner was paused while a host died and came back: it took a member for lost that was yet to
/// begin there, and then heard that it lives.
TEST(AppWorlds, AMemberThatWasTakenForLostAndLivesIsCountedOnce) {
  const SeedReport report = run_app_seed(4028).seed;

  EXPECT_EQ(report.breach, Breach::kNone) << to_text(report);
}

}  // namespace
}  // namespace seaway::sim
