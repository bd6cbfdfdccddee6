// What a session has defined is released with its last handle, once, behind all that names it.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "fake_controller.hpp"

namespace seaway::client {
namespace {

bool has(const std::vector<std::uint64_t>& ids, std::uint64_t id) {
  return std::ranges::count(ids, id) == 1;
}

TEST(Definitions, OfAProgramAndItsFunctionGoWithTheLastHandle) {
  DoublingWorld world;
  const std::uint64_t program = world.program.id(), function = world.twice.id();
  Program copy = world.program;

  world.program = Program();
  world.twice = Function();
  ASSERT_EQ(world.client.drain(), Status());
  EXPECT_TRUE(world.controller->heard().forgets.empty());
  copy = Program();

  EXPECT_TRUE(world.hears([&](const Heard& heard) { return heard.forgets.size() == 2; }));
  EXPECT_EQ(world.controller->heard().forgets, (std::vector<std::uint64_t>{program, function}));
}

TEST(Definitions, OfAProgramStayForItsRunsAndArrays) {
  DoublingWorld world;
  const std::uint64_t program = world.program.id();
  world.controller->set({.resolves_runs = false});
  seaway::Run run = world.program.execute({world.client.put<float>({1, 2}, world.row)});
  Array output = run.output(0);

  world.program = Program();
  const std::uint64_t id = std::exchange(run, seaway::Run()).id();
  ASSERT_EQ(world.client.drain(), Status());
  EXPECT_FALSE(has(world.controller->heard().forgets, program));
  world.resolve(id);
  EXPECT_EQ(output.status(), Status());
  EXPECT_FALSE(has(world.controller->heard().forgets, program));
  const std::uint64_t array = output.id();
  output = Array();

  EXPECT_TRUE(world.hears([&](const Heard& heard) { return has(heard.forgets, program); }));
  EXPECT_TRUE(has(world.controller->heard().releases, array));
}

TEST(Definitions, OfSpecsAreReusedWhileTheyAreRecentAndThenGo) {
  DoublingWorld world;
  const auto put = [&world](std::int64_t elements) {
    const std::vector<float> values(static_cast<std::size_t>(elements));
    EXPECT_EQ(world.client.put(values, {elements}, world.row).status(), Status());
  };

  for (int i = 0; i < 100; ++i) put(4);
  EXPECT_EQ(world.controller->heard().spec_definitions, 1);
  for (int i = 0; i < 100; ++i) put(6 + 2 * i);

  // The latest ones are kept for what may come next.
  EXPECT_TRUE(world.hears([](const Heard& heard) { return heard.forgets.size() >= 92; }));
  EXPECT_EQ(world.controller->heard().spec_definitions, 101);
  EXPECT_LE(world.client.session().definitions(), 3u + 9u);
}

TEST(Definitions, OfAFunctionsOwnCallsGoWithIt) {
  DoublingWorld world;
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(
        world.twice.execute({world.client.put<float>({1, 2}, world.row)}).status().get().status(),
        Status());
  }
  ASSERT_EQ(world.client.drain(), Status());
  const std::uint64_t before = world.client.session().definitions();  // One program for all calls.

  world.program = Program();
  world.twice = Function();

  EXPECT_EQ(world.client.session().definitions(), before - 3);
}

TEST(Definitions, OfADonatingVariantGoWithItsProgram) {
  DoublingWorld world;
  for (int i = 0; i < 3; ++i) {
    const Array x = world.client.put<float>({1, 2}, world.row);
    EXPECT_EQ(world.program.execute({x}, {.donate = {0}}).status().get().status(), Status());
  }
  ASSERT_EQ(world.client.drain(), Status());
  const std::uint64_t before = world.client.session().definitions();

  world.program = Program();

  EXPECT_EQ(world.client.session().definitions(), before - 2);
}

TEST(Definitions, OfReshardsAreBounded) {
  DoublingWorld world;
  for (std::int64_t i = 1; i <= 1000; ++i) {
    const std::vector<float> values(static_cast<std::size_t>(2 * i));
    const Array x = world.client.put(values, {2 * i}, world.row);
    const auto whole = x.reshard(NamedSharding(world.slice.mesh(), P()));
    ASSERT_TRUE(whole.ok()) << whole.status().to_string();
  }
  ASSERT_EQ(world.client.drain(), Status());  // Runs keep what they use.

  // A program, its function and the spec of its argument for each that is kept.
  EXPECT_LE(world.client.session().definitions(), 3 * ProgramCache::kProgramsMax + 20);
}

TEST(Definitions, OfAClosedSessionAreNotReleased) {
  DoublingWorld world;
  world.client = Client();
  EXPECT_TRUE(world.hears([](const Heard& heard) { return heard.has_goodbye; }));

  world.program = Program();
  world.twice = Function();

  EXPECT_TRUE(world.controller->heard().forgets.empty());
}

TEST(Definitions, OfSlicesCountUntilTheyAreReleased) {
  DoublingWorld world;
  const std::uint64_t before = world.client.session().definitions();

  for (int i = 0; i < 10; ++i) {
    Slice slice = world.client.acquire_slice({}).value();
    EXPECT_EQ(world.client.session().definitions(), before + 1);
    EXPECT_EQ(slice.release(), Status());
    EXPECT_EQ(world.client.put<float>({1}, NamedSharding(slice.mesh(), P())).error(),
              invalid_argument("slice " + name_of(slice.id()) + " was released; acquire another"));
  }

  EXPECT_EQ(world.client.session().definitions(), before);
}

}  // namespace
}  // namespace seaway::client
