// Shrinking: of worlds that are only a predicate over edits, the least is found.

#include "sim/shrink.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace seaway::sim {
namespace {

/// A world of ten faults, three clients with eight actions each, and two islands of two devices.
struct Synthetic {
  std::function<bool(const Edits& edits)> fails;
  std::uint32_t tries = 0;

  FailedWorld world_of(const Edits& edits) const {
    FailedWorld world;
    for (int i = 0; i < 10; ++i) {
      FaultLine fault{"fault#" + std::to_string(i), "kill", "", 23'456'789, 0};
      const auto moved = edits.at_ns.find(fault.name);
      if (moved != edits.at_ns.end()) fault.at_ns = moved->second;
      if (edits.has(fault)) world.faults.push_back(fault);
    }
    world.clients = std::min(edits.clients.value_or(3), 3u);
    world.actions = 8;
    world.islands = std::min(edits.islands.value_or(2), 2u);
    world.devices = std::min(edits.devices.value_or(2), 2u);
    world.steps = 1'000;
    return world;
  }
  std::optional<Shrunk> shrink(std::uint32_t tries_max = 10'000) {
    const TryEdits try_edits = [this](const Edits& edits) -> std::optional<FailedWorld> {
      ++tries;
      if (!fails(edits)) return std::nullopt;
      return world_of(edits);
    };
    return sim::shrink({}, try_edits, [this, tries_max] { return tries < tries_max; });
  }
};

std::vector<std::string> names(const FailedWorld& world) {
  std::vector<std::string> names;
  for (const FaultLine& fault : world.faults) names.push_back(fault.name);
  return names;
}
bool has(const Edits& edits, int fault) {
  return !edits.without.contains("fault#" + std::to_string(fault));
}

TEST(Shrink, FindsTheOneFaultThatMatters) {
  Synthetic synthetic{[](const Edits& edits) { return has(edits, 7); }};

  const auto shrunk = synthetic.shrink();

  ASSERT_TRUE(shrunk);
  EXPECT_EQ(names(shrunk->after), std::vector<std::string>{"fault#7"});
  EXPECT_EQ(shrunk->before.faults.size(), 10u);
  EXPECT_TRUE(shrunk->is_finished);
  EXPECT_EQ(shrunk->tries, synthetic.tries);
}

TEST(Shrink, FindsFaultsThatOnlyMatterTogether) {
  Synthetic synthetic{[](const Edits& edits) { return has(edits, 1) && has(edits, 8); }};

  EXPECT_EQ(names(synthetic.shrink()->after), (std::vector<std::string>{"fault#1", "fault#8"}));
}

TEST(Shrink, LeavesNoFaultToAMistakeThatNeedsNone) {
  Synthetic synthetic{[](const Edits&) { return true; }};

  const auto shrunk = synthetic.shrink();

  EXPECT_TRUE(shrunk->after.faults.empty());
  EXPECT_EQ(shrunk->after.clients, 1u);
  EXPECT_EQ(shrunk->after.islands, 1u);
  EXPECT_EQ(shrunk->after.devices, 1u);
  EXPECT_EQ(shrunk->edits.choices, 0u);
}

TEST(Shrink, FindsTheTwoActionsThatMatter) {
  Synthetic synthetic{[](const Edits& edits) {
    return !edits.skips(0, 3) && !edits.skips(1, 6) && edits.clients.value_or(3) >= 2;
  }};

  const auto shrunk = synthetic.shrink();

  ASSERT_TRUE(shrunk);
  EXPECT_EQ(shrunk->after.clients, 2u);
  EXPECT_EQ(shrunk->edits.skipped.size(), 2u * 8u - 2u);
  EXPECT_FALSE(shrunk->edits.skips(0, 3));
  EXPECT_FALSE(shrunk->edits.skips(1, 6));
}

TEST(Shrink, MovesTimesToRoundOnesWhereTheyDoNotMatter) {
  Synthetic synthetic{[](const Edits& edits) {
    const auto moved = edits.at_ns.find("fault#2");
    return has(edits, 1) && has(edits, 2) && moved == edits.at_ns.end();
  }};

  const auto shrunk = synthetic.shrink();

  ASSERT_EQ(shrunk->after.faults.size(), 2u);
  EXPECT_EQ(shrunk->after.faults[0].at_ns, 20'000'000u);
  EXPECT_EQ(shrunk->after.faults[1].at_ns, 23'456'789u);
}

TEST(Shrink, EndsTheChoicesWhereTheFailureStillIs) {
  Synthetic synthetic{[](const Edits& edits) { return edits.choices.value_or(1'000) >= 300; }};

  EXPECT_EQ(synthetic.shrink()->edits.choices, 300u);
}

TEST(Shrink, StopsWhenThereIsNoTimeAndSaysSo) {
  Synthetic synthetic{[](const Edits& edits) { return has(edits, 7); }};

  const auto shrunk = synthetic.shrink(5);

  ASSERT_TRUE(shrunk);
  EXPECT_EQ(synthetic.tries, 5u);
  EXPECT_FALSE(shrunk->is_finished);
  EXPECT_TRUE(has(shrunk->edits, 7));
  EXPECT_LT(shrunk->after.faults.size(), 10u);
}

TEST(Shrink, OfAWorldThatDoesNotFailIsNothing) {
  Synthetic synthetic{[](const Edits&) { return false; }};

  EXPECT_FALSE(synthetic.shrink());
  EXPECT_EQ(synthetic.tries, 1u);
}

}  // namespace
}  // namespace seaway::sim
