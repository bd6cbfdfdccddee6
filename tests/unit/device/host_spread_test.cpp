// A host whose island has other hosts: gangs, copies and transfers of values that lie on both.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "device/annex_codec.hpp"
#include "device/annex_core.hpp"
#include "unit/device/host_world.hpp"

namespace seaway::device {
namespace {

/// Adds 1 to its operand, sums that over all shards, and adds 1 again: a stage, an exchange, a
/// stage.
class TotalKernel final : public function::Executable {
 public:
  const std::vector<TensorType>& parameter_types() const override { return types_; }
  const std::vector<TensorType>& output_types() const override { return types_; }
  std::size_t scratch_bytes() const override { return 0; }
  std::uint64_t cost_ns() const override { return 100; }
  Status run(std::span<const function::ShardedBuffer>, std::span<const function::ShardedBuffer>,
             function::ShardedBuffer, std::size_t, function::Parallelism*) const override {
    return unimplemented("it was not to run at once");
  }
  std::size_t stages(bool) const override { return 3; }
  const function::Exchange* exchange_at(std::size_t stage, bool) const override {
    return stage == 1 ? &exchange_ : nullptr;
  }
  Status run_stage(std::size_t stage, bool, std::span<const function::ShardedBuffer> operands,
                   std::span<const function::ShardedBuffer> outputs, function::ShardedBuffer,
                   function::ShardRange shards, function::Parallelism*) const override {
    std::array<float, 16> total{};
    for (std::size_t s = shards.begin; s < shards.end; ++s) {
      std::array<float, 16> row;
      std::memcpy(row.data(), (stage == 0 ? operands : outputs)[0].shard(s), kShardBytes);
      for (std::size_t i = 0; i < row.size(); ++i) total[i] += row[i];
      for (float& number : row) number += 1;
      if (stage != 1) std::memcpy(outputs[0].shard(s), row.data(), kShardBytes);
    }
    for (std::size_t s = shards.begin; s < shards.end && stage == 1; ++s) {
      std::memcpy(outputs[0].shard(s), total.data(), kShardBytes);
    }
    return {};
  }

 private:
  std::vector<TensorType> types_ = {f32({16})};
  function::Exchange exchange_ = {{function::ValuePlace::Table::kOutput, 0, 0},
                                  {function::ValuePlace::Table::kOutput, 0, 0},
                                  kShardBytes,
                                  kShardBytes};
};

/// Islands of two hosts, with two devices each: 0 and 1 are the host's, 2 and 3 its annex's. What
/// they say waits until it is carried.
struct SpreadWorld : HostWorld {
  SpreadWorld() : HostWorld(4, 1 << 20, 0, nullptr, {}, 2) {
    core.begin_life(0);
    for (std::size_t parameters = 0; parameters < 4; ++parameters) {
      for (std::size_t outputs = 0; outputs < 4; ++outputs) {
        annex.add_function(kernel_id(parameters, outputs),
                           std::make_shared<SumKernel>(parameters, outputs));
      }
    }
  }

  /// What was ordered reaches the annex; true if there was any.
  bool carry_orders() {
    const auto orders = std::exchange(core.annexes().outbox()[1], {});
    for (const Frame& frame : encode_orders(orders)) {
      auto decoded = decode_orders(frame);
      EXPECT_TRUE(decoded.ok()) << decoded.status().to_string();
      for (AnnexOrder& order : *decoded) {
        const Status status = annex.follow(std::move(order));
        EXPECT_TRUE(status.ok()) << status.to_string();
      }
    }
    return !orders.empty();
  }
  /// What it answers reaches the host.
  bool carry_answers() {
    const auto answers = std::exchange(annex.answers(), {});
    for (const Frame& frame : encode_answers(answers)) {
      auto decoded = decode_answers(frame);
      EXPECT_TRUE(decoded.ok()) << decoded.status().to_string();
      for (AnnexAnswer& answer : *decoded) {
        const Status status = core.annexes().answer(std::move(answer));
        EXPECT_TRUE(status.ok()) << status.to_string();
      }
    }
    core.advance();
    return !answers.empty();
  }
  void carry() {
    while (carry_orders() || carry_answers()) {
    }
  }
  /// The first number of each shard, as a client gets it.
  std::string read(ArrayId array, std::size_t shards = 4) {
    core.fetch(array, 5, 1);
    carry();
    return fetched(shards);
  }
  std::string fetched(std::size_t shards = 4) {
    if (core.outbox().fetched.empty()) return "nothing";
    const HostOutbox::Fetched answer = std::move(core.outbox().fetched.front());
    core.outbox().fetched.erase(core.outbox().fetched.begin());
    if (!answer.status.ok()) return answer.status.to_string();
    EXPECT_EQ(answer.value.size(), shards * kShardBytes);
    std::string text;
    for (std::size_t s = 0; s < shards; ++s) {
      float value = 0;
      std::memcpy(&value, answer.value.data() + s * kShardBytes, sizeof(value));
      text += (s > 0 ? " " : "") + std::to_string(static_cast<int>(value));
    }
    return text;
  }
  /// Shard s is full of `first` + s.
  static std::vector<float> rows(float first, std::size_t shards = 4) {
    std::vector<float> values;
    for (std::size_t s = 0; s < shards; ++s) {
      values.insert(values.end(), 16, first + static_cast<float>(s));
    }
    return values;
  }

