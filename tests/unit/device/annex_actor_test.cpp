// A host and its annex, as frames: functions that both compile, and lives of a host that end.

#include "device/annex_actor.hpp"

#include <gtest/gtest.h>
#include <seaway.capnp.h>

#include <deque>
#include <memory>
#include <string>

#include "actor/seeded_engine.hpp"
#include "device/annex_codec.hpp"
#include "device/host_actor.hpp"
#include "program/codec.hpp"
#include "unit/device/fake_data_plane.hpp"
#include "unit/device/host_world.hpp"
#include "wire/frame_builder.hpp"
#include "wire/frame_reader.hpp"
#include "wire/status_codec.hpp"

namespace seaway::device {
namespace {

using actor::Role;
using wire::Message;

function::NativeFunction native(const TensorType& type) {
  function::NativeFunction made;
  made.name = "native";
  made.parameters = made.outputs = {type};
  made.body = [](auto, auto, std::byte*) { return Status(); };
  return made;
}

/// Islands of two hosts. What anybody says waits until it is carried.
class TwoHosts : public testing::Test {
 protected:
  TwoHosts() {
    router_.set_elsewhere([this](Role role, std::uint32_t index, Frame frame, transport::Lane) {
      letters_.push_back({role, index, std::move(frame)});
    });
    router_.on_malformed([this](Role role, std::uint32_t index, const Status& why) {
      malformed_ = std::to_string(static_cast<int>(role)) + "." + std::to_string(index) + " " +
                   why.to_string();
    });
    wire::FrameBuilder builder;
    builder.init_root<Message>().initView().setNumber(1);
    host_.receive(builder.finish());
  }

  /// As the controller says it.
  void define(FunctionId id) {
    wire::FrameBuilder builder;
    auto definition = builder.init_root<Message>().initCompile();
    definition.setId(id);
    definition.setNative("native");
    program::FunctionInfo info;
    info.parameters = info.outputs = {f32({16})};
    definition.setInfo(wire::frame_data(program::encode_frame(info)));
    host_.receive(builder.finish());
    host_.idle();
  }
  void carry() {
    while (!letters_.empty()) {
      const Letter letter = std::move(letters_.front());
      letters_.pop_front();
      if (letter.role == Role::kAnnex) {
        EXPECT_EQ(letter.index, actor::annex_of(0, 1));
        annex_.receive(letter.frame);
        annex_.idle();
      } else if (letter.role == Role::kHost) {
        host_.receive(letter.frame);
        host_.idle();
      } else {
        hear(letter.frame);
      }
    }
  }
  void say_to_annex(bool is_lost) {
    wire::FrameBuilder builder;
    auto peer = builder.init_root<Message>().initPeer();
    peer.setRole(static_cast<std::uint8_t>(Role::kHost));
    peer.setLost(is_lost);
    annex_.receive(builder.finish());
    annex_.idle();
  }
  void order(const AnnexOrder& order) {
    for (const Frame& frame : encode_orders({&order, 1})) annex_.receive(frame);
    annex_.idle();
  }

  function::NativeRegistry hosts_natives_, annexes_natives_;
  std::string compiled_;   // What the controller heard of functions,
  std::string malformed_;  // and who was told to have said what nobody says.

  std::unique_ptr<actor::SeededEngine> engine_ = actor::make_seeded_engine(1);
  actor::Router router_;
  transport::LocalBulk bulk_;
  events::EventStream events_{64};
  ManualClock clock_;
  FakeBackend backend_{clock_}, annex_backend_{clock_};
  HostActor host_{{.devices = 2, .hosts = 2, .device_bytes = 1 << 20, .is_process = true},
                  {*engine_, router_, bulk_, hosts_natives_, events_, {}},
                  backend_};
  FakeDataPlane::Network network_;
  FakeDataPlane data_{0, network_};
  AnnexActor annex_{0, 1, {router_, annexes_natives_, nullptr, &data_}, annex_backend_};

 private:
  struct Letter {
    Role role;
    std::uint32_t index;
    Frame frame;
  };

  void hear(const Frame& frame) {
    const Status status = wire::read_frame<Message>(frame, [this](Message::Reader message) {
      if (!message.isCompiled()) return;
      const auto one = message.getCompiled();
      compiled_ += std::to_string(one.getFunction()) + " on " + std::to_string(one.getHost()) +
                   ": " + (one.getCode() == 0 ? "ok" : one.getMessage().cStr()) + "; ";
    });
    EXPECT_TRUE(status.ok()) << status.to_string();
  }

  std::deque<Letter> letters_;
};

TEST_F(TwoHosts, AFunctionIsKnownWhenBothHaveIt) {
  hosts_natives_.add("native", function::make_native(native(f32({16}))));
  annexes_natives_.add("native", function::make_native(native(f32({16}))));

  define(7);
  EXPECT_EQ(host_.core().function_count(), 0u);
  carry();

  EXPECT_EQ(compiled_, "7 on 0: ok; ");
  EXPECT_EQ(host_.core().function_count(), 1u);
  EXPECT_EQ(annex_.core().function_count(), 1u);
  host_.core().forget_client(client_of(7));
  host_.idle();
  carry();
  EXPECT_EQ(annex_.core().function_count(), 0u);
}

TEST_F(TwoHosts, AFunctionThatOneOfThemLacksIsKnownToNeither) {
  hosts_natives_.add("native", function::make_native(native(f32({16}))));

  define(7);
  carry();

  EXPECT_EQ(compiled_,
            "7 on 0: host 1 of island 0: native function native is not registered in this process; "
            "register it in main(); ");
  EXPECT_EQ(host_.core().function_count(), 0u);
}

TEST_F(TwoHosts, WhatAHostOfBeforeWantedIsForgotten) {
  annexes_natives_.add("native", function::make_native(native(f32({16}))));
  hosts_natives_.add("native", function::make_native(native(f32({16}))));
  define(7);
  carry();
  order(MakeRoom{1, 0, 1, 64});
  order(ReadRoom{1, {1, 0, 1, 0, 64}});
  EXPECT_EQ(annex_.core().room_count(), 1u);

  say_to_annex(true);

  EXPECT_EQ(annex_.core().room_count(), 0u);
  EXPECT_EQ(annex_.core().function_count(), 0u);
  say_to_annex(false);
  order(MakeRoom{1, 0, 1, 64});
  EXPECT_EQ(annex_.core().room_count(), 1u);
  EXPECT_EQ(malformed_, "");
}

TEST_F(TwoHosts, BothShareConnectionsByTheWeightsOfTenants) {
  wire::FrameBuilder builder;
  auto weight = builder.init_root<Message>().initWeights(1)[0];
  weight.setTenant(7);
  weight.setWeight(3);
  host_.receive(builder.finish());
  host_.idle();
  carry();

  EXPECT_EQ(data_.weights[7], 3u);
  EXPECT_EQ(malformed_, "");
}

TEST_F(TwoHosts, WhoeverOrdersNonsenseIsLost) {
  order(DropRoom{3});
  EXPECT_EQ(malformed_, "2.0 PROTOCOL_ERROR: there is no room 3 here");

  wire::FrameBuilder builder;
  builder.init_root<Message>().setTurn(3);
  annex_.receive(builder.finish());
  EXPECT_NE(malformed_.find("which is not for it"), std::string::npos);

  for (const Frame& frame : encode_answers(std::vector<AnnexAnswer>{{99, {}, {}}})) {
    host_.receive(frame);
  }
  EXPECT_NE(malformed_.find("ticket 99"), std::string::npos);
}

}  // namespace
}  // namespace seaway::device
