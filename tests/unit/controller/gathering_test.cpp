// What islands are told of runs that are far from their turn waits for more of its kind.

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "actor/router.hpp"
#include "actor/seeded_engine.hpp"
#include "controller/controller_actor.hpp"
#include "unit/controller/controller_world.hpp"

namespace seaway::controller {
namespace {

/// A client with runs in flight on island 0.
class GatheringTest : public ::testing::Test {
 protected:
  GatheringTest() : world_(options()) {
    slice_ = world_.slice(client_);
    program_ = world_.chain(client_, {world_.function(client_, "f"), {slice_}});
    argument_ = world_.upload(client_, slice_);
    world_.said();
  }
  static ControllerOptions options() {
    ControllerOptions options;
    options.limits.runs_to_gather = 16;
    return options;
  }
  void run(int times, ClientId client = 1) {
    for (int i = 0; i < times; ++i) world_.run(client, program_, {argument_});
    world_.core.pump();
  }

  ControllerWorld world_;
  const ClientId client_ = world_.client("training");
  SliceId slice_ = 0;
  ProgramId program_ = 0;
  ArrayId argument_ = 0;
};

TEST_F(GatheringTest, ALaunchWaitsWhileAnEighthOfWhatIsInFlightIsNotGathered) {
  run(15);
  EXPECT_FALSE(world_.core.can_wait(0)) << "15 in flight are few";
  world_.said();

  run(2);  // Of 17.
  EXPECT_TRUE(world_.core.can_wait(0));
  run(1);  // Three of 18 are more than an eighth.
  EXPECT_FALSE(world_.core.can_wait(0));
}

TEST_F(GatheringTest, NothingOfATenantThatHasFewInFlightWaits) {
  run(32);
  world_.said();
  run(1);
  EXPECT_TRUE(world_.core.can_wait(0));
  const ClientId other = world_.client("inference");
  const SliceId slice = world_.slice(other);
  run(1);
  ASSERT_TRUE(world_.core.can_wait(0));

  world_.put(other, slice);
  world_.core.pump();

  EXPECT_FALSE(world_.core.can_wait(0));
}

TEST_F(GatheringTest, FreesAndReadsOfWhoHasManyInFlightWait) {
  run(32);
  world_.said();

  world_.core.fetch(client_, argument_, 1);
  world_.core.pump();

  ASSERT_FALSE(world_.core.outbox().islands[0].fetches.empty());
  EXPECT_TRUE(world_.core.can_wait(0));
}

TEST_F(GatheringTest, WhatIsNoWorkNeverWaits) {
  run(32);
  world_.said();
  run(1);
  ASSERT_TRUE(world_.core.can_wait(0));

  world_.core.outbox().islands[0].weights.push_back({});

  EXPECT_FALSE(world_.core.can_wait(0));
}

/// The actor, whose islands are processes.
class GatheringActorTest : public ::testing::Test {
 protected:
  GatheringActorTest() {
    router_.set_elsewhere([this](actor::Role role, std::uint32_t, const Frame&, transport::Lane) {
      frames_ += role == actor::Role::kHost;
    });
    core().scheduler_joined(0, 1);
    core().host_joined(0, 1);
    core().hello(1, "tenant", 0, 1);
    program::SliceRequest wanted;
    wanted.devices = 1;
    wanted.island = 0;
    wanted.axes = {{"x", 1}};
    core().acquire_slice(1, 1, kSlice, wanted);
    const ArraySpec spec{f32({16}), NamedSharding(Mesh(kSlice, {{"x", 1}}), P("x"))};
    EXPECT_TRUE(core().define_spec(1, kSpec, spec, Frame()).ok());
    controller_.idle();
    controller_.supervise(*engine_, [](IslandId) {});
    frames_ = 0;
  }
  static ControllerOptions options() {
    ControllerOptions options;
    options.has_members = true;
    options.limits.runs_to_gather = 0;  // Whatever is in flight, it is enough.
    return ControllerWorld::with_defaults(options);
  }
  ControllerCore& core() { return controller_.core(); }
  void put(std::uint64_t number) {
    core().put(1, make_id(1, number), kSpec);
    controller_.idle();
  }

  static constexpr SliceId kSlice = make_id(1, 11);
  static constexpr std::uint64_t kSpec = make_id(1, 12);
  std::unique_ptr<actor::SeededEngine> engine_ = actor::make_seeded_engine(1);
  FakeBinder binder_;
  events::EventStream events_{64};
  actor::Router router_;
  int frames_ = 0;
  ControllerActor controller_{options(), binder_, router_, engine_->clock(), events_};
};

TEST_F(GatheringActorTest, WhatWaitsGoesTogetherWhenItHasWaitedLongEnough) {
  put(501);
  put(502);
  EXPECT_EQ(frames_, 0);

  engine_->run_until_idle(100);

  EXPECT_EQ(frames_, 2) << "both in one frame, and the turn";
  EXPECT_GE(engine_->now_ns(), core().limits().gathering_ns);
}

TEST_F(GatheringActorTest, WhatMayNotWaitTakesItAlong) {
  put(501);
  EXPECT_EQ(frames_, 0);

  core().outbox().islands[0].weights.push_back({});
  controller_.idle();
  EXPECT_EQ(frames_, 3) << "the weight, the put, and the turn";

  engine_->run_until_idle(100);
  EXPECT_EQ(frames_, 3) << "nothing was left to say";
}

}  // namespace
}  // namespace seaway::controller
