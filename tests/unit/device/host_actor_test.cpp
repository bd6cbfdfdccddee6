// Whose orders a host of its own process follows when it has lost its scheduler.

#include "device/host_actor.hpp"

#include <gtest/gtest.h>
#include <seaway.capnp.h>

#include <memory>

#include "actor/seeded_engine.hpp"
#include "program/codec.hpp"
#include "program/order_kind.hpp"
#include "unit/device/host_world.hpp"
#include "wire/frame_builder.hpp"
#include "wire/status_codec.hpp"

namespace seaway::device {
namespace {

using wire::Message;

constexpr Stamp kStamp = 5;

/// One host, which has a launch of one gang, and what its scheduler and its controller say.
class HostView : public testing::Test {
 protected:
  static constexpr std::uint32_t kLife = 2;

  void launch(std::uint32_t gangs = 1, const GangOptions& options = {}) {
    PartMaker part(1, {0});
    for (std::uint32_t i = 0; i < gangs; ++i) part.gang({}, {}, options);
    HostCore& core = host_.core();
    core.add_function(kernel_id(0, 0), std::make_shared<SumKernel>(0, 0));
    core.define_plan(part.make());
    core.launch(kStamp, kStamp, 1, 0, false, [](std::uint32_t) { return ArrayId{0}; });
  }
  void say(const Frame& frame) {
    host_.receive(frame);
    host_.idle();
  }
  void say_view(std::uint32_t number, std::uint32_t life = kLife) {
    wire::FrameBuilder builder;
    auto view = builder.init_root<Message>().initView();
    view.setNumber(number);
    view.setLife(life);
    say(builder.finish());
  }
  /// The gang has room, and is next.
  void say_orders(std::uint32_t view, std::uint32_t gangs = 1) {
    wire::FrameBuilder builder;
    auto message = builder.init_root<Message>();
    message.setInView(view);
    auto orders = message.initOrders(2);
    orders[0].setKind(static_cast<std::uint8_t>(program::OrderKind::kAdmit));
    orders[0].setId(kStamp);
    orders[1].setKind(static_cast<std::uint8_t>(program::OrderKind::kPlace));
    orders[1].setId(kStamp);
    orders[1].setLast(gangs);
    say(builder.finish());
  }
  /// What it ordered last may be lost.
  void say_scheduler_is_lost() {
    wire::FrameBuilder builder;
    auto peer = builder.init_root<Message>().initPeer();
    peer.setRole(static_cast<std::uint8_t>(actor::Role::kIsland));
    peer.setIndex(0);
    peer.setLost(true);
    say(builder.finish());
  }
  /// Without launches and edges, and before the host's turn ends.
  void hear_of_work() {
    wire::FrameBuilder launches, edges;
    launches.init_root<Message>().initLaunches();
    edges.init_root<Message>().initEdges(0);
    host_.receive(launches.finish());
    host_.receive(edges.finish());
  }
  std::size_t gangs_run() const { return backend_.runs; }
  FakeBackend& backend() { return backend_; }
  std::size_t specs() { return host_.core().spec_count(); }

 private:
  std::unique_ptr<actor::SeededEngine> engine_ = actor::make_seeded_engine(1);
  actor::Router router_;
  transport::LocalBulk bulk_;
  function::NativeRegistry natives_;
  events::EventStream events_{64};
  ManualClock clock_;
  FakeBackend backend_{clock_};
  HostActor host_{{.device_bytes = 1 << 20, .is_process = true, .life = kLife},
                  {*engine_, router_, bulk_, natives_, events_, {}},
                  backend_};
};

TEST_F(HostView, OrdersOfAnotherViewAreNotFollowed) {
  say_view(2);
  launch();

  say_orders(1);
  ASSERT_EQ(gangs_run(), 0u);
  say_orders(2);

  EXPECT_EQ(gangs_run(), 1u);
}

TEST_F(HostView, WorkThatWasMeantForTheLifeBeforeIsNotBegun) {
  wire::FrameBuilder builder;
  auto definition = builder.init_root<Message>().initDefineSpec();
  definition.setId(3);
  definition.setSpec(wire::frame_data(
      program::encode_frame(ArraySpec{f32({16}), NamedSharding(Mesh(1, {{"x", 1}}), P("x"))})));
  say(builder.finish());
  EXPECT_EQ(specs(), 0u);
  say_view(1, kLife - 1);
  say(builder.finish());
  EXPECT_EQ(specs(), 0u);

  say_view(2);
  say(builder.finish());

  EXPECT_EQ(specs(), 1u);
}

TEST_F(HostView, WhatTheSchedulerOrdersAfterItWasLostIsNotFollowedUntilTheNextView) {
  say_view(1);
  launch();
  say_scheduler_is_lost();

  say_orders(1);
  ASSERT_EQ(gangs_run(), 0u);
  say_view(2);
  say_orders(2);

  EXPECT_EQ(gangs_run(), 1u);
}

TEST_F(HostView, NothingIsForeseenAnyMoreWhenAViewComesBetween) {
  backend().ends_at_once = backend().looks = true;
  say_view(1);
  launch(2, {.cost_ns = 2'000'000});  // Each more than a turn.
  say_orders(1, 2);
  ASSERT_EQ(backend().foreseen.size(), 1u);

  hear_of_work();
  ASSERT_EQ(backend().forgotten, 0u);
  say_view(2);

  EXPECT_EQ(backend().forgotten, 1u);
}

}  // namespace
}  // namespace seaway::device
