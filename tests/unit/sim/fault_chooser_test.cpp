// Which points fire: both levels, one stream each, and the same again for the same seed.

#include "sim/fault_chooser.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string_view>
#include <vector>

#include "sim/app_world.hpp"
#include "sim/fault_point_info.hpp"
#include "sim/process_run.hpp"
#include "sim/seed_run.hpp"

namespace seaway::sim {
namespace {

constexpr std::uint64_t kSeeds = 4'000;

std::vector<FaultPoint> all_points() {
  std::vector<FaultPoint> points;
  for (std::size_t i = 0; i < kFaultPoints; ++i) points.push_back(static_cast<FaultPoint>(i));
  return points;
}

std::uint64_t points_on(const SeededFaultChooser& chooser) {
  std::uint64_t count = 0;
  for (const FaultPoint point : all_points()) count += chooser.is_on(point);
  return count;
}

/// The first one that has `point` switched on.
std::uint64_t seed_with(FaultPoint point) {
  std::uint64_t seed = 1;
  while (!SeededFaultChooser(seed).is_on(point)) ++seed;
  return seed;
}

std::vector<bool> draws(SeededFaultChooser& chooser, FaultPoint point, int count) {
  std::vector<bool> drawn;
  for (int i = 0; i < count; ++i) drawn.push_back(chooser.fires(point));
  return drawn;
}

std::uint64_t sum(const FaultPointCounts& counts) {
  std::uint64_t total = 0;
  for (const std::uint64_t count : counts.counts) total += count;
  return total;
}

TEST(FaultPointInfo, EachPointHasANameOfItsOwnAFileAndAWorld) {
  std::set<std::string_view> names;

  for (const FaultPoint point : all_points()) {
    const FaultPointInfo& info = info_of(point);
    names.insert(info.name);
    EXPECT_FALSE(info.name.empty() || info.file.empty() || info.effect.empty()) << info.name;
    EXPECT_TRUE(info.worlds.has(WorldKind::kPrograms) || info.worlds.has(WorldKind::kApps) ||
                info.worlds.has(WorldKind::kProcesses))
        << info.name;
    EXPECT_TRUE(info.per_mille > 0 && info.per_mille <= 1000 && info.firings_max > 0) << info.name;
  }

  EXPECT_EQ(names.size(), kFaultPoints);
}

TEST(SeededFaultChooser, HalfOfTheSeedsHaveNoPointAtAll) {
  std::uint64_t without = 0;

  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    without += points_on(SeededFaultChooser(seed)) == 0;
  }

  EXPECT_NEAR(static_cast<double>(without) / kSeeds, 0.5, 0.05);
}

TEST(SeededFaultChooser, AQuarterOfThePointsIsOnInTheOthers) {
  std::uint64_t seeds = 0, on = 0;

  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const std::uint64_t points = points_on(SeededFaultChooser(seed));
    seeds += points > 0;
    on += points;
  }

  EXPECT_NEAR(static_cast<double>(on) / static_cast<double>(seeds * kFaultPoints), 0.25, 0.02);
}

TEST(SeededFaultChooser, APointThatIsOnFiresAsOftenAsItsRowSays) {
  constexpr int kDraws = 20'000;
  for (const FaultPoint point : {FaultPoint::kFrameTwice, FaultPoint::kLateHeartbeat}) {
    SeededFaultChooser chooser(seed_with(point));

    draws(chooser, point, kDraws);

    EXPECT_NEAR(static_cast<double>(chooser.counts().of(point)) / kDraws,
                info_of(point).per_mille / 1000.0, 0.01);
  }
}

TEST(SeededFaultChooser, APointThatIsOffNeverFires) {
  std::uint64_t seed = 1;
  while (SeededFaultChooser(seed).is_on(FaultPoint::kFrameTwice)) ++seed;
  SeededFaultChooser chooser(seed);

  draws(chooser, FaultPoint::kFrameTwice, 1'000);

  EXPECT_EQ(sum(chooser.counts()), 0u);
}

TEST(SeededFaultChooser, NoPointFiresMoreOftenThanItMay) {
  SeededFaultChooser chooser(seed_with(FaultPoint::kOutOfMemory));

  draws(chooser, FaultPoint::kOutOfMemory, 100'000);

  EXPECT_EQ(chooser.counts().of(FaultPoint::kOutOfMemory),
            info_of(FaultPoint::kOutOfMemory).firings_max);
}

TEST(SeededFaultChooser, ASparedPointDoesNotFireAnyMore) {
  SeededFaultChooser chooser(seed_with(FaultPoint::kFrameTwice));
  draws(chooser, FaultPoint::kFrameTwice, 1'000);
  const std::uint64_t before = chooser.counts().of(FaultPoint::kFrameTwice);

  chooser.spare(FaultPoint::kFrameTwice);
  draws(chooser, FaultPoint::kFrameTwice, 1'000);

  EXPECT_GT(before, 0u);
  EXPECT_EQ(chooser.counts().of(FaultPoint::kFrameTwice), before);
}

TEST(SeededFaultChooser, OnePointLeavesAllOthersAsTheyWere) {
  const std::uint64_t seed = seed_with(FaultPoint::kFrameTwice);
  SeededFaultChooser alone(seed), beside(seed);

  const std::vector<bool> expected = draws(alone, FaultPoint::kFrameTwice, 100);
  for (const FaultPoint point : all_points()) {
    if (point != FaultPoint::kFrameTwice) draws(beside, point, 100);
  }

  EXPECT_EQ(draws(beside, FaultPoint::kFrameTwice, 100), expected);
}

/// Runs seeds from 1 on until one of them has had a point fire.
template <class Run>
SeedReport first_with_points(const Run& run) {
  for (std::uint64_t seed = 1;; ++seed) {
    SeedReport report = run(seed);
    if (sum(report.fault_points) > 0 || seed == 100) return report;
  }
}

TEST(FaultPointsOfWorlds, ASeedHasTheSamePointsEachTimeThatItRuns) {
  const std::vector<SeedReport (*)(std::uint64_t)> kinds = {
      [](std::uint64_t seed) { return run_seed(seed); },
      [](std::uint64_t seed) { return run_app_seed(seed).seed; },
      [](std::uint64_t seed) { return run_process_seed(seed); }};
  for (const auto& run : kinds) {
    const SeedReport first = first_with_points(run);
    run(first.seed + 1);  // Whatever that one has is gone with it.
    const SeedReport second = run(first.seed);

    EXPECT_GT(sum(first.fault_points), 0u);
    EXPECT_EQ(second.fault_points, first.fault_points);
    EXPECT_EQ(second.hash, first.hash);
  }
}

TEST(FaultPointsOfWorlds, NothingFiresOutsideOfAWorld) {
  run_seed(seed_with(FaultPoint::kRecordsApart));

  EXPECT_FALSE(fault_fires(FaultPoint::kRecordsApart));
  EXPECT_EQ(exchange_fault_chooser(nullptr), nullptr);
}

}  // namespace
}  // namespace seaway::sim
