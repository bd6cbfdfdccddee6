// What docs/test-under-faults.md says: a test under faults, what it finds, and how checks are
// written.

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <seaway/app/explore.hpp>
#include <string>

#include "till.hpp"

namespace shelves {
namespace {

using namespace seaway;
using namespace std::chrono_literals;

// [test]
/// Pays five times, one cent each, and is told what was counted.
void pay_five_times(Simulation& world, const CallOptions& options) {
  Client client = world.connect().value();
  const auto tills = client.spawn<Till>(client.hosts());
  if (!tills.ok()) return;  // Who is told that it cannot be has no reason to complain.
  for (std::uint64_t cents = 1; cents <= 5; ++cents) {
    const auto paid = tills->at(2)
                          .call(
                              &Till::pay, [](Pay::Builder m) { m.setCents(1); }, options)
                          .get();
    if (!paid.ok()) return;
    world.expect((*paid)->getCents() == cents, "each payment counts once",
                 std::to_string((*paid)->getCents()) + " cents after " + std::to_string(cents));
  }
}

TEST(Till, CountsEachPaymentOnceWhateverGoesWrong) {
  const auto report = sim::explore({.name = "payments", .seeds = 300}, {}, [](Simulation& world) {
    pay_five_times(world, {.retries = 50, .once = true});
  });
  EXPECT_TRUE(report.ok) << report.to_string();
}
// [/test]

TEST(FaultsInTheGuide, AreFoundShrunkAndWrittenDown) {
  const auto report =
      sim::explore({.name = "payments", .seeds = 2000, .repro_directory = testing::TempDir()}, {},
                   [](Simulation& world) { pay_five_times(world, {.retries = 50}); });

  ASSERT_FALSE(report.ok);
  EXPECT_EQ(report.invariant, "each payment counts once");
  ASSERT_EQ(report.faults.size(), 1u) << report.to_string();
  EXPECT_NE(report.faults[0].find("of host 2"), std::string::npos) << report.to_string();
  EXPECT_NE(report.repro_path, "");
  // The page has this text.
  EXPECT_NE(report.to_string().find("  each payment counts once broken: "), std::string::npos);
  EXPECT_NE(report.to_string().find("\nshrunk from "), std::string::npos);
  EXPECT_NE(report.to_string().find("  replay: seaway chaos user PROGRAM --replay "),
            std::string::npos);
}

TEST(FaultsInTheGuide, AreHealedBeforeStateIsLookedAt) {
  // [heal]
  const auto body = [](Simulation& world) {
    Client client = world.connect().value();
    const auto tills = client.spawn<Till>(client.hosts());
    if (!tills.ok()) return;
    std::uint64_t paid = 0;
    for (std::size_t i = 0; i < 8; ++i) {
      const auto answer = tills->at(i % 4).call(
          &Till::pay, [](Pay::Builder m) { m.setCents(1); },
          CallOptions{.retries = 50, .once = true});
      if (!answer.get().ok()) return;
      ++paid;
    }
    world.heal();  // From here on nothing fails: all hosts live, clocks are right.
    std::uint64_t counted = 0;
    for (const auto& till : tills->call(&Till::pay, CallOptions{.retries = 50}).get()) {
      if (!till.ok()) return;  // The mesh died too often, and was given up.
      counted += (*till)->getCents();
    }
    world.expect(counted == paid, "nothing is lost",
                 std::to_string(counted) + " of " + std::to_string(paid) + " cents are left");
  };
  // [/heal]

  const auto report = sim::explore({.name = "state", .seeds = 200}, {}, body);

  EXPECT_TRUE(report.ok) << report.to_string();
}

TEST(FaultsInTheGuide, AreInTheEventsOfAWorld) {
  const auto body = [](Simulation& world) {
    Client client = world.connect().value();
    const auto slice = client.acquire_slice({.mesh = {{"x", 1}}});
    const auto twice = client.function("twice", [](Tensor x) { return x * 2.0; }, {f32({1})});
    if (!slice.ok() || !twice.ok()) return;
    const NamedSharding whole(slice->mesh(), P("x"));
    const auto program = client.program("p", [&](const Traced& x) { return (*twice)(x); },
                                        {ArraySpec{f32({1}), whole}});
    if (!program.ok()) return;
    for (int i = 0; i < 10; ++i) {
      const auto run = program->execute({client.put<float>({1}, whole)});
      static_cast<void>(run.output(0).to_host<float>().get());
      world.sleep(10ms);
    }
  };
  // [checks]
  const auto checks = [](sim::Explored& world) {
    std::size_t lost = 0, reruns = 0;
    for (const sim::WorldEvent& event : world.events()) {
      lost += event.kind == "device_lost";
      reruns += event.kind == "rerun";
    }
    world.expect(reruns == 0 || lost > 0, "runs are repeated for a reason",
                 std::to_string(reruns) + " runs were run again, and no device was lost");
  };
  const sim::ExploreWorld devices_alone{
      .cluster = "embedded:islands=2,devices=2",
      .faults = {.kills = false, .pauses = false, .clocks = false, .wires = false}};
  const auto report = sim::explore({.name = "reruns", .seeds = 200}, devices_alone, body, checks);
  // [/checks]

  EXPECT_TRUE(report.ok) << report.to_string();
}

}  // namespace
}  // namespace shelves
