// Planted bugs: each has a name of its own, and the worlds of seeds find them.

#include "sim/mutants.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/chaos.hpp"

namespace seaway::sim {
namespace {

/// Whole steps of protocols that are left out; what else can be wrong is `./dev mutate`'s.
constexpr std::size_t kMutantsMax = 40;
/// One that each world finds, nearly, and the most it may take.
constexpr const char* kObvious = "an array that goes stays on its island";
constexpr std::uint64_t kSeedsMax = 100;

void ignore(const MutantTry&) {}

/// `mutant` is on while it lives.
struct Planted {
  explicit Planted(const Mutant& mutant) { switch_mutant(mutant.name); }
  ~Planted() { switch_mutant(""); }
};

TEST(Mutants, HaveNamesOfTheirOwnAndPlacesInRooms) {
  std::set<std::string_view> names;
  std::set<std::string> places;

  for (const Mutant* mutant : mutants()) {
    names.insert(mutant->name);
    places.insert(place_of(*mutant));
    EXPECT_TRUE(place_of(*mutant).starts_with("src/")) << place_of(*mutant);
    EXPECT_FALSE(mutant->is_on) << mutant->name;
  }

  EXPECT_EQ(names.size(), mutants().size());
  EXPECT_EQ(places.size(), mutants().size()) << "several on one line";
  EXPECT_LE(names.size(), kMutantsMax);
  EXPECT_GE(names.size(), kMutantsMax / 2);
}

TEST(Mutants, AreLookedForInWorldsThatHaveTheirCode) {
  const Mutant of_apps{"x", "../src/app/silo.cpp", 1};
  const Mutant of_schedulers{"x", "../src/island/order.cpp", 1};
  const Mutant of_connections{"x", "../src/transport/conversation.cpp", 1};
  const Mutant of_peers{"x", "../src/cluster/peers.cpp", 1};
  const auto worlds_of = [](const Mutant& mutant) {
    std::string text;
    for (const WorldKind kind : {WorldKind::kPrograms, WorldKind::kApps, WorldKind::kProcesses}) {
      if (may_reach(mutant, kind)) text += std::string(to_string(kind)) + " ";
    }
    return text;
  };

  EXPECT_EQ(worlds_of(of_apps), "apps ");
  EXPECT_EQ(worlds_of(of_schedulers), "programs processes ");
  EXPECT_EQ(worlds_of(of_connections), "programs apps processes ");
  EXPECT_EQ(worlds_of(of_peers), "processes ");
  EXPECT_EQ(place_of(of_apps), "src/app/silo.cpp:1");
}

TEST(Mutants, AreListedWithTheirPlaces) {
  const std::string list = "\n" + mutant_list();

  for (const Mutant* mutant : mutants()) {
    EXPECT_NE(list.find("\n" + std::string(mutant->name) + " "), std::string::npos) << mutant->name;
    EXPECT_NE(list.find(" " + place_of(*mutant) + "\n"), std::string::npos) << mutant->name;
  }
}

TEST(Mutants, AreFoundByASeedThatFailsAgain) {
  const Mutant* const mutant = find_mutant(kObvious);
  ASSERT_NE(mutant, nullptr);
  std::vector<std::uint64_t> tried;

  const auto find =
      hunt(*mutant, 1, kSeedsMax, [&tried](const MutantTry& at) { tried.push_back(at.seed); });

  ASSERT_TRUE(find.has_value());
  EXPECT_EQ(find->exit_code, kChaosCorrectness);
  EXPECT_EQ(find->at.seed, tried.back());
  EXPECT_EQ(find->at.worlds, tried.size());
  const ChaosOptions options{.kind = WorldKind::kMixed, .replay = true};
  const Planted planted(*mutant);
  const SeedReport again = report_one(find->at.seed, options);
  ASSERT_EQ(again.breach, Breach::kCorrectness);
  EXPECT_EQ(again.violations.front().invariant, find->why);
  EXPECT_EQ(again.kind, find->at.kind);
}

TEST(Mutants, AreOffAfterAHunt) {
  const Mutant* const mutant = find_mutant(kObvious);
  ASSERT_NE(mutant, nullptr);
  const ChaosOptions options{.kind = WorldKind::kMixed};
  const auto find = hunt(*mutant, 1, kSeedsMax, ignore);
  ASSERT_TRUE(find.has_value());

  const SeedReport first = report_one(find->at.seed, options);
  const SeedReport second = report_one(find->at.seed, options);

  EXPECT_EQ(first.breach, Breach::kNone);
  EXPECT_EQ(first.hash, second.hash);
}

TEST(Mutants, ThatAreNotFoundAreNamedLast) {
  const Mutant stubborn{"one", "src/a/b.cpp", 1}, obvious{"two", "src/c/d.cpp", 2};
  const MutantFind find{{7, WorldKind::kApps, 3}, kChaosLiveness, "AP-1"};

  const std::string table = mutant_table({{&stubborn, std::nullopt}, {&obvious, find}});

  EXPECT_LT(table.find("two"), table.find("one"));
  EXPECT_NE(table.find("3      7  apps        128  AP-1\n"), std::string::npos) << table;
  EXPECT_NE(table.find("src/a/b.cpp:1                           never found\n"), std::string::npos)
      << table;
  EXPECT_NE(table.find("found: 1 of 2, in 3 worlds (median), 3 at most\n"), std::string::npos)
      << table;
}

TEST(Mutants, AreAlsoToldInJson) {
  const Mutant mutant{"a \"bug\"", "src/a/b.cpp", 1};
  const MutantFind find{{7, WorldKind::kApps, 3}, kChaosLiveness, "AP-1"};

  EXPECT_EQ(to_json({&mutant, find}),
            "{\"mutant\":\"a \\\"bug\\\"\",\"place\":\"src/a/b.cpp:1\",\"found\":true,\"worlds\":3,"
            "\"seed\":7,\"kind\":\"apps\",\"exit_code\":128,\"broken\":\"AP-1\"}");
  EXPECT_EQ(to_json({&mutant, std::nullopt}),
            "{\"mutant\":\"a \\\"bug\\\"\",\"place\":\"src/a/b.cpp:1\",\"found\":false}");
}

}  // namespace
}  // namespace seaway::sim
