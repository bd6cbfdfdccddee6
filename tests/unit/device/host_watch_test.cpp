// A host whose devices do not launch, do not finish, or finish last: what is tried again, what is
// given up, and who is blamed.

#include "unit/device/host_world.hpp"

namespace seaway::device {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;

/// Makes one array.
PartMaker maker(PlanId id, std::vector<DeviceId> devices, GangOptions options = {}) {
  PartMaker part(id, std::move(devices));
  part.gang({}, {part.output()}, std::move(options));
  return part;
}

/// Events of `kind`: "0: 1" for device 0 and value 1.
std::string told(const HostWorld& world, events::EventKind kind) {
  std::string text;
  for (const events::Event& event : world.events.ring().snapshot()) {
    if (event.kind != kind) continue;
    text += (text.empty() ? "" : ", ") + std::to_string(event.place) + ": " +
            std::to_string(event.value);
  }
  return text;
}

std::string failed_launches(const HostWorld& world) {
  return told(world, events::EventKind::kLaunchFailed);
}

void let_pass(HostWorld& world, std::uint64_t time_ns) {
  world.clock.advance_to(world.clock.now_ns() + time_ns);
  world.core.tick(world.clock.now_ns());
  world.core.advance();
}

TEST(HostWatch, AGangInLineThatIsNotLaunchedIsTriedThreeTimesMoreInItsPlace) {
  HostWorld world(2);
  world.backend.unlaunched = {0, 0, 0};

  world.run(1, maker(1, {0, 1}), {60});
  world.run(2, maker(2, {0}), {61});

  EXPECT_EQ(world.seen(), "start 1.0, end 1.0, start 2.0, end 2.0");
  EXPECT_EQ(failed_launches(world), "0: 1, 0: 2, 0: 3");
  EXPECT_EQ(world.said(), "gangs 1 0-1, gangs 2 0-1");
  EXPECT_EQ(world.value(60, 2), "1 1");
  EXPECT_EQ(world.value(61), "1");
}

TEST(HostWatch, AGangBesideThatIsNotLaunchedIsTriedThreeTimesMoreInItsPlace) {
  HostWorld world(2);
  world.run(1, maker(1, {0, 1}, {.cost_ns = kSlow}), {60});
  world.run(2, maker(2, {1}), {61});

  for (int i = 0; i < 3; ++i) world.backend.refuse_job(1);
  world.core.advance();
  EXPECT_EQ(world.seen(), "start 1.0");
  world.end_gang();

  EXPECT_EQ(world.seen(), "end 1.0, start 2.0, end 2.0");
  EXPECT_EQ(failed_launches(world), "1: 1, 1: 2, 1: 3");
  EXPECT_EQ(world.said(), "gangs 1 0-1, gangs 2 0-1");
  EXPECT_EQ(world.value(60, 2), "1 1");
}

TEST(HostWatch, AGangThatEndsBeforeItsStartReturnsIsOverLikeAnyOther) {
  HostWorld world(2);
  world.backend.ends_at_once = true;
  world.backend.unlaunched = {1, 1};

  world.run(1, maker(1, {0, 1}, {.cost_ns = kSlow}), {60});
  world.run(2, maker(2, {1}, {.cost_ns = kSlow}), {61});

  EXPECT_EQ(world.seen(), "start 1.0, end 1.0, start 2.0, end 2.0");
  EXPECT_EQ(failed_launches(world), "1: 1, 1: 2");
  EXPECT_EQ(world.said(), "gangs 1 0-1, gangs 2 0-1");
  EXPECT_EQ(world.value(60, 2), "1 1");
  EXPECT_EQ(world.value(61), "1");
}

TEST(HostWatch, AGangIsAloneIfNoneNearItCouldRunBesideIt) {
  HostWorld world(3);
  world.run(1, maker(1, {0}, {.cost_ns = kSlow}), {60});     // Alone.
  world.run(2, maker(2, {0, 1}, {.cost_ns = kSlow}), {61});  // Waits.
  world.run(3, maker(3, {2}, {.cost_ns = kSlow}), {62});     // Beside the first.
  world.end_gang();                                          // The second starts, beside the third.
  world.end_gang();
  world.end_gang();
  world.run(4, maker(4, {0}), {63});  // Is over when the next one looks around.
  world.run(5, maker(5, {1}, {.cost_ns = kSlow}), {64});

  EXPECT_EQ(world.backend.alone, (std::vector<bool>{true, false, false, true}));
}

TEST(HostWatch, EachDeviceOfAGangMayFailThreeTimesAndAnewForTheNextGang) {
  HostWorld world(2);

  world.backend.unlaunched = {0, 1, 0, 1, 0, 1};
  world.run(1, maker(1, {0, 1}), {60});
  world.backend.unlaunched = {0, 0, 0};
  world.run(2, maker(2, {0, 1}), {61});

  EXPECT_EQ(world.said(), "gangs 1 0-1, gangs 2 0-1");
  EXPECT_EQ(world.value(61, 2), "1 1");
}

TEST(HostWatch, ADeviceThatFailsAFourthTimeIsLostAndTheGangSaysHowOftenItWasTried) {
  for (const std::uint64_t cost_ns : {std::uint64_t{100}, kSlow}) {
    HostWorld world(2);
    world.backend.unlaunched = {1, 1, 1, 1};

    world.run(1, maker(1, {0, 1}, {.cost_ns = cost_ns, .site = "a.cpp:1"}), {60});
    for (int i = 0; i < 4 && world.backend.jobs() > 0; ++i) world.backend.refuse_job(1);
    world.core.advance();
    world.backend.unlaunched.clear();
    world.run(2, maker(2, {0}), {61});

    const std::string loss =
        "DEVICE_LOST: device 1 of island 0 is lost: it failed 4 times to launch gang 0 of run 101: "
        "a bit flipped";
    EXPECT_EQ(world.said(),
              "lost 1, gangs 1 0-1, gangs 2 0-1, failed 1 " + loss + "; called at a.cpp:1");
    EXPECT_EQ(world.value(60, 2), loss + "; called at a.cpp:1");
    EXPECT_EQ(world.value(61), "1");
    EXPECT_EQ(world.used(0) + world.used(1), 64u);
  }
}

TEST(HostWatch, ACancelledGangIsNotTriedAgain) {
  HostWorld world;
  world.run(1, maker(1, {0}, {.cost_ns = kSlow}), {60});

  world.cancel(1);
  world.backend.refuse_job(0);
  world.core.advance();

  EXPECT_EQ(world.backend.jobs(), 0u);
  EXPECT_EQ(world.seen(), "start 1.0, end 1.0");
  EXPECT_TRUE(world.core.is_idle());
  EXPECT_EQ(world.core.loss_of(0), nullptr);
}

TEST(HostWatch, OnlyGangsBesideAreTimed) {
  HostWorld world(2);
  EXPECT_EQ(world.core.due_ns(), std::nullopt);

  world.run(1, maker(1, {0}), {60});
  EXPECT_EQ(world.core.due_ns(), std::nullopt);
  world.run(2, maker(2, {0}, {.cost_ns = kSlow}), {61});
  const std::uint64_t first_ns = world.clock.now_ns() + 10 * kSecondNs;
  EXPECT_EQ(world.core.due_ns(), first_ns);
  world.clock.advance_to(world.clock.now_ns() + 5);
  world.run(3, maker(3, {1}, {.cost_ns = kSlow}), {62});
  EXPECT_EQ(world.core.due_ns(), first_ns);
  world.end_gang();

  EXPECT_EQ(world.core.due_ns(), first_ns + 5);
  world.end_gang();
  EXPECT_EQ(world.core.due_ns(), std::nullopt);
}

TEST(HostWatch, ALongGangHasTwoHundredTimesItsEstimate) {
  HostWorld world(2);

  world.run(1, maker(1, {0, 1}, {.cost_ns = kSecondNs}), {60});

  EXPECT_EQ(world.core.due_ns(), world.clock.now_ns() + 400 * kSecondNs);
  world.end_gang();
  world.run(2, maker(2, {0, 1}, {.cost_ns = ~std::uint64_t{0} / 200}), {61});
  EXPECT_EQ(world.core.due_ns(), std::nullopt);
  world.end_gang();
}

TEST(HostWatch, AGangThatDoesNotEndFailsOnAllItsDevicesAndOneOfThemIsLost) {
  HostWorld world(3);
  world.backend.laggard = 1;
  world.run(1, maker(1, {0, 1}, {.cost_ns = 5'000'000, .site = "a.cpp:1"}), {60});
  world.run(2, maker(2, {1, 2}), {61});
  world.run(3, maker(3, {0}), {62});
  world.run(4, maker(4, {2}, {.cost_ns = kSlow}), {63});

  let_pass(world, 10 * kSecondNs - 1);
  EXPECT_EQ(world.said(), "");
  let_pass(world, 1);

  const std::string loss =
      "DEVICE_LOST: device 1 of island 0 is lost: it did not finish gang 0 of run 101 within 10000 "
      "ms (estimated 10 ms)";
  EXPECT_EQ(world.backend.given_up, (std::vector<std::vector<DeviceId>>{{0, 1}}));
  EXPECT_EQ(told(world, events::EventKind::kGangGivenUp), "1: 0");
  EXPECT_EQ(world.seen(), "start 1.0, end 1.0, noop 2.0, start 3.0, end 3.0, start 4.0");
  EXPECT_EQ(world.said(), "lost 1, gangs 1 0-1, gangs 2 0-1, gangs 3 0-1, failed 1 " + loss +
                              "; called at a.cpp:1, failed 2 " + loss);
  EXPECT_EQ(world.value(62), "1");
  EXPECT_EQ(world.core.loss_of(0), nullptr);
  EXPECT_EQ(world.used(1), 0u);
  world.end_gang({}, 1);
  EXPECT_EQ(world.value(63), "1");
}

TEST(HostWatch, NobodyGetsTheMemoryOfAGangThatWasGivenUpBeforeItsLateEnd) {
  HostWorld world(3);
  world.backend.laggard = 1;
  world.put(50, HostWorld::row(1, 2), {0, 1});
  PartMaker part(1, {0, 1});
  const std::uint32_t inner = part.inner();
  part.gang({part.arg()}, {inner, part.output()}, {.cost_ns = kSlow});
  world.run(1, part, {50, 60});

  let_pass(world, 10 * kSecondNs);
  world.free(50);
  world.free(60);
  world.core.advance();
  EXPECT_EQ(world.used(0) + world.used(1), 0u);
  EXPECT_TRUE(world.core.is_idle());
  PartMaker next(2, {0, 2});
  for (int i = 0; i < 3; ++i) next.gang({}, {next.output()});
  world.run(2, next, {61, 62, 63});
  EXPECT_EQ(world.value(61, 2) + world.value(62, 2) + world.value(63, 2), "1 11 11 1");
  world.core.forget_plan(1);
  world.core.advance();
  world.end_gang();  // It writes 2 into its outputs, and adds to what it reads.

  EXPECT_EQ(world.value(61, 2) + world.value(62, 2) + world.value(63, 2), "1 11 11 1");
  EXPECT_EQ(told(world, events::EventKind::kGangLate), "1: 0");
  EXPECT_EQ(world.core.plan_count(), 1u);
}

TEST(HostWatch, AGangThatIsKnownToGoOnIsWaitedFor) {
  HostWorld world;
  world.run(1, maker(1, {0}, {.cost_ns = kSlow}), {60});

  let_pass(world, 10 * kSecondNs);
  EXPECT_EQ(world.core.due_ns(), std::nullopt);
  let_pass(world, 1000 * kSecondNs);
  world.end_gang();

  EXPECT_EQ(world.backend.given_up.size(), 1u);
  EXPECT_EQ(world.said(), "gangs 1 0-1");
  EXPECT_EQ(world.value(60), "1");
}

TEST(HostWatch, ADeviceForWhichTheOthersWaitHalfOfTheTimeIsNamed) {
  HostWorld world(2);
  world.run(1, maker(1, {0, 1}, {.cost_ns = kSlow}), {60});
  world.run(2, maker(2, {0, 1}, {.cost_ns = kSlow}), {61});
  world.backend.last = 1;

  world.backend.waited_ns = 499;  // Of the microsecond that a job takes.
  world.end_gang();
  EXPECT_EQ(world.core.device(1).gangs_delayed, 0u);
  world.backend.waited_ns = 1000;
  world.end_gang();

  EXPECT_EQ(world.core.device(1).gangs_delayed, 1u);
  EXPECT_EQ(world.core.device(0).gangs_delayed, 0u);
  EXPECT_EQ(told(world, events::EventKind::kStraggler), "1: 1000");
  EXPECT_EQ(world.said(), "gangs 1 0-1, gangs 2 0-1");
}

}  // namespace
}  // namespace seaway::device
