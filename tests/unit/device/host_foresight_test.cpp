// What a host tells its backend of the gang behind the one that starts, and when it takes it back.

#include "unit/device/host_world.hpp"

namespace seaway::device {
namespace {

using Words = std::vector<std::string>;

/// A backend that ends gangs where they start, and looks at what stands behind them.
class HostForesight : public ::testing::Test {
 protected:
  explicit HostForesight(std::uint32_t devices = 2) : world_(devices) {
    backend().ends_at_once = true;
    backend().looks = true;
  }
  FakeBackend& backend() { return world_.backend; }
  /// Without a turn for the host.
  void queue(Stamp stamp, const PartMaker& part, std::vector<ArrayId> ids) {
    world_.launch(stamp, part, std::move(ids));
    world_.admit(stamp);
    world_.place(stamp, 0, static_cast<std::uint32_t>(part.make()->gangs.size()));
  }

  HostWorld world_;
};

/// One array from another one.
PartMaker step(PlanId id, GangOptions options = {.cost_ns = kSlow}) {
  PartMaker part(id, {0});
  const auto in = part.arg(), out = part.output();
  part.gang({in}, {out}, std::move(options));
  return part;
}

/// Two gangs of device 0.
PartMaker two_steps(std::uint64_t cost_ns = kSlow) {
  PartMaker part(1, {0});
  const auto in = part.arg(), between = part.inner(), out = part.output();
  part.gang({in}, {between}, {.cost_ns = cost_ns});
  part.gang({between, in}, {out}, {.cost_ns = cost_ns});
  return part;
}

TEST_F(HostForesight, TellsWhatTheNextGangReadsAndWhatOfThatIsMadeAheadOfIt) {
  world_.put(50, HostWorld::row(5));

  world_.run(1, two_steps(), {50, 60});

  EXPECT_EQ(backend().foreseen, Words{"1.1: made 0, there"});
  EXPECT_EQ(backend().forgotten, 0u);
  EXPECT_EQ(world_.value(60), "12");
}

TEST_F(HostForesight, LooksBeyondTheEndOfAPartAndFreesBetween) {
  world_.put(50, HostWorld::row(5));
  queue(1, step(1), {50, 60});
  world_.free(50);
  queue(2, step(1), {60, 61});
  world_.free(60);
  queue(3, step(1), {61, 62});

  world_.core.advance();

  EXPECT_EQ(backend().foreseen, (Words{"2.0: made 0", "3.0: made 0"}));
  EXPECT_EQ(backend().forgotten, 0u);
  EXPECT_EQ(world_.value(62), "8");
}

/// Three gangs of device 0, of which the last one reads what both others make.
PartMaker three_steps(std::uint64_t cost_ns = kSlow) {
  PartMaker part(1, {0});
  const auto in = part.arg(), one = part.inner(), two = part.inner(), out = part.output();
  part.gang({in}, {one}, {.cost_ns = cost_ns});
  part.gang({one}, {two}, {.cost_ns = cost_ns});
  part.gang({one, two, in}, {out}, {.cost_ns = cost_ns});
  return part;
}

TEST_F(HostForesight, TellsOfSeveralAndWhichOfThemMakesWhat) {
  world_.put(50, HostWorld::row(5));

  world_.run(1, three_steps(), {50, 60});

  EXPECT_EQ(backend().foreseen, (Words{"1.1: made 0", "1.2: made 0 2 ahead, made 0, there"}));
  EXPECT_EQ(backend().forgotten, 0u);
  EXPECT_EQ(world_.value(60), "19");
}

TEST_F(HostForesight, TellsOfEachOnceAndOfNoMoreThanItsLimitAtATime) {
  world_.put(50, HostWorld::row(5));
  const std::size_t gangs = 2 * Foreseen::kMax;
  for (std::size_t i = 0; i < gangs; ++i) queue(i + 1, step(1), {50 + i, 51 + i});
  std::vector<std::size_t> told;
  backend().during_run = [&] { told.push_back(backend().foreseen.size()); };

  world_.core.advance();

  ASSERT_EQ(told.size(), gangs);
  for (std::size_t i = 0; i < gangs; ++i) {
    EXPECT_EQ(told[i], std::min(i + Foreseen::kMax, gangs - 1)) << i;
  }
  EXPECT_EQ(backend().forgotten, 0u);
  EXPECT_EQ(world_.value(50 + gangs), std::to_string(5 + gangs));
}

TEST_F(HostForesight, ForgetsAllThatAFailureAheadKeepsFromBeginning) {
  world_.put(50, HostWorld::row(5));
  backend().failure = user_function_error("bad luck");

  world_.run(1, three_steps(), {50, 60});

  EXPECT_EQ(backend().foreseen.size(), 2u);
  EXPECT_EQ(backend().forgotten, 1u);
  EXPECT_EQ(world_.seen(), "start 1.0, end 1.0, noop 1.1, noop 1.2");
}

TEST_F(HostForesight, ForgetsWhatAFailureAheadKeepsFromBeginning) {
  world_.put(50, HostWorld::row(5));
  backend().failure = user_function_error("bad luck");

  world_.run(1, two_steps(), {50, 60});

  EXPECT_EQ(backend().foreseen.size(), 1u);
  EXPECT_EQ(backend().forgotten, 1u);
  EXPECT_EQ(world_.seen(), "start 1.0, end 1.0, noop 1.1");
}

TEST_F(HostForesight, ForgetsWhatThenFailsOfAnArrayThatWasNotMade) {
  world_.put(50, HostWorld::row(5));
  backend().failure = user_function_error("bad luck");
  queue(1, step(1), {50, 60});
  queue(2, step(1), {60, 61});

  world_.core.advance();

  EXPECT_EQ(backend().foreseen, Words{"2.0: made 0"});
  EXPECT_EQ(backend().forgotten, 1u);
  EXPECT_EQ(world_.seen(), "start 1.0, end 1.0, noop 2.0");
}

TEST_F(HostForesight, TellsOnceOfWhatStandsBehindAGangThatIsLaunchedTwice) {
  world_.put(50, HostWorld::row(5));
  backend().unlaunched = {0};

  world_.run(1, two_steps(), {50, 60});

  EXPECT_EQ(backend().foreseen, Words{"1.1: made 0, there"});
  EXPECT_EQ(backend().forgotten, 0u);
  EXPECT_EQ(world_.value(60), "12");
}

/// The second gang is foreseen when others have their turn, for the first one has taken long.
class HostForesightOverTurns : public HostForesight {
 protected:
  HostForesightOverTurns() {
    world_.put(50, HostWorld::row(5));
    world_.run(1, two_steps(2'000'000), {50, 60});
    EXPECT_EQ(world_.seen(), "start 1.0, end 1.0");
    EXPECT_EQ(backend().foreseen, Words{"1.1: made 0, there"});
    EXPECT_EQ(backend().forgotten, 0u);
  }
};

TEST_F(HostForesightOverTurns, BeginsInTheNextOne) {
  queue(2, step(2), {50, 61});

  while (world_.core.advance()) {
  }

  EXPECT_EQ(world_.seen(), "start 1.1, end 1.1, start 2.0, end 2.0");
  EXPECT_EQ(backend().forgotten, 0u);
  EXPECT_EQ(world_.value(60), "12");
}

TEST_F(HostForesightOverTurns, OthersHaveTheirTurnBehindAFewGangsAndNotBehindAllThatThereAre) {
  for (Stamp run = 2; run < 12; ++run) queue(run, step(2, {.cost_ns = 60'000}), {50, 60 + run});

  std::size_t turns = 0;
  while (world_.core.advance()) ++turns;

  EXPECT_GE(turns, 3u);
  EXPECT_EQ(backend().forgotten, 0u);
  EXPECT_EQ(world_.value(71), "6");
}

TEST_F(HostForesightOverTurns, IsForgottenWhenItsPartIsCancelled) {
  world_.cancel(1);

  world_.core.advance();

  EXPECT_EQ(world_.seen(), "noop 1.1");
  EXPECT_EQ(backend().forgotten, 1u);
}

TEST_F(HostForesightOverTurns, IsForgottenWhenADeviceIsLost) {
  world_.core.lose_device(1, "it fell off the bus");

  EXPECT_EQ(backend().forgotten, 1u);
}

TEST_F(HostForesightOverTurns, BeginsAsAnyOtherWhenItWasForgotten) {
  world_.core.forget_foreseen();
  world_.core.forget_foreseen();

  world_.core.advance();

  EXPECT_EQ(backend().forgotten, 1u);
  EXPECT_EQ(backend().foreseen.size(), 1u);
  EXPECT_EQ(world_.value(60), "12");
}

TEST(HostForesightAtTheEnd, NothingIsAheadOfAHostThatIsNoMore) {
  std::size_t forgotten = 0;
  {
    HostWorld world;
    world.backend.ends_at_once = world.backend.looks = true;
    world.backend.on_forget = [&forgotten] { ++forgotten; };
    world.put(50, HostWorld::row(5));
    world.run(1, two_steps(2'000'000), {50, 60});
    ASSERT_EQ(world.backend.foreseen.size(), 1u);
  }

  EXPECT_EQ(forgotten, 1u);
}

TEST_F(HostForesight, IsSilentAboutGangsOnMoreDevicesOrInLine) {
  PartMaker wide(1, {0, 1});
  const auto one = wide.group({0});
  const auto made = wide.output(one);
  wide.gang({}, {made}, {.group = one, .cost_ns = kSlow});
  wide.gang({}, {wide.output()}, {.cost_ns = kSlow});
  PartMaker short_one(2, {0});
  short_one.gang({}, {short_one.output()}, {.cost_ns = kSlow});
  short_one.gang({}, {short_one.output()});

  world_.run(1, wide, {60, 61});
  world_.run(2, short_one, {62, 63});

  EXPECT_EQ(backend().foreseen, Words());
  EXPECT_EQ(world_.value(63), "1");
}

TEST_F(HostForesight, IsSilentAboutWhatIsStillToBeReceived) {
  PartMaker part(1, {0});
  const auto received = part.receive(7, 1);
  part.gang({}, {part.output()}, {.cost_ns = kSlow});
  part.gang({received}, {part.output()}, {.cost_ns = kSlow});

  world_.run(1, part, {60, 61});

  EXPECT_EQ(world_.seen(), "start 1.0, end 1.0");
  EXPECT_EQ(backend().foreseen, Words());
}

/// The first gang's room may be all that there is, and the backend would take its own for the
/// second.
TEST_F(HostForesight, IsSilentWhereADeviceHasNoRoomForTheWorkOfBoth) {
  world_.put(50, HostWorld::row(5));
  for (const std::size_t bytes : {std::size_t{1} << 20, std::size_t{1} << 19}) {
    world_.core.add_function(kernel_id(1, 1), std::make_shared<SumKernel>(1, 1, bytes));
    const auto run = static_cast<Stamp>(bytes == std::size_t{1} << 20 ? 1 : 3);
    queue(run, step(run), {50, 60 + run});
    queue(run + 1, step(run), {60 + run, 61 + run});

    world_.core.advance();

    EXPECT_EQ(backend().foreseen.size(), run == 1 ? 0u : 1u);
    EXPECT_EQ(world_.value(61 + run), "7");
  }
}

TEST_F(HostForesight, TellsOfNoMoreThanADeviceHasRoomForTheWorkOfAll) {
  world_.put(50, HostWorld::row(5));
  world_.core.add_function(kernel_id(1, 1),
                           std::make_shared<SumKernel>(1, 1, std::size_t{400} << 10));
  for (Stamp run = 1; run <= 4; ++run) queue(run, step(run), {49 + run, 50 + run});
  std::vector<std::size_t> told;
  backend().during_run = [&] { told.push_back(backend().foreseen.size()); };

  world_.core.advance();

  // Two of 400 KiB in a MiB.
  EXPECT_EQ(told, (std::vector<std::size_t>{2, 3, 3, 3}));
  EXPECT_EQ(world_.value(54), "9");
}

TEST_F(HostForesight, IsSilentOnceADeviceIsLost) {
  world_.put(50, HostWorld::row(5));
  world_.lose(1);

  world_.run(1, two_steps(), {50, 60});

  EXPECT_EQ(backend().foreseen, Words());
  EXPECT_EQ(world_.value(60), "12");
}

TEST_F(HostForesight, IsSilentToABackendThatDoesNotLook) {
  world_.put(50, HostWorld::row(5));
  backend().looks = false;

  world_.run(1, two_steps(), {50, 60});

  EXPECT_EQ(backend().foreseen, Words());
}

}  // namespace
}  // namespace seaway::device