  FakeBackend annex_backend{clock};
  AnnexCore annex{annex_backend};
};

const std::vector<DeviceId> kAll = {0, 1, 2, 3};

/// Reads one array, makes one.
PartMaker next(PlanId id, std::vector<DeviceId> devices = kAll, GangOptions options = {}) {
  PartMaker part(id, std::move(devices));
  part.gang({part.arg()}, {part.output()}, std::move(options));
  return part;
}

TEST(HostSpread, AGangRunsOnAllHostsAndItsValueIsWhole) {
  SpreadWorld world;
  world.put(50, SpreadWorld::rows(10), kAll);

  world.run(1, next(1), {50, 60});
  EXPECT_EQ(world.said(), "");
  EXPECT_FALSE(world.core.is_idle());
  world.carry();

  EXPECT_EQ(world.seen(), "start 1.0, end 1.0");
  EXPECT_EQ(world.said(), "gangs 1 0-1");
  EXPECT_EQ(world.read(60), "11 12 13 14");
  EXPECT_EQ(world.used(0), 2 * kShardBytes);
  EXPECT_EQ(world.used(3), 2 * kShardBytes);
  EXPECT_EQ(world.annex.room_count(), 2u);
  EXPECT_TRUE(world.core.is_idle());

  world.free(50);
  world.free(60);
  world.carry();
  EXPECT_EQ(world.annex.room_count(), 0u);
  EXPECT_EQ(world.used(3), 0u);
}

TEST(HostSpread, AnExchangeSeesTheShardsOfAllHosts) {
  SpreadWorld world;
  world.core.add_function(kernel_id(1, 1), std::make_shared<TotalKernel>());
  world.carry();  // The one of before is forgotten.
  world.annex.add_function(kernel_id(1, 1), std::make_shared<TotalKernel>());
  world.put(50, SpreadWorld::rows(10), kAll);

  world.run(1, next(1), {50, 60});
  world.carry();

  EXPECT_EQ(world.read(60), "51 51 51 51");  // 11 + 12 + 13 + 14, and 1.
}

TEST(HostSpread, GangsOfOneHostAloneAskNobodyElse) {
  SpreadWorld world;
  world.put(50, SpreadWorld::rows(10, 2), {0, 1});
  world.put(51, SpreadWorld::rows(20, 2), {2, 3});

  world.run(1, next(1, {0, 1}), {50, 60});
  EXPECT_TRUE(world.core.annexes().outbox()[1].empty());
  EXPECT_EQ(world.said(), "gangs 1 0-1");
  world.run(2, next(2, {2, 3}), {51, 61});
  world.carry();

  EXPECT_EQ(world.read(60, 2), "11 12");
  EXPECT_EQ(world.read(61, 2), "21 22");
}

TEST(HostSpread, ChainsOfGangsGoOnWhereTheirValuesAre) {
  SpreadWorld world;
  world.put(50, SpreadWorld::rows(10), kAll);
  PartMaker part(1, kAll);
  const std::uint32_t in = part.arg(), one = part.inner(), two = part.inner();
  part.gang({in}, {one}).gang({one}, {two}).gang({two}, {part.output()});

  world.run(1, part, {50, 60});
  world.carry();

  EXPECT_EQ(world.said(), "gangs 1 0-3");
  EXPECT_EQ(world.read(60), "13 14 15 16");
}

TEST(HostSpread, AnOutputTakesOverTheRoomOfItsDonor) {
  SpreadWorld world;
  world.put(50, SpreadWorld::rows(10), kAll);
  PartMaker part = next(1);
  part.donate(0, 0);

  world.run(1, part, {50, 60});
  world.carry();

  EXPECT_EQ(world.read(60), "11 12 13 14");
  EXPECT_EQ(world.annex.room_count(), 1u);
  EXPECT_EQ(world.used(3), kShardBytes);
}

TEST(HostSpread, AFailureOnAnotherHostFailsTheGang) {
  SpreadWorld world;
  function::NativeFunction native;
  native.parameters = native.outputs = {f32({16})};
  native.body = [](auto, auto, std::byte*) { return invalid_argument("it is too large"); };
  world.annex.add_function(kernel_id(1, 1), function::make_native(native));
  world.put(50, SpreadWorld::rows(10), kAll);

  world.run(1, next(1), {50, 60});
  world.carry();

  EXPECT_NE(world.said().find("USER_FUNCTION_ERROR"), std::string::npos);
  EXPECT_NE(world.read(60).find("it is too large"), std::string::npos);
}

TEST(HostSpread, ASpilledArrayComesBack) {
  SpreadWorld world;
  world.put(50, SpreadWorld::rows(10), kAll);
  world.run(1, next(1), {50, 60});
  world.carry();
  world.said();

  world.spill(60);
  world.launch(2, next(2), {60, 61});
  world.admit(2);
  world.place(2, 0, 1);
  world.core.advance();
  EXPECT_EQ(world.said(), "");  // What is ordered behind it waits.
  EXPECT_EQ(world.used(3), 2 * kShardBytes);
  world.carry_orders();
  world.carry_answers();
  EXPECT_EQ(world.said(), "spilled 60");
  world.carry();

  EXPECT_EQ(world.said(), "gangs 2 0-1");
  EXPECT_EQ(world.read(61), "12 13 14 15");
}

TEST(HostSpread, ASpillOfAnEarlierViewIsNone) {
  SpreadWorld world;
  world.put(50, SpreadWorld::rows(10), kAll);
  world.run(1, next(1), {50, 60});
  world.carry();
  world.said();

  world.spill(60);
  world.core.begin_view();
  world.carry();

  EXPECT_EQ(world.said(), "");
  EXPECT_EQ(world.used(3), 2 * kShardBytes);
  EXPECT_EQ(world.read(60), "11 12 13 14");
  world.spill(60);
  world.carry();
  EXPECT_EQ(world.said(), "spilled 60");
  EXPECT_EQ(world.used(3), kShardBytes);
}

TEST(HostSpread, WhoAskedBeforeAnArrayWentGetsIt) {
  SpreadWorld world;
  world.put(50, SpreadWorld::rows(10), kAll);
  world.run(1, next(1), {50, 60});
  world.carry();

  world.core.fetch(60, 5, 1);
  world.free(60);
  world.put(51, SpreadWorld::rows(90), kAll);
  world.run(2, next(1), {51, 61});
  world.carry();

  EXPECT_EQ(world.fetched(), "11 12 13 14");
  EXPECT_EQ(world.read(61), "91 92 93 94");
}

TEST(HostSpread, AnArrayThatIsFreedWhileItsRunGoesOnWaitsInHostRoom) {
  SpreadWorld world;
  world.put(50, SpreadWorld::rows(10), kAll);
  PartMaker part(1, kAll);
  const std::uint32_t in = part.arg(), made = part.output();
  part.gang({in}, {made}).gang({in}, {part.output()});
  world.launch(1, part, {50, 60, 61});
  world.admit(1);
  world.place(1, 0, 1);
  world.core.advance();
  world.carry();
  world.core.fetch(60, 5, 1);

  world.free(60);
  EXPECT_EQ(world.used(3), kShardBytes);
  world.carry();
  EXPECT_EQ(world.annex.room_count(), 1u);
  EXPECT_EQ(world.fetched(), "nothing");
  world.place(1, 1, 2);
  world.core.advance();
  world.carry();

  EXPECT_EQ(world.fetched(), "11 12 13 14");
}

/// Makes a value from an argument and sends it as edge 7 to island 1.
PartMaker sender() {
  PartMaker part(1, kAll);
  const std::uint32_t in = part.arg(), sent = part.inner();
  part.gang({in}, {sent}).send(sent, 7, 1);
  return part;
}

TEST(HostSpread, AValueIsSentWhenAllOfItIsHere) {
  SpreadWorld world;
  world.put(50, SpreadWorld::rows(10), kAll);
  world.run(1, sender(), {50});
  world.carry();
  EXPECT_EQ(world.said(), "gangs 1 0-1");

  world.armed(1, 7, 1);
  EXPECT_EQ(world.said(), "");
  world.carry();

  EXPECT_EQ(world.said(), "delivered 1.7 to 1");
  const auto payload = world.bulk.take_edge(1, 7);
  ASSERT_TRUE(payload.has_value());
  for (std::size_t s = 0; s < 4; ++s) {
    float value = 0;
    std::memcpy(&value, payload->base + s * payload->stride, sizeof(value));
    EXPECT_EQ(value, 11 + static_cast<float>(s));
  }
  world.consumed(1, 7, 1);
  world.carry();
  EXPECT_EQ(world.said(), "received 1.7");
  EXPECT_TRUE(world.core.is_idle());
  EXPECT_EQ(world.annex.room_count(), 1u);
}

TEST(HostSpread, ASendThatIsOverWhileItIsReadIsOver) {
  for (const bool is_cancelled : {false, true}) {
    SpreadWorld world;
    world.put(50, SpreadWorld::rows(10), kAll);
    world.run(1, sender(), {50});
    world.carry();
    world.armed(1, 7, 1);
    world.said();

    if (is_cancelled) {
      world.cancel(1);
      EXPECT_EQ(world.said(), "delivered 1.7 to 1 CANCELLED: run 101 was cancelled");
      world.consumed(1, 7, 1);
    } else {
      world.declined(1, 7, 1);
    }
    world.carry();

    EXPECT_EQ(world.said(), is_cancelled ? "received 1.7, fenced 1" : "received 1.7");
    EXPECT_TRUE(world.core.is_idle());
    EXPECT_FALSE(world.bulk.take_edge(1, 7).has_value());
  }
}

TEST(HostSpread, SendsMoveToHostRoomWhenTheyHaveBeenRead) {
  SpreadWorld world;
  world.put(50, SpreadWorld::rows(10), kAll);
  world.run(1, sender(), {50});
  world.carry();
  world.said();
  const std::uint64_t before = world.used(3);

  world.move_sends(1);
  EXPECT_EQ(world.said(), "");
  EXPECT_EQ(world.used(3), before);
  world.carry();

  EXPECT_EQ(world.said(), "moved 1");
  EXPECT_LT(world.used(3), before);
  world.armed(1, 7, 1);
  EXPECT_EQ(world.said(), "delivered 1.7 to 1");
}

TEST(HostSpread, WhatIsReceivedReachesTheOtherHosts) {
  SpreadWorld world;
  PartMaker part(2, kAll);
  const std::uint32_t in = part.receive(7, 1);
  part.gang({in}, {part.output()});
  world.run(1, part, {60});
  EXPECT_EQ(world.said(), "armed 1.7 to 1");

  world.offer(1, 7, SpreadWorld::rows(20));
  world.delivered(1, 7, 1);
  world.carry();

  EXPECT_EQ(world.said(), "consumed 1.7 to 1, gangs 1 0-1");
  EXPECT_EQ(world.read(60), "21 22 23 24");
}

TEST(HostSpread, ValuesAreCopiedBetweenGroupsOnOtherHosts) {
  SpreadWorld world;
  PartMaker part(1, {0, 2});
  const std::uint32_t there = part.group({2, 3}), back = part.group({0, 1});
  const std::uint32_t in = part.arg(), moved = part.inner(there), made = part.inner(there);
  part.reshard(in, moved).gang({moved}, {made}, {.group = there}).reshard(made, part.output(back));
  world.put(50, SpreadWorld::rows(10, 2), {0, 2});

  world.run(1, part, {50, 60});
  world.carry();

  EXPECT_EQ(world.said(), "gangs 1 0-3");
  EXPECT_EQ(world.read(60, 2), "11 12");
}

TEST(HostSpread, AnAnswerThatNobodyAskedForIsAnError) {
  SpreadWorld world;
  EXPECT_EQ(world.core.annexes().answer({7, {}, {}}).code(), StatusCode::kProtocolError);

  world.put(50, SpreadWorld::rows(10), kAll);
  world.run(1, next(1), {50, 60});
  world.carry();
  world.core.fetch(60, 5, 1);
  const auto orders = std::exchange(world.core.annexes().outbox()[1], {});
  const std::uint64_t ticket = std::get<ReadRoom>(orders.back()).ticket;

  EXPECT_EQ(world.core.annexes().answer({ticket, {}, std::vector<std::byte>(3)}).code(),
            StatusCode::kProtocolError);
}

// ---- The annex alone ------------------------------------------------------------------------

TEST(AnnexCore, RefusesWhatItsHostNeverAsksFor) {
  ManualClock clock;
  FakeBackend backend(clock);
  AnnexCore annex(backend);
  annex.add_function(1, std::make_shared<SumKernel>(1, 1));
  ASSERT_TRUE(annex.follow(MakeRoom{5, 2, 2, 128}).ok());

  const RoomRange inside{5, 2, 2, 64, 64};
  EXPECT_TRUE(annex.follow(WriteRoom{inside, std::vector<std::byte>(128)}).ok());
  for (const AnnexOrder& order : std::vector<AnnexOrder>{
           MakeRoom{5, 2, 2, 128}, DropRoom{6}, WriteRoom{inside, std::vector<std::byte>(127)},
           ReadRoom{1, {6, 2, 2, 0, 1}}, ReadRoom{1, {5, 1, 2, 0, 1}}, ReadRoom{1, {5, 2, 3, 0, 1}},
           ReadRoom{1, {5, 2, 2, 65, 64}}, ReadRoom{1, {5, 2, 0xffffffff, 0, 1}},
           ReadRoom{1, {5, 2, 2, 0xffffffffffffffff, 2}},
           RunStage{1, 2, 0, false, {2, 4, 4}, 1, {{5, 0}}, {{5, 64}}, {}},
           RunStage{1, 1, 0, false, {2, 4, 4}, 1, {}, {{5, 64}}, {}},
           RunStage{1, 1, 1, false, {2, 4, 4}, 1, {{5, 0}}, {{5, 64}}, {}},
           RunStage{1, 1, 0, false, {2, 5, 4}, 1, {{5, 0}}, {{5, 64}}, {}},
           RunStage{1, 1, 0, false, {1, 4, 4}, 1, {{5, 0}}, {{5, 64}}, {}},
           RunStage{1, 1, 0, false, {2, 4, 4}, 1, {{5, 0}}, {{5, 65}}, {}}}) {
    EXPECT_EQ(annex.follow(order).code(), StatusCode::kProtocolError) << order.index();
  }
  EXPECT_EQ(annex.follow(MakeRoom{7, 0, 1u << 31, std::uint64_t{1} << 40}).code(),
            StatusCode::kResourceExhausted);
  EXPECT_TRUE(annex.answers().empty());
}

TEST(AnnexCore, ForgetsAllForItsNextHost) {
  ManualClock clock;
  FakeBackend backend(clock);
  AnnexCore annex(backend);
  annex.add_function(1, std::make_shared<SumKernel>(0, 1));
  ASSERT_TRUE(annex.follow(MakeRoom{5, 0, 1, 64}).ok());
  ASSERT_TRUE(annex.follow(RunStage{1, 1, 0, false, {0, 1, 1}, 1, {}, {{5, 0}}, {}}).ok());
  EXPECT_EQ(annex.answers().size(), 1u);

  annex.begin_anew();

  EXPECT_TRUE(annex.answers().empty());
  EXPECT_EQ(annex.room_count(), 0u);
  EXPECT_EQ(annex.function_count(), 0u);
  EXPECT_TRUE(annex.follow(MakeRoom{5, 0, 1, 64}).ok());
}

TEST(AnnexCodec, SplitsWhatIsLargeIntoFramesInOrder) {
  std::vector<AnnexOrder> orders;
  for (std::uint64_t i = 0; i < 5; ++i) {
    orders.emplace_back(WriteRoom{{i, 0, 1, 0, kAnnexFrameBytes / 2 + 1},
                                  std::vector<std::byte>(kAnnexFrameBytes / 2 + 1, std::byte(i))});
    orders.emplace_back(DropRoom{i});
  }
  const std::vector<Frame> frames = encode_orders(orders);
  EXPECT_EQ(frames.size(), 5u);
  std::uint64_t next = 0;
  for (const Frame& frame : frames) {
    auto decoded = decode_orders(frame);
    ASSERT_TRUE(decoded.ok());
    for (const AnnexOrder& order : *decoded) {
      const auto* const write = std::get_if<WriteRoom>(&order);
      if (write) {
        EXPECT_EQ(write->range.room, next);
        EXPECT_EQ(write->data, std::get<WriteRoom>(orders[2 * next]).data);
      } else {
        EXPECT_EQ(std::get<DropRoom>(order).room, next++);
      }
    }
  }
  EXPECT_EQ(next, 5u);
  EXPECT_FALSE(decode_answers(frames[0]).ok());
}

}  // namespace
}  // namespace seaway::device
