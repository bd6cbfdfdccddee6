// Small worlds walked in all orders: that right code is clean in all of them, and that a promise
// which is not kept is found, with the story of it.

#include <gtest/gtest.h>

#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "sim/exhaustive/call_world.hpp"
#include "sim/exhaustive/conversation_world.hpp"
#include "sim/exhaustive/island_world.hpp"
#include "sim/exhaustive/small_worlds.hpp"
#include "unit/sanitized.hpp"

namespace seaway::exhaustive {
namespace {

/// Counts two counters up to 2, each in its own steps. `is_wrong`: not the state 2, 1.
struct Counters {
  struct Move {
    int which = 0;
  };
  std::string setting() const { return "two counters\n"; }
  void moves(std::vector<Move>& out) const {
    for (int which = 0; which < 2; ++which)
      if (counts[which] < 2 && !(is_stuck_at_1 && counts[which] == 1)) out.push_back({which});
    if (may_go_back && counts[0] == 2) out.push_back({2});
  }
  void take(const Move& move) {
    if (move.which == 2) {
      counts[0] = 0;
    } else {
      ++counts[move.which];
    }
  }
  std::string violation() const {
    return is_wrong && counts[0] == 2 && counts[1] == 1 ? "two and one" : "";
  }
  bool is_done() const { return counts[0] == 2 && counts[1] == 2; }
  std::uint64_t hash() const { return static_cast<std::uint64_t>(counts[0] * 3 + counts[1]); }
  static bool is_fault(const Move&) { return false; }
  static std::string describe(const Move& move) { return "count " + std::to_string(move.which); }
  std::string to_string() const {
    return std::to_string(counts[0]) + " and " + std::to_string(counts[1]) + "\n";
  }

