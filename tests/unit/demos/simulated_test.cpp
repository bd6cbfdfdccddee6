// The demos on actors in the simulator: each is right whatever the seed, and repeats itself.

#include "demos/support/simulated.hpp"

#include <gtest/gtest.h>

#include "demos/parameter_server.hpp"
#include "demos/philosophers.hpp"
#include "demos/pingpong.hpp"
#include "demos/pipeline_feed.hpp"
#include "demos/skynet.hpp"
#include "demos/support/kv_load.hpp"

namespace seaway::demos {
namespace {

constexpr std::uint64_t kSeeds = 8;

Result<SimulationReport> simulate_kv(std::uint64_t seed) {
  return run_simulated("embedded:islands=4,devices=1", seed,
                       [](Simulation& simulation, const Client& client) -> Status {
                         const auto report = run_kv_store_simulated(
                             simulation, client, {.operations = 300, .deaths = 40});
                         if (!report.ok()) return report.status();
                         EXPECT_EQ(report->deaths, 40u);
                         EXPECT_GT(report->takeovers, 0u);
                         return {};
                       });
}

TEST(SimulatedPingpong, ReturnsEachBall) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const auto report =
        run_simulated("embedded:islands=2,devices=1", seed,
                      [](Simulation&, const Client& client) { return play_pingpong(client, 100); });

    EXPECT_TRUE(report.ok()) << report.status().to_string();
  }
}

TEST(SimulatedSkynet, CountsAllAndLeavesNobodyOver) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    std::uint64_t actors = 0;
    const auto report = run_simulated("embedded:islands=2,devices=1", seed,
                                      [&](Simulation&, const Client& client) -> Status {
                                        const auto counted = count_leaves(client, 1000);
                                        if (counted.ok()) actors = *counted;
                                        return counted.status();
                                      });

    ASSERT_TRUE(report.ok()) << report.status().to_string();
    EXPECT_EQ(actors, 10u + 100u + 1000u);
  }
}

TEST(SimulatedPhilosophers, DoNotStarveWhenOneDies) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const auto report =
        run_simulated("embedded:islands=5,devices=1", seed,
                      [](Simulation&, const Client& client) { return dine(client, 10); });

    EXPECT_TRUE(report.ok()) << report.status().to_string();
  }
}

TEST(SimulatedPhilosophers, ShareTwoHostsAsWell) {
  const auto report =
      run_simulated("embedded:islands=2,devices=1", 1,
                    [](Simulation&, const Client& client) { return dine(client, 5); });

  EXPECT_TRUE(report.ok()) << report.status().to_string();
}

TEST(SimulatedKv, IsLinearizableWhenActorsAndHostsDie) {
  // A mistake in the store shows in one seed of three at least.
  for (std::uint64_t seed = 1; seed <= 3 * kSeeds; ++seed) {
    const auto report = simulate_kv(seed);

    EXPECT_TRUE(report.ok()) << report.status().to_string();
  }
}

TEST(SimulatedKv, RepeatsItselfStepByStep) {
  const auto first = simulate_kv(3);
  const auto again = simulate_kv(3);
  const auto other = simulate_kv(4);

  ASSERT_TRUE(first.ok() && again.ok() && other.ok());
  EXPECT_EQ(first->hash, again->hash);
  EXPECT_NE(first->hash, other->hash);
}

TEST(SimulatedParameterServer, LearnsAndWaitsForNobody) {
  const auto report =
      run_simulated("embedded:islands=4,devices=2", 1,
                    [](Simulation&, const Client& client) { return train_on(client, 800); });

  EXPECT_TRUE(report.ok()) << report.status().to_string();
}

TEST(SimulatedPipelineFeed, KeepsToItsCreditAndLearns) {
  const auto report =
      run_simulated("embedded:islands=3,devices=4", 1,
                    [](Simulation&, const Client& client) { return feed_to(client, 10); });

  EXPECT_TRUE(report.ok()) << report.status().to_string();
}

TEST(RunSimulated, NamesTheSeedOfWhatIsWrong) {
  const auto report = run_simulated(
      "embedded:islands=1,devices=1", 9,
      [](Simulation&, const Client&) { return Status(StatusCode::kDataCorruption, "it is bad"); });

  EXPECT_EQ(report.status().to_string(), "DATA_CORRUPTION: with seed 9: it is bad");
}

}  // namespace
}  // namespace seaway::demos
