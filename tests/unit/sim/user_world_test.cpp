// Worlds of users' bodies: what goes wrong in them, what is switched off, and what healing ends.

#include "sim/user_world.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <string>

#include "messages.capnp.h"
#include "seaway/app.hpp"

namespace seaway::sim {
namespace {

using namespace std::chrono_literals;
using app_test::Add;
using app_test::Total;

constexpr std::uint64_t kSeeds = 60;

/// The families of all faults of so many worlds.
std::set<std::string> families(const WorldFaults& faults) {
  std::set<std::string> families;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    for (const FaultLine& line : make_user_world(seed, {.faults = faults}).value().lines()) {
      families.emplace(line.family);
    }
  }
  return families;
}

class Echo {
 public:
  static void describe(ActorType<Echo>& type) { type.on(&Echo::add); }
  explicit Echo(Self) {}
  Reply<Total> add(Request<Add> request) {
    return make<Total>([&](Total::Builder m) { m.setTotal(request->getAmount()); });
  }
};

TEST(UserWorlds, HaveTheKindsOfFaultsThatAreSwitchedOn) {
  using Families = std::set<std::string>;
  WorldFaults none = WorldFaults::none();
  const auto with = [&none](bool WorldFaults::*kind) {
    WorldFaults faults = none;
    faults.*kind = true;
    return faults;
  };

  EXPECT_EQ(families({}), (Families{"kill", "pause", "clock", "wire", "device", "hbm"}));
  EXPECT_EQ(families(none), Families{});
  EXPECT_EQ(families(with(&WorldFaults::kills)), Families{"kill"});
  EXPECT_EQ(families(with(&WorldFaults::pauses)), Families{"pause"});
  EXPECT_EQ(families(with(&WorldFaults::clocks)), Families{"clock"});
  EXPECT_EQ(families(with(&WorldFaults::wires)), Families{"wire"});
  EXPECT_EQ(families(with(&WorldFaults::devices)), (Families{"device", "hbm"}));
}

TEST(UserWorlds, KeepTheOtherFaultsWhenOneKindIsSwitchedOff) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    std::vector<FaultLine> all = make_user_world(seed, {}).value().lines();
    const auto calm = make_user_world(seed, {.faults = {.kills = false}});
    std::erase_if(all, [](const FaultLine& line) { return line.family == "kill"; });

    EXPECT_EQ(calm.value().lines(), all) << seed;
  }
}

TEST(UserWorlds, BeginTheirFaultsWithinTheTimeForThem) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const auto world = make_user_world(seed, {.fault_time = 5ms}, true).value();
    ASSERT_FALSE(world.host_faults.empty());
    for (const FaultLine& line : world.lines()) EXPECT_LE(line.at_ns, 5'000'000u) << line.text;
  }
}

TEST(UserWorlds, OfOneHostHaveNoKills) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const auto world = make_user_world(seed, {.cluster = "embedded:islands=1,devices=1"}, true);
    for (const FaultLine& line : world.value().lines()) EXPECT_NE(line.family, "kill");
  }
}

TEST(UserWorlds, RepeatThemselvesStepByStep) {
  const UserBody asks_once = [](Simulation& simulation) {
    Client client = simulation.connect().value();
    auto echoes = client.spawn<Echo>(client.hosts());
    if (echoes.ok()) static_cast<void>(echoes->call(&Echo::add).get());
  };

  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const SeedReport first = run_user_seed(seed, {}, asks_once, {});
    const SeedReport second = run_user_seed(seed, {}, asks_once, {});
    EXPECT_EQ(first.breach, Breach::kNone) << first.violations.front().text;
    EXPECT_EQ(first.hash, second.hash);
  }
}

TEST(UserWorlds, NameTheLineThatSaysWhatDoesNotHold) {
  int line = 0;
  const UserBody body_says = [&line](Simulation& simulation) {
    line = __LINE__ + 1;
    simulation.expect(false, "balance", "it is wrong");
  };
  const SeedReport of_body = run_user_seed(1, {}, body_says, {});
  ASSERT_EQ(of_body.violations.size(), 1u);
  EXPECT_EQ(of_body.violations[0].place, "user_world_test.cpp:" + std::to_string(line));

  const UserChecks check_says = [&line](Explored& explored) {
    line = __LINE__ + 1;
    explored.expect(false, "balance", "it is wrong");
  };
  const SeedReport of_check = run_user_seed(
      1, {}, [](Simulation&) {}, check_says);
  ASSERT_EQ(of_check.violations.size(), 1u);
  EXPECT_EQ(of_check.violations[0].place, "user_world_test.cpp:" + std::to_string(line));
}

TEST(UserWorlds, AreHealedForGood) {
  std::uint64_t lost = 0;
  const UserBody heals = [&lost](Simulation& simulation) {
    Client client = simulation.connect().value();
    auto echoes =
        client.spawn<Echo>(SpawnOptions(client.hosts()).intensity({.restarts_max = 1000}));
    simulation.sleep(20ms);
    simulation.heal();
    if (!echoes.ok()) return;
    // Those who died are back within a pause of their restart, and conversations go on.
    for (int i = 0; i < 4; ++i) {
      static_cast<void>(echoes->at(i).call(&Echo::add, CallOptions{.retries = 50}).get());
    }
    for (int i = 0; i < 100; ++i) {
      for (const auto& total : echoes->call(&Echo::add).get()) lost += !total.ok();
      simulation.sleep(1ms);
    }
  };

  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SeedOptions wild;
    wild.edits.is_wild = true;
    const SeedReport report = run_user_seed(seed, {.fault_time = 100ms}, heals, {}, wild);
    EXPECT_EQ(report.breach, Breach::kNone) << report.violations.front().text;
  }
  EXPECT_EQ(lost, 0u);
}

TEST(UserWorlds, LoseNoDeviceOnceTheyAreHealed) {
  std::uint64_t lost = 0;
  const UserChecks counts = [&lost](Explored& explored) {
    // Healed is a world from the first step of its body on.
    for (const WorldEvent& event : explored.events()) {
      lost += event.kind == "device_lost" && event.time > 1ms;
    }
  };
  const auto lost_when = [&](bool heals) {
    lost = 0;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      run_user_seed(
          seed, {},
          [heals](Simulation& simulation) {
            Client client = simulation.connect().value();
            if (heals) simulation.heal();
            simulation.sleep(1s);
          },
          counts);
    }
    return lost;
  };

  EXPECT_GT(lost_when(false), 0u);
  EXPECT_EQ(lost_when(true), 0u);
}

TEST(UserWorlds, DoWithoutWhatEditsLeaveOut) {
  const auto drawn = make_user_world(3, {}, true).value();
  Edits edits;
  edits.is_wild = true;
  for (const FaultLine& line : drawn.lines()) edits.without.insert(line.name);
  const std::string kept = *edits.without.begin();
  edits.without.erase(kept);

  const SeedReport report = run_user_seed(3, {}, [](Simulation&) {}, {}, {.edits = edits});

  ASSERT_EQ(report.faults.size(), 1u);
  EXPECT_EQ(report.faults[0].name, kept);
}

}  // namespace
}  // namespace seaway::sim
