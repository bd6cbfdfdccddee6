// What a controller says to its islands: turns, as each island counts them.

#include "controller/controller_actor.hpp"

#include <gtest/gtest.h>
#include <seaway.capnp.h>

#include <functional>
#include <utility>
#include <vector>

#include "actor/router.hpp"
#include "unit/controller/controller_world.hpp"
#include "wire/frame_builder.hpp"
#include "wire/frame_reader.hpp"

namespace seaway::controller {
namespace {

using actor::Role;
using wire::Message;

/// The turns that a controller in its life `life` names to one island whose host begins `times`.
std::vector<std::uint64_t> turns_of(std::uint32_t life, std::uint32_t times) {
  FakeBinder binder;
  ManualClock clock;
  events::EventStream events{64};
  actor::Router router;
  std::vector<std::uint64_t> turns;
  router.set_elsewhere([&](Role role, std::uint32_t, const Frame& frame, transport::Lane) {
    const Status status = wire::read_frame<Message>(frame, [&](Message::Reader message) {
      if (role == Role::kHost && message.isTurn()) turns.push_back(message.getTurn());
      return Status();
    });
    EXPECT_TRUE(status.ok()) << status.to_string();
  });
  ControllerActor controller(
      ControllerWorld::with_defaults({.islands = 1, .has_members = true, .life = life}), binder,
      router, clock, events);
  controller.core().scheduler_joined(0, 1);
  for (std::uint32_t epoch = 1; epoch <= times; ++epoch) {
    controller.core().host_joined(0, epoch);
    controller.idle();
  }
  return turns;
}

TEST(Turns, RiseOverTheLivesOfAController) {
  const std::vector<std::uint64_t> first = turns_of(1, 3), second = turns_of(2, 2);
  ASSERT_EQ(first.size(), 3u);
  ASSERT_EQ(second.size(), 2u);
  EXPECT_LT(first.front(), first.back());
  EXPECT_LT(first.back(), second.front());
  EXPECT_LT(second.front(), second.back());
}

TEST(ControllerActor, EndsTheSessionOfAClientThatSendsTooMuchWhileItsProgramIsDecoded) {
  FakeBinder binder;
  ManualClock clock;
  events::EventStream events{64};
  actor::Router router;
  std::vector<Status> refusals;
  router.on_malformed([&refusals](Role role, std::uint32_t client, const Status& why) {
    EXPECT_EQ(role, Role::kClient);
    EXPECT_EQ(client, 7u);
    refusals.push_back(why);
  });
  ControllerOptions options = ControllerWorld::with_defaults({.islands = 1});
  std::function<void()> decoded;
  options.offload.offload = [&decoded](auto, auto then) { decoded = std::move(then); };
  options.offload.frame_bytes_min = 0;
  ControllerActor controller(options, binder, router, clock, events);
  wire::FrameBuilder program, request;
  auto definition = program.init_root<Message>();
  definition.setClient(7);
  definition.initDefineProgram();
  auto asked = request.init_root<Message>();
  asked.setClient(7);
  asked.initRequest().setStats();
  controller.receive(program.finish());

  const Frame question = request.finish();
  for (int i = 0; i < 65'536; ++i) controller.receive(question);
  EXPECT_TRUE(refusals.empty());
  controller.receive(question);

  ASSERT_EQ(refusals.size(), 1u);
  EXPECT_EQ(refusals[0].code(), StatusCode::kResourceExhausted);
  EXPECT_NE(refusals[0].message().find("65537 frames"), std::string::npos);
  decoded();  // The program has no client any more.
  EXPECT_EQ(refusals.size(), 1u);
}

TEST(ControllerActor, LetsNobodyJoinInALifeThatIsNotConnected) {
  FakeBinder binder;
  ManualClock clock;
  events::EventStream events{64};
  actor::Router router;
  std::vector<std::pair<Role, std::uint32_t>> refused;
  router.set_elsewhere([](Role, std::uint32_t, const Frame&, transport::Lane) {});
  router.on_malformed([&refused](Role role, std::uint32_t island, const Status& why) {
    EXPECT_EQ(why.code(), StatusCode::kProtocolError);
    refused.emplace_back(role, island);
  });
  ControllerActor controller(ControllerWorld::with_defaults({.islands = 2, .has_members = true}),
                             binder, router, clock, events);
  const auto tell = [&controller](Role role, std::uint32_t life, bool is_lost) {
    wire::FrameBuilder builder;
    auto peer = builder.init_root<Message>().initPeer();
    peer.setRole(static_cast<std::uint8_t>(role));
    peer.setIndex(1);
    peer.setEpoch(life);
    peer.setLost(is_lost);
    controller.receive(builder.finish());
  };
  const auto join = [&controller](Role role, std::uint32_t life) {
    wire::FrameBuilder builder;
    auto joined = builder.init_root<Message>().initJoin();
    joined.setRole(static_cast<std::uint8_t>(role));
    joined.setIsland(1);
    joined.setEpoch(life);
    controller.receive(builder.finish());
  };

  join(Role::kHost, 3);
  tell(Role::kHost, 3, false);
  tell(Role::kIsland, 4, false);
  join(Role::kHost, 4);
  join(Role::kIsland, 3);
  EXPECT_EQ(refused, (std::vector<std::pair<Role, std::uint32_t>>{
                         {Role::kHost, 1}, {Role::kHost, 1}, {Role::kIsland, 1}}));
  EXPECT_FALSE(controller.core().has_host(1));
  join(Role::kHost, 3);
  EXPECT_TRUE(controller.core().has_host(1));

  tell(Role::kHost, 3, true);
  join(Role::kHost, 3);
  EXPECT_EQ(refused.size(), 4u);
  EXPECT_FALSE(controller.core().has_host(1));
}

}  // namespace
}  // namespace seaway::controller
