// Large definitions: a host decodes them on another thread and serves its clients meanwhile.

#include <gtest/gtest.h>
#include <seaway.capnp.h>

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actor/seeded_engine.hpp"
#include "device/host_actor.hpp"
#include "program/codec.hpp"
#include "unit/device/host_world.hpp"
#include "wire/frame_builder.hpp"
#include "wire/status_codec.hpp"

namespace seaway::device {
namespace {

using wire::Message;

/// A host for which every frame is large. Its work on another thread happens in end_next().
class HostOffload : public testing::Test {
 protected:
  HostOffload() {
    backend_.on_compile = [this](const function::Graph& graph) { compiled_.push_back(graph.name); };
    host_.receive(frame([](Message::Builder message) { message.initView().setNumber(1); }));
  }

  template <typename Fill>
  static Frame frame(Fill fill) {
    wire::FrameBuilder builder;
    fill(builder.init_root<Message>());
    return builder.finish();
  }
  void end_next() {
    const auto [work, then] = std::move(offloaded_.front());
    offloaded_.pop_front();
    work();
    then();
  }
  actor::OffloadOptions offload() {
    return {
        .offload = [this](auto work, auto then) { offloaded_.emplace_back(std::move(work), then); },
        .frame_bytes_min = 0};
  }

  std::deque<std::pair<std::function<void()>, std::function<void()>>> offloaded_;
  std::vector<std::string> compiled_;
  std::unique_ptr<actor::SeededEngine> engine_ = actor::make_seeded_engine(1);
  actor::Router router_;
  transport::LocalBulk bulk_;
  function::NativeRegistry natives_;
  events::EventStream events_{64};
  ManualClock clock_;
  FakeBackend backend_{clock_};
  HostActor host_{
      {.device_bytes = 1 << 20, .is_process = true},
      {*engine_, router_, bulk_, natives_, events_, {}, nullptr, nullptr, nullptr, offload()},
      backend_};
};

TEST_F(HostOffload, DecodesAFunctionOnAnotherThread) {
  function::Graph graph;
  graph.name = "copy";
  graph.instructions = {{.op = function::Op::kParameter, .type = f32({2})}};
  graph.parameters = graph.outputs = {0};

  host_.receive(frame([&graph](Message::Builder message) {
    auto compile = message.initCompile();
    compile.setId(1);
    compile.setGraph(wire::frame_data(program::encode_frame(graph)));
  }));

  EXPECT_EQ(compiled_, std::vector<std::string>{});
  ASSERT_EQ(offloaded_.size(), 1u);
  end_next();
  EXPECT_EQ(compiled_, std::vector<std::string>{"copy"});
}

TEST_F(HostOffload, ReceivesUploadsWhileAPlanIsPrepared) {
  const ArrayId array = make_id(3, 1);
  host_.core().define_spec(7, {f32({16}), NamedSharding(Mesh(1, {{"x", 1}}), P("x"))});
  host_.core().put(array, 7, {0});
  host_.receive(frame([](Message::Builder message) { message.initDefinePlan(); }));
  ASSERT_EQ(offloaded_.size(), 1u);

  host_.receive(frame([array](Message::Builder message) {
    message.setClient(client_of(array));
    auto bulk = message.initBulk();
    bulk.setKind(wire::Bulk::Kind::UPLOAD);
    bulk.setId(array);
    bulk.initData(64);
  }));

  EXPECT_EQ(host_.core().outbox().arrived, std::vector<ArrayId>{array});
}

TEST_F(HostOffload, PreparesAPlanAtOnceWhenTooMuchWaitsForIt) {
  std::vector<actor::Role> refused;
  router_.on_malformed(
      [&refused](actor::Role role, std::uint32_t, const Status&) { refused.push_back(role); });
  host_.receive(frame([](Message::Builder message) { message.initDefinePlan(); }));
  const Frame turn = frame([](Message::Builder message) { message.setTurn(1); });
  for (std::size_t i = 0; i < actor::HeldLimits{}.frames; ++i) host_.receive(turn);
  EXPECT_TRUE(refused.empty());

  host_.receive(turn);

  EXPECT_EQ(refused, std::vector{actor::Role::kController});  // It was no plan.
  end_next();
  EXPECT_EQ(refused.size(), 1u);
}

TEST_F(HostOffload, BeginsAnewWithASchedulerThatSpeaksOfTurnsThatNeverCome) {
  std::vector<std::pair<actor::Role, StatusCode>> refused;
  router_.on_malformed([&refused](actor::Role role, std::uint32_t, const Status& why) {
    refused.emplace_back(role, why.code());
  });
  const Frame orders = frame([](Message::Builder message) {
    message.setAfterTurn(7);
    message.initOrders(0);
  });
  for (std::size_t i = 0; i < actor::HeldLimits{}.frames; ++i) host_.receive(orders);
  EXPECT_TRUE(refused.empty());

  host_.receive(orders);

  using Refused = std::pair<actor::Role, StatusCode>;
  EXPECT_EQ(refused, std::vector{Refused(actor::Role::kIsland, StatusCode::kResourceExhausted)});
}

}  // namespace
}  // namespace seaway::device
