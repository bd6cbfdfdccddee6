// What a scheduler of its own process still knows when its view begins anew.

#include "island/scheduler_actor.hpp"

#include <gtest/gtest.h>
#include <seaway.capnp.h>

#include <string>
#include <vector>

#include "program/codec.hpp"
#include "program/order_kind.hpp"
#include "unit/island/plans.hpp"
#include "wire/frame_builder.hpp"
#include "wire/frame_reader.hpp"
#include "wire/status_codec.hpp"

namespace seaway::island {
namespace {

using wire::Message;

constexpr Stamp kStamp = 5;
constexpr std::uint32_t kEdge = 7;

/// One scheduler, what it says to its host, and one unfinished part, which waits for an edge.
class View : public testing::Test {
 protected:
  View() {
    router_.set_elsewhere([this](actor::Role role, std::uint32_t, Frame frame, transport::Lane) {
      if (role == actor::Role::kHost) count_places(frame);
      if (role == actor::Role::kController) count_finished(frame);
      exists_ += role == actor::Role::kIsland;
    });
    router_.on_malformed([this](actor::Role role, std::uint32_t, const Status& why) {
      EXPECT_EQ(why.code(), lost_code_);
      lost_.push_back(role);
    });
  }

  static CoreOptions options() {
    CoreOptions options;
    options.devices = 1;
    options.memory_bytes = 100;
    options.early = EarlyPlacement::kNever;  // It is placed when the edge exists, or never.
    return options;
  }
  void say(const Frame& frame) {
    scheduler_.receive(frame);
    scheduler_.idle();
  }
  void say_view(std::uint32_t number) {
    program::PartPlan plan =
        *PlanMaker(std::vector<DeviceId>{0}).gangs(1).receive(0, kEdge, 1, 64).make();
    plan.receives[0].source_group = plan.groups[0];
    say_view(number, plan);
  }
  void say_view(std::uint32_t number, program::PartPlan plan) {
    plan.id = 1;
    const Frame part = program::encode_frame(plan);
    wire::FrameBuilder defines;
    auto definition = defines.init_root<Message>().initDefinePlan();
    definition.setId(plan.id);
    definition.setPart(wire::frame_data(part));
    say(defines.finish());
    wire::FrameBuilder builder;
    auto view = builder.init_root<Message>().initView();
    view.setNumber(number);
    view.initPlans(1).set(0, plan.id);
    auto launches = view.initLaunches();
    auto launch = launches.initRecords(1)[0];
    launch.setStamp(kStamp);
    launch.setRun(kStamp);
    launch.setPlan(plan.id);
    say(builder.finish());
  }
  /// The host has not heard of the part.
  void say_state(std::uint32_t number, Stamp last = kStamp - 1) {
    wire::FrameBuilder builder;
    auto state = builder.init_root<Message>().initIslandState();
    state.setNumber(number);
    state.setLastStamp(last);
    say(builder.finish());
  }
  /// The part is over on this island, as far as controller and host know.
  void say_empty_view(std::uint32_t number) {
    wire::FrameBuilder builder;
    builder.init_root<Message>().initView().setNumber(number);
    say(builder.finish());
    say_state(number, kStamp);
  }
  /// A part that sends its value to island 1, and is placed.
  void begin_sender(std::uint32_t number) {
    program::PartPlan plan =
        *PlanMaker(std::vector<DeviceId>{0}).gangs(1).send(0, kEdge, 1, 64).make();
    plan.sends[0].target_group = plan.groups[0];
    say_view(number, plan);
    say_state(number);
  }
  /// The host says that all of it is done.
  void end_sender(std::uint32_t number) {
    wire::FrameBuilder builder;
    auto message = builder.init_root<Message>();
    message.setInView(number);
    auto done = message.initDones().initRecords(2);
    done[0].setKind(wire::Done::Kind::GANGS);
    done[0].setId(kStamp);
    done[0].setFirst(0);
    done[0].setLast(1);
    done[1].setKind(wire::Done::Kind::RECEIVED);
    done[1].setId(kStamp);
    done[1].setFirst(kEdge);
    say(builder.finish());
  }
  /// No part of a smaller stamp is unfinished.
  void say_oldest(Stamp oldest) {
    wire::FrameBuilder builder;
    builder.init_root<Message>().initLaunches().setOldest(oldest);
    say(builder.finish());
  }
  /// The scheduler of island 1 can be talked with again, and has not heard what was said last.
  void say_peer_is_back() {
    wire::FrameBuilder builder;
    auto peer = builder.init_root<Message>().initPeer();
    peer.setRole(static_cast<std::uint8_t>(actor::Role::kIsland));
    peer.setIndex(1);
    say(builder.finish());
  }
  /// What was said to the host, and what it said, may be lost.
  void say_host_is_lost() {
    wire::FrameBuilder builder;
    auto peer = builder.init_root<Message>().initPeer();
    peer.setRole(static_cast<std::uint8_t>(actor::Role::kHost));
    peer.setIndex(0);
    peer.setLost(true);
    say(builder.finish());
  }
  void say_exists() {
    wire::FrameBuilder builder;
    auto exists = builder.init_root<Message>().initExists(1)[0];
    exists.setStamp(kStamp);
    exists.setEdge(kEdge);
    say(builder.finish());
  }

