// Islands of two hosts, for tests: a host, its annex, and what they say to each other.

#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "device/annex_codec.hpp"
#include "device/annex_core.hpp"
#include "device/exchange_codec.hpp"
#include "unit/device/fake_data_plane.hpp"
#include "unit/device/host_world.hpp"

namespace seaway::device {

/// Adds 1 to its operand, sums that over all shards, and adds 1 again: a stage, an exchange, a
/// stage.
class TotalKernel final : public function::Executable {
 public:
  explicit TotalKernel(std::size_t shards = 4) { exchange_.collective.groups.size = shards; }

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
    for (std::size_t s = shards.begin; s < shards.end; ++s) {
      std::array<float, 16> row;
      std::memcpy(row.data(), (stage == 0 ? operands : outputs)[0].shard(s), kShardBytes);
      for (float& number : row) number += 1;
      std::memcpy(outputs[0].shard(s), row.data(), kShardBytes);
    }
    return {};
  }

 private:
  std::vector<TensorType> types_ = {f32({16})};
  function::Exchange exchange_ = {
      {function::ValuePlace::Table::kOutput, 0, 0},
      {function::ValuePlace::Table::kOutput, 0, 0},
      {.groups = {1, 4, 1}, .run_elements = 16, .run_bytes = kShardBytes}};
};

/// Sums its operand over all shards, adds 1 to it meanwhile, and then adds both up: an exchange, a
/// stage that does not need it, and one that does.
class BesideKernel final : public function::Executable {
 public:
  const std::vector<TensorType>& parameter_types() const override { return operands_; }
  const std::vector<TensorType>& output_types() const override { return outputs_; }
  std::size_t scratch_bytes() const override { return 0; }
  std::uint64_t cost_ns() const override { return 100; }
  Status run(std::span<const function::ShardedBuffer>, std::span<const function::ShardedBuffer>,
             function::ShardedBuffer, std::size_t, function::Parallelism*) const override {
    return unimplemented("it was not to run at once");
  }
  std::size_t stages(bool) const override { return 3; }
  const function::Exchange* exchange_at(std::size_t stage, bool) const override {
    return stage == 0 ? &exchange_ : nullptr;
  }
  Status run_stage(std::size_t stage, bool, std::span<const function::ShardedBuffer> operands,
                   std::span<const function::ShardedBuffer> outputs, function::ShardedBuffer,
                   function::ShardRange shards, function::Parallelism*) const override {
    for (std::size_t s = shards.begin; s < shards.end; ++s) {
      std::array<float, 16> row, total;
      std::memcpy(row.data(), (stage == 1 ? operands[0] : outputs[1]).shard(s), kShardBytes);
      std::memcpy(total.data(), outputs[0].shard(s), kShardBytes);
      for (std::size_t i = 0; i < row.size(); ++i) row[i] += stage == 1 ? 1 : total[i];
      std::memcpy(outputs[1].shard(s), row.data(), kShardBytes);
    }
    return {};
  }

 private:
  std::vector<TensorType> operands_ = {f32({16})}, outputs_ = {f32({16}), f32({16})};
  function::Exchange exchange_ = {
      {function::ValuePlace::Table::kOperand, 0, 0},
      {function::ValuePlace::Table::kOutput, 0, 0},
      {.groups = {1, 4, 1}, .run_elements = 16, .run_bytes = kShardBytes},
      2};
};

/// Of both hosts; they outlive them.
struct Planes {
  struct Pair {
    FakeDataPlane::Network network;
    FakeDataPlane first{actor::data_peer_of(0, 0), network};
    FakeDataPlane second{actor::data_peer_of(0, 1), network};
    /// What each of them can lend: both read it.
    std::array<transport::SharedRegion, 2> regions = {make_region(), make_region()};
    transport::NearMemory first_memory = make_near(0), second_memory = make_near(1);

    static transport::SharedRegion make_region() {
      constexpr std::size_t kBytes = transport::NearMemory::kTableBytes + (1 << 18);
      auto* const base = static_cast<std::byte*>(std::aligned_alloc(64, kBytes));
      std::memset(base, 0, kBytes);
      return {{base, kBytes}, std::shared_ptr<void>(base, &std::free)};
    }
    transport::NearMemory make_near(std::uint32_t host) {
      return {regions[host],
              [this, host](HostId, std::uint32_t, const auto& done) { done(regions[1 - host]); }};
    }
  };
  std::unique_ptr<Pair> planes = std::make_unique<Pair>();
};

