// Faults of hosts: drawn, told, and done to a simulation until it is healed.

#include "sim/host_faults.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cluster/embedded.hpp"
#include "sim/simulation.hpp"

namespace seaway::sim {
namespace {

using namespace std::chrono_literals;
using Kind = HostFault::Kind;

/// What befell three hosts, as a body saw it each ms.
struct Watched {
  std::vector<std::string> begun;
  std::vector<std::string> failed;
  std::vector<bool> lives, pauses;  // Of host 1.
};

Watched watch(const std::vector<HostFault>& faults, std::uint32_t times,
              std::uint32_t heals_at = 1'000) {
  const SimulationOptions options{.cluster = "embedded:islands=3,devices=1"};
  const auto world =
      std::make_shared<SimulatedWorld>(options, cluster::parse_embedded(options.cluster).value());
  Watched watched;
  bool is_over = false;
  HostTester tester(*world, faults,
                    {[&] { return is_over; },
                     [&](const HostFault& fault) { watched.begun.push_back(fault.name()); },
                     [&](const Status& status) { watched.failed.push_back(status.to_string()); }});
  world->run([&](Simulation& simulation) {
    tester.spawn();
    for (std::uint32_t i = 0; i < times; ++i) {
      if (i == heals_at) {
        is_over = true;
        simulation.heal();
      }
      simulation.sleep(1ms);
      watched.lives.push_back(world->is_alive(1));
      watched.pauses.push_back(world->is_paused(1));
    }
    is_over = true;
  });
  return watched;
}

TEST(HostFaults, AreDrawnFromTheSeedAloneEachFromAStreamOfItsOwn) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    EXPECT_EQ(lines_of(draw_kills(seed, 4)), lines_of(draw_kills(seed, 4)));
    for (const auto& faults : {draw_kills(seed, 4), draw_pauses(seed, 4), draw_clocks(seed, 4)}) {
      ASSERT_FALSE(faults.empty());
      std::set<std::string> names;
      for (const HostFault& fault : faults) {
        EXPECT_LT(fault.host, 4u);
        EXPECT_LE(std::abs(fault.ahead_ns), kAheadMaxNs);
        names.insert(fault.name());
      }
      EXPECT_EQ(names.size(), faults.size());
    }
  }
  EXPECT_NE(lines_of(draw_kills(1, 4)), lines_of(draw_kills(2, 4)));
}

TEST(HostFaults, ThatAreLeftOutAreNotTold) {
  std::vector<HostFault> faults = draw_pauses(7, 4);
  const std::size_t all = lines_of(faults).size();
  faults.front().is_left_out = true;

  EXPECT_EQ(lines_of(faults).size(), all - 1);
}

TEST(HostTester, KillsAHostAndBringsItBack) {
  const Watched watched =
      watch({{.kind = Kind::kKill, .at_ns = 2'500'000, .host = 1, .for_ns = 3'000'000}}, 8);

  EXPECT_EQ(watched.begun, std::vector<std::string>{"host-kill#0"});
  EXPECT_EQ(watched.lives, (std::vector<bool>{true, true, false, false, false, true, true, true}));
  EXPECT_TRUE(watched.failed.empty());
}

TEST(HostTester, PausesAHostForATime) {
  const Watched watched =
      watch({{.kind = Kind::kPause, .at_ns = 1'500'000, .host = 1, .for_ns = 2'000'000}}, 5);

  EXPECT_EQ(watched.pauses, (std::vector<bool>{false, true, true, false, false}));
}

TEST(HostTester, LeavesTheLastHostAlive) {
  const Watched watched = watch({{.number = 0, .host = 0, .for_ns = 0},
                                 {.number = 1, .host = 2, .for_ns = 0},
                                 {.number = 2, .host = 1, .for_ns = 0}},
                                3);

  EXPECT_EQ(watched.begun, (std::vector<std::string>{"host-kill#0", "host-kill#1"}));
  EXPECT_EQ(watched.lives, (std::vector<bool>{true, true, true}));
}

TEST(HostTester, DoesTheOthersAtTheirTimesWhenOneIsLeftOut) {
  const std::vector<HostFault> faults = {
      {.number = 0, .at_ns = 1'500'000, .host = 1, .for_ns = 1'000'000, .is_left_out = true},
      {.number = 1, .at_ns = 4'500'000, .host = 1, .for_ns = 0}};

  EXPECT_EQ(watch(faults, 6).lives, (std::vector<bool>{true, true, true, true, false, false}));
}

TEST(HostTester, DoesNotBringBackWhomSomebodyElseHasKilled) {
  const SimulationOptions options{.cluster = "embedded:islands=3,devices=1"};
  const auto world =
      std::make_shared<SimulatedWorld>(options, cluster::parse_embedded(options.cluster).value());
  const std::vector<HostFault> faults = {{.at_ns = 1'000'000, .host = 1, .for_ns = 1'000}};
  HostTester tester(*world, faults,
                    {[] { return false; }, [](const HostFault&) {}, [](const Status&) {}});

  world->run([&](Simulation& simulation) {
    tester.spawn();
    EXPECT_TRUE(simulation.kill_host(1).ok());
    simulation.sleep(5ms);
    EXPECT_FALSE(world->is_alive(1));
  });
}

TEST(HostTester, DoesNothingMoreOnceItIsOver) {
  const std::vector<HostFault> faults = {{.at_ns = 1'500'000, .host = 1, .for_ns = 0},
                                         {.number = 1, .at_ns = 5'500'000, .host = 1}};

  const Watched watched = watch(faults, 8, 3);

  EXPECT_EQ(watched.begun, std::vector<std::string>{"host-kill#0"});
  EXPECT_EQ(watched.lives, (std::vector<bool>{true, false, false, true, true, true, true, true}));
}

TEST(HostTester, LeavesAHostAloneThatSomebodyElseHasPaused) {
  const std::vector<HostFault> faults = {
      {.kind = Kind::kPause, .at_ns = 1'000'000, .host = 1, .for_ns = 4'000'000}};
  const SimulationOptions options{.cluster = "embedded:islands=3,devices=1"};
  const auto world =
      std::make_shared<SimulatedWorld>(options, cluster::parse_embedded(options.cluster).value());
  std::vector<std::string> failed;
  HostTester tester(*world, faults,
                    {[] { return false; }, [](const HostFault&) {},
                     [&](const Status& status) { failed.push_back(status.to_string()); }});

  world->run([&](Simulation& simulation) {
    tester.spawn();
    EXPECT_TRUE(simulation.pause_host(1).ok());
    simulation.sleep(2ms);
    EXPECT_TRUE(world->is_paused(1));
    EXPECT_TRUE(simulation.resume_host(1).ok());
  });

  EXPECT_EQ(failed, std::vector<std::string>());
}

}  // namespace
}  // namespace seaway::sim
