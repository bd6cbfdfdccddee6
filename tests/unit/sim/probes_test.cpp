// The probes of this program: there are many, with names of their own, and worlds come by them.

#include "sim/probes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <string_view>

#include "sim/chaos.hpp"

namespace seaway::sim {
namespace {

std::uint64_t sum_of(const ProbeCounts& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

TEST(Probes, HaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const Probe* probe : probes()) EXPECT_TRUE(names.insert(probe->name).second) << probe->name;

  EXPECT_GE(names.size(), 100u);
  EXPECT_EQ(names.size(), probe_count());
}

TEST(Probes, AreInTheRoomsOfTheProduct) {
  std::set<std::string> rooms;
  for (const Probe* probe : probes()) {
    const std::string file(probe->file);
    const auto at = file.rfind("src/");
    ASSERT_NE(at, std::string::npos) << file;
    rooms.insert(file.substr(at + 4, file.find('/', at + 4) - at - 4));
  }

  for (const char* room :
       {"app", "client", "cluster", "controller", "device", "island", "transport"}) {
    EXPECT_TRUE(rooms.contains(room)) << room;
  }
}

TEST(Probes, AreCountedForEachSeedAlike) {
  const SeedLine first = run_one(3, {.again_percent = 0});
  const SeedLine second = run_one(3, {.again_percent = 0});

  EXPECT_EQ(first.probes.size(), probe_count());
  EXPECT_GT(sum_of(first.probes), 0u);
  EXPECT_EQ(first.probes, second.probes);
  EXPECT_EQ(sum_of(take_probe_counts()), 0u);
}

TEST(Probes, AreAddedUpAndMissed) {
  ProbeCounts sum;
  ProbeCounts counts(probe_count());
  counts[1] = 2;
  add(sum, counts);
  add(sum, counts);

  EXPECT_EQ(sum[1], 4u);
  EXPECT_EQ(missing_probes(sum).size(), probe_count() - 1);
}

TEST(Probes, StandInATableRarestFirst) {
  ProbeCounts counts(probe_count(), 7);
  counts[5] = 3;
  const std::string table = probe_table(counts);

  const auto lines = static_cast<std::size_t>(std::count(table.begin(), table.end(), '\n'));
  EXPECT_EQ(lines, probe_count());
  EXPECT_EQ(table.substr(0, 13), "          3  ");
}

/// This file is compiled as the product is.
TEST(Probes, AreNothingWhereThereAreNoFaultPoints) {
  bool is_evaluated = false;
  const auto look = [&is_evaluated] { return is_evaluated = true; };
  SEAWAY_PROBE("a test has a probe");
  SEAWAY_PROBE_IF(look(), "a test has a probe that asks");

  EXPECT_FALSE(is_evaluated);
  for (const Probe* probe : probes())
    EXPECT_FALSE(std::string_view(probe->name).starts_with("a test"));
}

}  // namespace
}  // namespace seaway::sim
