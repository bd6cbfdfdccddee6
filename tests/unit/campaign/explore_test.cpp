// Explorations: what a body does wrong in one world of many is found, shrunk and repeated.

#include "seaway/app/explore.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <string>

#include "campaign/shrinking.hpp"
#include "counter.hpp"
#include "sim/user_world.hpp"

namespace seaway::sim {
namespace {

using namespace std::chrono_literals;
using campaign::count_to_ten;
using campaign::Counter;
using campaign::one;

ExploreOptions seeds(std::uint64_t count) {
  return {.name = "counting", .seeds = count, .repro_directory = testing::TempDir()};
}
const auto counts_once = [](Simulation& world) { count_to_ten(world, true); };
const auto counts_twice = [](Simulation& world) { count_to_ten(world, false); };

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Explore, OfABodyThatIsRightIsClean) {
  const ExploreReport report = explore(seeds(100), {}, counts_once);

  EXPECT_TRUE(report.ok) << report.to_string();
  EXPECT_EQ(report.seeds, 100u);
  EXPECT_EQ(report.to_string(), "100 worlds, clean");
}

TEST(Explore, FindsAMistakeShrinksItToTheFaultThatItNeedsAndWritesItDown) {
  const ExploreReport report = explore(seeds(500), {}, counts_twice);

  ASSERT_FALSE(report.ok);
  EXPECT_EQ(report.invariant, "count");
  EXPECT_EQ(report.failed_seed, report.seeds);
  EXPECT_TRUE(has(report.text, "it counted to 11")) << report.text;
  EXPECT_TRUE(has(report.text, "shrunk from ")) << report.text;
  ASSERT_EQ(report.faults.size(), 1u) << report.to_string();
  EXPECT_TRUE(has(report.faults[0], "of host 1")) << report.faults[0];
  EXPECT_TRUE(has(report.to_string(), "--replay " + report.repro_path)) << report.to_string();
}

TEST(Explore, WritesAFileThatRepeatsTheFailure) {
  const ExploreReport report = explore(seeds(500), {}, counts_twice);

  const auto repro = campaign::read_repro(report.repro_path);
  ASSERT_TRUE(repro.ok()) << repro.status().to_string();
  const SeedReport again =
      run_user_seed(repro->seed, {}, counts_twice, {}, {.edits = repro->edits});

  EXPECT_EQ(repro->world, "counting");
  EXPECT_EQ(again.hash, repro->hash);
  ASSERT_FALSE(again.violations.empty());
  EXPECT_EQ(again.violations[0].invariant, "count");
}

TEST(Explore, OfTwoIdenticalOnesSaysTheSame) {
  ExploreOptions options = seeds(500);
  options.shrink_time = 0s;

  const ExploreReport first = explore(options, {}, counts_twice);
  const ExploreReport second = explore(options, {}, counts_twice);

  EXPECT_FALSE(first.ok);
  EXPECT_EQ(first.to_string(), second.to_string());
  EXPECT_EQ(first.repro_path, "");
}

TEST(Explore, BeginsWhereItIsToldTo) {
  ExploreOptions options = seeds(500);
  options.shrink_time = 0s;
  const ExploreReport all = explore(options, {}, counts_twice);
  options.first_seed = all.failed_seed;

  const ExploreReport one_seed = explore(options, {}, counts_twice);

  EXPECT_EQ(one_seed.failed_seed, all.failed_seed);
  EXPECT_EQ(one_seed.seeds, 1u);
}

TEST(Explore, NamesWhatABodyThrew) {
  const ExploreReport report =
      explore(seeds(5), {}, [](Simulation&) { throw std::runtime_error("there is no soup"); });

  EXPECT_EQ(report.invariant, "exception");
  EXPECT_EQ(report.failed_seed, 1u);
  EXPECT_TRUE(has(report.text, "there is no soup")) << report.text;
  EXPECT_TRUE(report.faults.empty()) << report.to_string();  // It needs none.
}

TEST(Explore, NamesWhatChecksThrew) {
  const ExploreReport report = explore(
      seeds(5), {}, [](Simulation&) {}, [](Explored&) { throw std::runtime_error("no spoon"); });

  EXPECT_EQ(report.invariant, "exception");
  EXPECT_TRUE(has(report.text, "no spoon")) << report.text;
}

TEST(Explore, FindsABodyThatNeverEnds) {
  const ExploreWorld world{.steps_max = 5'000};

  const ExploreReport report = explore(seeds(5), world, [](Simulation& simulation) {
    for (;;) simulation.sleep(1ms);
  });

  EXPECT_EQ(report.invariant, "hang");
  EXPECT_TRUE(has(report.text, "still busy after 5000 steps")) << report.text;
}

TEST(Explore, OutlivesABodyThatEndsTheProcess) {
  const ExploreReport report = explore(seeds(200), {}, [](Simulation& world) {
    if (world.random() % 8 != 0) return;
    std::fprintf(stderr, "this is the end\n");
    std::abort();
  });

  EXPECT_EQ(report.invariant, "crash");
  EXPECT_GT(report.seeds, 1u);
  EXPECT_TRUE(has(report.text, "Aborted (signal 6)")) << report.text;
  EXPECT_TRUE(has(report.text, "this is the end")) << report.text;
  EXPECT_TRUE(report.faults.empty()) << report.to_string();
  const auto repro = campaign::read_repro(report.repro_path);
  ASSERT_TRUE(repro.ok()) << repro.status().to_string();
  EXPECT_EQ(repro->failure.invariant, "crash");
}

TEST(Explore, IsNotHeldUpByWhatBodiesPrint) {
  const std::string line(1000, 'x');

  const ExploreReport report =
      explore(seeds(300), {}, [&line](Simulation&) { std::printf("%s\n", line.c_str()); });

  EXPECT_TRUE(report.ok) << report.to_string();
}

TEST(Explore, ShowsChecksTheEventsAndTheFaultsOfAWorld) {
  const auto runs_a_program = [](Simulation& simulation) {
    Client client = simulation.connect().value();
    Slice slice = client.acquire_slice({.devices = 1, .mesh = {{"x", 1}}}).value();
    NamedSharding whole(slice.mesh(), P("x"));
    Function twice = client.function("twice", [](Tensor x) { return x * 2; }, {f32({1})}).value();
    Program program =
        client.program("p", [&twice](Traced x) { return twice(x); }, {ArraySpec{f32({1}), whole}})
            .value();
    const auto run = program.execute({client.put<float>({21}, whole)});
    static_cast<void>(run.output(0).to_host<float>().get());
  };
  const auto counts_gangs = [](Explored& explored) {
    std::size_t gangs = 0;
    for (const WorldEvent& event : explored.events()) gangs += event.kind == "gang_start";
    explored.expect(gangs == 0, "no gangs", std::to_string(gangs) + " gangs have run");
    explored.expect(explored.faults().empty(), "no faults", "the second one does not count");
  };

  const ExploreReport report =
      explore(seeds(5), {.faults = WorldFaults::none()}, runs_a_program, counts_gangs);

  EXPECT_EQ(report.invariant, "no gangs");
  EXPECT_TRUE(has(report.text, "1 gangs have run")) << report.text;
  EXPECT_FALSE(has(report.text, "the second one")) << report.text;
}

TEST(Explore, StopsBehindTheWorldThatRunsWhenItsTimeIsOver) {
  ExploreOptions options = seeds(1'000'000'000);
  options.time_budget = 1ns;

  const ExploreReport report = explore(options, {}, [](Simulation&) {});

  EXPECT_TRUE(report.ok) << report.to_string();
  EXPECT_EQ(report.seeds, 1u);
}

TEST(Explore, OfWorldsThatCannotBeSaysWhy) {
  const auto why = [](const ExploreOptions& options, const ExploreWorld& world) {
    const ExploreReport report = explore(options, world, [](Simulation&) {});
    EXPECT_FALSE(report.ok);
    EXPECT_EQ(report.invariant, "setup");
    EXPECT_EQ(report.seeds, 0u);
    return report.to_string();
  };
  ExploreOptions too_many = seeds(2);
  too_many.first_seed = std::numeric_limits<std::uint64_t>::max();
  ExploreOptions hurried = seeds(2);
  hurried.time_budget = -1ns;

  EXPECT_TRUE(has(why(seeds(2), {.cluster = "embedded:isles=4"}), "setup: ")) << "no such option";
  EXPECT_TRUE(has(why(seeds(2), {.cluster = "embedded:isles=4"}), "isles"));
  EXPECT_TRUE(has(why(seeds(2), {.latency_min = 3ms, .latency_max = 2ms}),
                  "latency_min is 3000000 ns, latency_max 2000000 ns"));
  EXPECT_TRUE(has(why(too_many, {}), "there are no 2 seeds from 18446744073709551615 on"));
  EXPECT_TRUE(has(why(hurried, {}), "time_budget is -1 ns"));
}

TEST(Explore, SaysWhenAReproFileCannotBeWritten) {
  ExploreOptions options = seeds(500);
  options.repro_directory = "/nowhere";

  const ExploreReport report = explore(options, {}, counts_twice);

  EXPECT_EQ(report.invariant, "count");
  EXPECT_EQ(report.repro_path, "");
  EXPECT_TRUE(has(report.text, "cannot write /nowhere/repro-")) << report.text;
}

}  // namespace
}  // namespace seaway::sim