  int counts[2] = {0, 0};
  bool is_wrong = false, is_stuck_at_1 = false, may_go_back = false;
};

TEST(Explore, EntersEachStateOnceAndTriesEachMove) {
  const Exploration found = explore(Counters());

  EXPECT_EQ(found.states, 9u);
  EXPECT_EQ(found.moves, 12u);
  EXPECT_EQ(found.deepest, 4u);
  EXPECT_EQ(found.ends, 1u);
  EXPECT_TRUE(found.complete);
  EXPECT_EQ(found.failure, "");
}

TEST(Explore, TellsTheShortestStoryOfAViolation) {
  Counters counters;
  counters.is_wrong = true;

  EXPECT_EQ(explore(counters).failure,
            "two counters\n  1. count 0\n  2. count 0\n  3. count 1\nVIOLATION: two and one\n"
            "2 and 1\n");
}

TEST(Explore, FindsStatesThatAreNoEndAndHaveNoMove) {
  Counters counters;
  counters.is_stuck_at_1 = true;

  EXPECT_EQ(explore(counters).failure,
            "two counters\n  1. count 0\n  2. count 1\nDEADLOCK\n1 and 1\n");
}

TEST(Explore, FindsWhatMayGoOnForEver) {
  Counters counters;
  counters.may_go_back = true;

  EXPECT_NE(explore(counters).failure.find("CIRCLE"), std::string::npos);
}

TEST(Explore, SaysThatItWasCutShort) {
  const Exploration found = explore(Counters(), {4});

  EXPECT_FALSE(found.complete);
  EXPECT_EQ(found.states, 4u);
}

/// Complete and clean within a test's time.
void expect_clean(const std::string& kind, const std::string& name, const Exploration& found) {
  std::printf("%s %s: %llu states, %llu faults\n", kind.c_str(), name.c_str(),
              static_cast<unsigned long long>(found.states),
              static_cast<unsigned long long>(found.faults));
  EXPECT_TRUE(found.complete) << name;
  EXPECT_EQ(found.failure, "") << name;
  EXPECT_GT(found.ends, 0u) << name;
}

void expect_failure(const Exploration& found, const std::string& what) {
  EXPECT_NE(found.failure.find(what), std::string::npos) << found.failure;
}

TEST(ConversationWorlds, AreCleanInAllOrders) {
  for (const ConversationSpec& spec :
       {ConversationSpec{.cuts_max = 2}, ConversationSpec{.cuts_max = 1, .repeats_max = 1},
        ConversationSpec{.cuts_max = 1, .lives_max = 1}, ConversationSpec{.silences_max = 1},
        ConversationSpec{.frames = 1, .lives_max = 1, .silences_max = 1, .has_attempts = true},
        ConversationSpec{.frames = 1, .payloads = 1, .cuts_max = 1},
        ConversationSpec{.frames = 0, .payloads = 1, .cuts_max = 1, .repeats_max = 1},
        ConversationSpec{.frames = 1, .payloads = 1, .lives_max = 1}}) {
    const ConversationWorld world(spec);
    expect_clean("conversation:", world.setting(), explore(world));
  }
}

TEST(ConversationWorlds, FailWhereABreakIsForgotten) {
  ConversationSpec spec{.cuts_max = 1};
  spec.weakening = ConversationSpec::Weakening::kForgetsOnBreak;

  expect_failure(explore(ConversationWorld(spec)), "breaks");
}

TEST(ConversationWorlds, FailWhereANewLifeHasTheNumberOfTheLastOne) {
  ConversationSpec spec{.lives_max = 1};
  spec.weakening = ConversationSpec::Weakening::kLifeHasNoEpoch;

  expect_failure(explore(ConversationWorld(spec)), "begins a new life");
}

TEST(HostWorlds, AreCleanInAllOrders) {
  expect_clean("host:", "spilling", explore(HostWorld(spilling_host())));
  expect_clean("host:", "sharing", explore(HostWorld(sharing_host())));
  HostSpec spec = sharing_host();
  spec.schedulers_lost_max = 1;
  expect_clean("host:", "sharing, another scheduler", explore(HostWorld(spec)));
}

TEST(HostWorlds, AreStuckWhereNobodyHearsOfSpills) {
  HostSpec spec = spilling_host();
  spec.weakening = HostSpec::Weakening::kNoWordOfSpills;

  expect_failure(explore(HostWorld(spec)), "DEADLOCK");
}

TEST(HostWorlds, FailWhereAGangIsSkipped) {
  HostSpec spec = sharing_host();
  spec.weakening = HostSpec::Weakening::kSkippedGang;

  expect_failure(explore(HostWorld(spec)), "VIOLATION");
}

TEST(CallWorlds, AreCleanInAllOrders) {
  for (const SmallWorld& world : call_worlds())
    if (world.name == "calls" || world.name == "calls-cancel" || world.name == "calls-member")
      expect_clean("calls:", world.name, world.explore({}));
}

TEST(CallWorlds, FailWhereTheNetworkBringsThingsTwice) {
  CallSpec spec;
  spec.calls = {{.member = 0}};
  spec.weakening = CallSpec::Weakening::kTwice;

  expect_failure(explore(CallWorld(spec)), "VIOLATION: member 0 handles request 1 twice");
}

TEST(CallWorlds, AreStuckWhereNobodyHearsOfADeath) {
  CallSpec spec;
  spec.calls = {{.member = 0}};
  spec.host_kills_max = 1;
  spec.weakening = CallSpec::Weakening::kDeathUntold;

  expect_failure(explore(CallWorld(spec)), "host 0 dies");
}

TEST(IslandWorlds, AreStuckWhereANewSchedulerIsNotToldWhatExists) {
  std::uint64_t seed = 0;
  Exploration found;
  while (found.failure.empty() && ++seed < 500) {
    IslandSpec spec = make_island_world(seed, Weakening::kNone, HostWeakening::kNothingSaidAgain);
    spec.schedulers_lost_max = 1;
    spec.cancels = kRuns;
    found = explore(spec, 20'000);
  }

  expect_failure(found, "another one begins");
  expect_failure(found, "DEADLOCK");
}

/// So they do while all is said again: worlds from seeds, whose schedulers are lost anywhere.
TEST(IslandWorlds, FromSeedsAreCleanWhateverIsLost) {
  std::uint64_t states = 0;
  const std::uint64_t worlds = fewer_if_sanitized(300);
  for (std::uint64_t seed = 1; seed <= worlds; ++seed) {
    IslandSpec spec = make_island_world(seed, Weakening::kNone, HostWeakening::kNone);
    (seed % 2 == 0 ? spec.schedulers_lost_max : spec.devices_lost_max) = 1;
    const Exploration found = explore(spec, 3'000);
    ASSERT_EQ(found.failure, "") << "seed " << seed;
    states += found.states;
  }
  std::printf("%llu worlds from seeds: %llu states\n", static_cast<unsigned long long>(worlds),
              static_cast<unsigned long long>(states));
}

TEST(IslandWorlds, AreCleanInAllOrdersWhateverIsLost) {
  for (const SmallWorld& world : island_worlds()) {
    if (world.name.find("overtaking") == std::string::npos &&
        world.name.find("spilling") == std::string::npos) {
      continue;
    }
    expect_clean("islands:", world.name, world.explore({}));
    if (kIsSanitized) break;
  }
}

TEST(SmallWorlds, HaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (const SmallWorld& world : small_worlds()) EXPECT_TRUE(names.insert(world.name).second);

  EXPECT_GE(names.size(), 20u);
}

}  // namespace
}  // namespace seaway::exhaustive
