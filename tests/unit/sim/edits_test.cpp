// Edits: what is left out or moved changes, and everything else stays as the seed drew it.

#include "sim/edits.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/app_world.hpp"
#include "sim/process_faults.hpp"
#include "sim/seed_run.hpp"
#include "sim/user_world.hpp"
#include "sim/world.hpp"

namespace seaway::sim {
namespace {

constexpr std::uint64_t kSeeds = 20;

Edits wild() {
  Edits edits;
  edits.is_wild = true;
  return edits;
}

Edits with_choices(std::optional<std::uint64_t> choices) {
  Edits edits;
  edits.choices = choices;
  return edits;
}

/// For each fault of a wild world: without it the others are as they were.
template <class MakeLines>
void expect_that_faults_go_one_by_one(const MakeLines& lines_with) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const std::vector<FaultLine> all = lines_with(seed, wild());
    for (const FaultLine& gone : all) {
      std::vector<FaultLine> others = all;
      std::erase(others, gone);
      Edits edits = wild();
      edits.without = {gone.name};
      EXPECT_EQ(lines_with(seed, edits), others) << "seed " << seed << " without " << gone.name;
    }
  }
}

std::vector<FaultLine> lines_of_user_world(std::uint64_t seed, const Edits& edits) {
  UserWorld world = make_user_world(seed, {}, edits.is_wild).value();
  apply(edits, world);
  return world.lines();
}

std::vector<FaultLine> lines_of_app_world(std::uint64_t seed, const Edits& edits) {
  AppWorld world = make_app_world(seed, edits.is_wild);
  apply(edits, world);
  return world.lines();
}

std::vector<FaultLine> lines_of_program_world(std::uint64_t seed, const Edits& edits) {
  World world = make_world(seed, edits.is_wild);
  apply(edits, world);
  return world.faults.lines();
}

TEST(Edits, LeaveOutOneFaultOfAUsersWorldAndNoOther) {
  expect_that_faults_go_one_by_one(lines_of_user_world);
}

TEST(Edits, LeaveOutOneFaultOfAWorldOfActorsAndNoOther) {
  expect_that_faults_go_one_by_one(lines_of_app_world);
}

TEST(Edits, LeaveOutOneFaultOfAWorldOfProgramsAndNoOther) {
  expect_that_faults_go_one_by_one(lines_of_program_world);
}

TEST(Edits, KeepChosenFamiliesAlone) {
  std::size_t kept = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Edits edits = wild();
    edits.families = {"kill", "wire"};
    for (const FaultLine& line : lines_of_user_world(seed, edits)) {
      EXPECT_TRUE(line.family == "kill" || line.family == "wire") << line.name;
      ++kept;
    }
    edits.families->clear();
    EXPECT_TRUE(lines_of_user_world(seed, edits).empty());
  }
  EXPECT_GT(kept, kSeeds);
}

TEST(Edits, MoveAFaultToAnotherTimeAndLength) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    for (const FaultLine& line : lines_of_user_world(seed, wild())) {
      Edits edits = wild();
      if (line.at_ns > 0) edits.at_ns[line.name] = 12'000;
      if (line.for_ns > 0) edits.for_ns[line.name] = 34'000;
      const auto moved = lines_of_user_world(seed, edits);
      const auto found = std::find_if(moved.begin(), moved.end(), [&line](const FaultLine& other) {
        return other.name == line.name;
      });
      ASSERT_NE(found, moved.end());
      EXPECT_EQ(found->at_ns, line.at_ns > 0 ? 12'000u : 0u) << line.name;
      EXPECT_EQ(found->for_ns, line.for_ns > 0 ? 34'000u : 0u) << line.name;
    }
  }
}

TEST(Edits, MakeAWorldSmaller) {
  World world = make_world(5, true);
  Edits edits;
  edits.clients = edits.islands = edits.devices = 1;
  apply(edits, world);

  EXPECT_EQ(world.clients, 1u);
  EXPECT_EQ(world.cluster.islands, 1u);
  EXPECT_EQ(world.cluster.devices, 1u);
  for (const FaultLine& line : world.faults.lines()) {
    EXPECT_NE(line.name.find(" 0"), std::string::npos) << line.name;
  }
}

TEST(Edits, ThatAreEmptyChangeNothing) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    AppWorld world = make_app_world(seed);
    const std::string before = world.to_string();
    apply(Edits(), world);
    EXPECT_EQ(world.to_string(), before);
  }
  EXPECT_TRUE(Edits().is_empty());
  EXPECT_FALSE(with_choices(0).is_empty());
}

TEST(Edits, WithoutChoicesRunFirstInFirstOut) {
  const auto steps = [](std::optional<std::uint64_t> choices) {
    return run_seed(3, {.edits = with_choices(choices)}).hash;
  };

  EXPECT_EQ(steps(0), steps(0));
  EXPECT_NE(steps(0), steps(std::nullopt));
  EXPECT_EQ(steps(1'000'000'000), steps(std::nullopt));
}

}  // namespace
}  // namespace seaway::sim