  std::size_t arrays() const { return scheduler_.core().array_count(); }

  StatusCode lost_code_ = StatusCode::kProtocolError;
  std::vector<actor::Role> lost_;  // Whose conversation was to end.
  std::uint32_t places_ = 0;
  std::uint32_t finished_ = 0;  // Parts, as the controller hears.
  std::uint32_t exists_ = 0;    // Frames to other schedulers, which hear of nothing else.

 private:
  void count_places(const Frame& frame) {
    const Status status = wire::read_frame<Message>(frame, [this](Message::Reader message) {
      if (message.which() != Message::ORDERS) return Status();
      for (const auto order : message.getOrders()) {
        places_ += order.getKind() == static_cast<std::uint8_t>(program::OrderKind::kPlace);
      }
      return Status();
    });
    EXPECT_TRUE(status.ok()) << status.to_string();
  }
  void count_finished(const Frame& frame) {
    const Status status = wire::read_frame<Message>(frame, [this](Message::Reader message) {
      if (message.which() != Message::FINISHED) return Status();
      for (const auto part : message.getFinished()) finished_ += part.getDone();
      return Status();
    });
    EXPECT_TRUE(status.ok()) << status.to_string();
  }

  actor::Router router_;
  ManualClock clock_;
  events::EventStream events_{16};
  SchedulerActor scheduler_{0, options(), router_, clock_, events_, true};
};

TEST_F(View, EndsTheConversationWithAHostThatReportsWhatNeverWas) {
  say_view(1);
  say_state(1);
  wire::FrameBuilder builder;
  auto message = builder.init_root<Message>();
  message.setInView(1);
  auto done = message.initDones().initRecords(1)[0];
  done.setKind(wire::Done::Kind::GANGS);
  done.setId(kStamp + 1);
  done.setLast(1);

  say(builder.finish());

  EXPECT_EQ(lost_, (std::vector<actor::Role>{actor::Role::kHost}));
}

TEST_F(View, EndsTheConversationWithAHostWhoseStateDoesNotFit) {
  say_view(1);
  wire::FrameBuilder builder;
  auto state = builder.init_root<Message>().initIslandState();
  state.setNumber(1);
  state.initParts(1)[0].setStamp(kStamp);  // Beyond the last stamp that it has seen.

  say(builder.finish());
  EXPECT_EQ(lost_, (std::vector<actor::Role>{actor::Role::kHost}));
  say_view(2);
  say_state(2);
  say_exists();

  EXPECT_EQ(places_, 1u);
}

TEST_F(View, EndsTheConversationWithAControllerThatLaunchesTwice) {
  say_view(1);
  say_state(1);
  wire::FrameBuilder builder;
  auto launch = builder.init_root<Message>().initLaunches().initRecords(1)[0];
  launch.setStamp(kStamp);
  launch.setPlan(1);

  say(builder.finish());

  EXPECT_EQ(lost_, (std::vector<actor::Role>{actor::Role::kController}));
}

/// A scheduler in the process of all others, and the order in which its host hears of gangs and of
/// the ends of arrays.
class Batches : public testing::Test {
 protected:
  Batches() {
    router_.set_elsewhere([this](actor::Role role, std::uint32_t, Frame frame, transport::Lane) {
      if (role == actor::Role::kHost) write_down(frame);
    });
    program::PartPlan plan = *PlanMaker(std::vector<DeviceId>{0}).gangs(1).output(0, 64).make();
    plan.id = 1;
    const Frame part = program::encode_frame(plan);
    wire::FrameBuilder builder;
    auto definition = builder.init_root<Message>().initDefinePlan();
    definition.setId(plan.id);
    definition.setPart(wire::frame_data(part));
    say(builder.finish());
  }
  static CoreOptions options() {
    CoreOptions options;
    options.devices = 1;
    options.memory_bytes = 1000;
    return options;
  }
  void say(const Frame& frame) {
    scheduler_.receive(frame);
    scheduler_.idle();
  }
  /// Runs 1 to 3, which make arrays 101 to 103. The first two are freed, each before the run behind
  /// it; or nobody says when.
  void launch_three(bool says_when) {
    wire::FrameBuilder builder;
    auto batch = builder.init_root<Message>().initLaunches();
    auto records = batch.initRecords(3);
    auto ids = batch.initIds(3);
    auto frees = batch.initFrees(2);
    for (unsigned i = 0; i < 3; ++i) {
      records[i].setStamp(i + 1);
      records[i].setRun(i + 1);
      records[i].setPlan(1);
      records[i].setBegin(i);
      records[i].setFreesBefore(says_when ? i : 0);
      ids.set(i, 101 + i);
      if (i < 2) frees.set(i, 101 + i);
    }
    say(builder.finish());
  }