/// Islands of two hosts, with two devices each: 0 and 1 are the host's, 2 and 3 its annex's. What
/// they say waits until it is carried.
struct SpreadWorld : Planes, HostWorld {
  /// What they say to each other goes within words; or what they exchange is fetched; or all is
  /// read where it lies.
  enum class Way { kWords, kFetches, kLoans };
  static ExchangeOptions exchange_of(Way way) {
    ExchangeOptions options{.algorithm = collective::Algorithm::kDirect};
    if (way != Way::kWords) options.packed_bytes_max = 0;
    return options;
  }
  explicit SpreadWorld(Way way = Way::kWords)
      : HostWorld(4, 1 << 20, 0, nullptr, {}, 2,
                  way == Way::kLoans ? &planes->first_memory : nullptr,
                  way == Way::kFetches ? &planes->first : nullptr, nullptr, 0, exchange_of(way)),
        annex(
            1, annex_backend, way == Way::kLoans ? &planes->second_memory : nullptr,
            way == Way::kFetches ? &planes->second : nullptr,
            [](std::uint32_t host) { return actor::data_peer_of(0, host); }, exchange_of(way)) {
    planes->first_memory.meet(actor::data_peer_of(0, 1), 1);
    planes->second_memory.meet(actor::data_peer_of(0, 0), 1);
    core.begin_life(0);
    for (std::size_t parameters = 0; parameters < 4; ++parameters) {
      for (std::size_t outputs = 0; outputs < 4; ++outputs) {
        annex.add_function(kernel_id(parameters, outputs),
                           std::make_shared<SumKernel>(parameters, outputs));
      }
    }
  }

  /// What the two say to each other in an exchange reaches the other one.
  bool carry_words() {
    const auto carry = [](Exchanges& from, std::uint32_t sender, Exchanges& to,
                          std::uint32_t receiver) {
      const auto words = std::exchange(from.outbox()[receiver], {});
      for (const ExchangeFrame& one : encode_exchange(sender, words)) {
        auto decoded = decode_exchange(one.frame);
        EXPECT_TRUE(decoded.ok()) << decoded.status().to_string();
        EXPECT_EQ(decoded->host, sender);
        for (ExchangeWord& word : decoded->words) {
          const Status status = to.receive(sender, std::move(word));
          EXPECT_TRUE(status.ok()) << status.to_string();
        }
      }
      return !words.empty();
    };
    const bool there = carry(core.exchanges(), 0, annex.exchanges(), 1);
    const bool back = carry(annex.exchanges(), 1, core.exchanges(), 0);
    return there || back;
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
    while (carry_orders() || carry_words() || carry_answers()) {
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

  /// On both hosts, in the place of what they know by this number.
  void define(FunctionId function, std::shared_ptr<const function::Executable> kernel) {
    core.add_function(function, kernel);
    carry();  // The one of before is forgotten.
    annex.add_function(function, std::move(kernel));
  }

  FakeBackend annex_backend{clock};
  AnnexCore annex;
};

const std::vector<DeviceId> kAll = {0, 1, 2, 3};

/// Reads one array, makes one.
inline PartMaker next(PlanId id, std::vector<DeviceId> devices = kAll, GangOptions options = {}) {
  PartMaker part(id, std::move(devices));
  part.gang({part.arg()}, {part.output()}, std::move(options));
  return part;
}

/// Makes a value from an argument and sends it as edge 7 to island 1.
inline PartMaker sender() {
  PartMaker part(1, kAll);
  const std::uint32_t in = part.arg(), sent = part.inner();
  part.gang({in}, {sent}).send(sent, 7, 1);
  return part;
}

/// The first number of each shard of edge 7, `by` above that of its number.
inline void expect_delivered(SpreadWorld& world, float by) {
  const auto payload = world.bulk.take_edge(1, 7);
  ASSERT_TRUE(payload.has_value());
  for (std::size_t s = 0; s < 4; ++s) {
    float value = 0;
    std::memcpy(&value, payload->base + s * payload->stride, sizeof(value));
    EXPECT_EQ(value, by + static_cast<float>(s));
  }
  world.consumed(1, 7, 1);
  world.carry();
  EXPECT_EQ(world.said(), "received 1.7");
  EXPECT_TRUE(world.core.is_idle());
}

}  // namespace seaway::device