  std::string heard_;

 private:
  void write_down(const Frame& frame) {
    const Status status = wire::read_frame<Message>(frame, [this](Message::Reader message) {
      if (message.which() != Message::ORDERS) return Status();
      for (const auto order : message.getOrders()) {
        const auto kind = static_cast<program::OrderKind>(order.getKind());
        if (kind == program::OrderKind::kPlace) heard_ += " " + std::to_string(order.getId());
        if (kind == program::OrderKind::kFree) heard_ += " -" + std::to_string(order.getId());
      }
      return Status();
    });
    EXPECT_TRUE(status.ok()) << status.to_string();
  }

  actor::Router router_;
  ManualClock clock_;
  events::EventStream events_{16};
  SchedulerActor scheduler_{0, options(), router_, clock_, events_, false};
};

TEST_F(Batches, RoomEndsWhereItIsSaidAmongTheLaunches) {
  launch_three(true);

  EXPECT_EQ(heard_, " 1 -101 2 -102 3");
}

TEST_F(Batches, RoomEndsBehindAllLaunchesWhereNobodySaysWhen) {
  launch_three(false);

  EXPECT_EQ(heard_, " 1 2 3 -101 -102");
}

TEST_F(View, BeginsANewLifeWhenTooMuchWaitsForIt) {
  lost_code_ = StatusCode::kResourceExhausted;
  say_view(1);
  for (std::size_t i = 0; i < actor::HeldLimits{}.frames; ++i) say_exists();
  EXPECT_TRUE(lost_.empty());
  say_exists();
  EXPECT_EQ(lost_, std::vector{actor::Role::kController});
}

TEST_F(View, AnEdgeThatDoesNotExistIsWaitedFor) {
  say_view(1);
  say_state(1);

  EXPECT_EQ(places_, 0u);
}

TEST_F(View, AnEdgeThatWasHeardOfBeforeTheFirstViewExists) {
  say_exists();
  say_view(1);
  say_state(1);

  EXPECT_EQ(places_, 1u);
}

TEST_F(View, WorkThatWasMeantForTheLifeBeforeIsNotBegun) {
  wire::FrameBuilder builder;
  auto put = builder.init_root<Message>().initArrays(1)[0];
  put.setKind(wire::ArrayRecord::Kind::PUT);
  put.setArray(9);
  put.setBytes(64);
  put.initDevices(1).set(0, 0);
  say(builder.finish());
  EXPECT_EQ(arrays(), 0u);

  say_view(1);
  say_state(1);
  say(builder.finish());

  EXPECT_EQ(arrays(), 1u);
}

TEST_F(View, AnEdgeThatWasHeardOfWhileTheViewBeganExists) {
  say_view(1);
  say_exists();
  say_view(2);
  say_state(2);

  EXPECT_EQ(places_, 1u);
}

TEST_F(View, AnEdgeThatWasHeardOfInTheViewBeforeExists) {
  say_view(1);
  say_state(1);
  say_exists();
  places_ = 0;  // The host that it was said to has gone.
  say_view(2);
  say_state(2);

  EXPECT_EQ(places_, 1u);
}

TEST_F(View, WhatAPeerHasNotHeardItHearsAgainThoughThePartIsOver) {
  begin_sender(1);
  end_sender(1);
  const std::uint32_t before = exists_;

  say_peer_is_back();

  EXPECT_EQ(before, 1u);
  EXPECT_EQ(exists_, 2u);
}

TEST_F(View, WhatAPeerHasNotHeardItHearsAgainInALaterViewOfWhichThePartIsNoMore) {
  begin_sender(1);
  end_sender(1);
  say_empty_view(2);
  const std::uint32_t before = exists_;

  say_peer_is_back();

  EXPECT_EQ(before, 1u);
  EXPECT_EQ(exists_, 2u);
}

TEST_F(View, WhatIsOverEverywhereIsNotSaidAgain) {
  begin_sender(1);
  end_sender(1);
  say_oldest(kStamp + 1);

  say_peer_is_back();

  EXPECT_EQ(exists_, 1u);
}

TEST_F(View, WhatTheHostSaysAfterItWasLostMeansNothingUntilTheNextView) {
  begin_sender(1);
  say_host_is_lost();
  end_sender(1);
  const std::uint32_t before = finished_;

  begin_sender(2);
  end_sender(2);

  EXPECT_EQ(before, 0u);
  EXPECT_EQ(finished_, 1u);
}

}  // namespace
}  // namespace seaway::island
