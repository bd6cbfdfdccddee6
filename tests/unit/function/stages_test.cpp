// Functions that run stage by stage, as where the shards of a gang are on several hosts: what they
// give is what they give at once, bit by bit.

#include <map>
#include <string>

#include "base/random.hpp"
#include "function/tbb_parallelism.hpp"
#include "unit/function/cpu_testing.hpp"

namespace seaway::function {
namespace {

using Floats = std::vector<float>;

/// Shards dealt to hosts that share no memory. The first one does the exchanges.
class SpreadRun {
 public:
  SpreadRun(std::shared_ptr<const Executable> executable, std::size_t shards,
            std::vector<std::size_t> ends)
      : executable_(std::move(executable)), shards_(shards), ends_(std::move(ends)) {
    for (std::size_t h = 0; h < ends_.size(); ++h) {
      Host& host = hosts_.emplace_back();
      for (const TensorType& type : executable_->parameter_types()) {
        host.operands.emplace_back(type.bytes(), shards);
      }
      for (const TensorType& type : executable_->output_types()) {
        host.outputs.emplace_back(type.bytes(), shards);
      }
      host.scratch = TestBuffer(executable_->scratch_bytes(), shards);
    }
  }

  void set(std::size_t operand, std::size_t shard, const Floats& values) {
    hosts_[host_of(shard)].operands[operand].set(shard, values);
  }
  Floats get(std::size_t output, std::size_t shard) {
    const auto donor = donors_.find(output);
    Host& host = hosts_[host_of(shard)];
    return donor == donors_.end() ? host.outputs[output].get<float>(shard)
                                  : host.operands[donor->second].get<float>(shard);
  }
  /// `output` lies where `operand` does.
  void donate(std::size_t operand, std::size_t output) { donors_[output] = operand; }

  /// Returns how many exchanges there were.
  std::size_t run(Parallelism* parallelism = nullptr) {
    const bool has_conflict = executable_->has_conflict([this](auto output, auto operand) {
      const auto donor = donors_.find(output);
      return donor != donors_.end() && donor->second == operand;
    });
    std::size_t exchanges = 0;
    for (std::size_t stage = 0; stage < executable_->stages(has_conflict); ++stage) {
      if (const Exchange* exchange = executable_->exchange_at(stage, has_conflict)) {
        ++exchanges;
        copy(exchange->in, exchange->collective.in_bytes(), true);
        run_stage(stage, has_conflict, 0, 0, shards_, parallelism);
        copy(exchange->out, exchange->collective.out_bytes(), false);
        continue;
      }
      for (std::size_t h = 0; h < hosts_.size(); ++h) {
        run_stage(stage, has_conflict, h, begin_of(h), ends_[h], parallelism);
      }
    }
    return exchanges;
  }

 private:
  struct Host {
    std::vector<TestBuffer> operands, outputs;
    TestBuffer scratch;
  };

  std::size_t begin_of(std::size_t host) const { return host == 0 ? 0 : ends_[host - 1]; }
  std::size_t host_of(std::size_t shard) const {
    std::size_t host = 0;
    while (shard >= ends_[host]) ++host;
    return host;
  }
  ShardedBuffer output_of(Host& host, std::size_t output) {
    const auto donor = donors_.find(output);
    return donor == donors_.end() ? host.outputs[output].view()
                                  : host.operands[donor->second].view();
  }
  ShardedBuffer buffer_of(Host& host, const ValuePlace& place) {
    ShardedBuffer buffer =
        place.table == ValuePlace::Table::kOperand  ? host.operands[place.index].view()
        : place.table == ValuePlace::Table::kOutput ? output_of(host, place.index)
                                                    : host.scratch.view();
    buffer.base += place.offset;
    return buffer;
  }
  void copy(const ValuePlace& place, std::size_t bytes, bool to_first) {
    if (place.table == ValuePlace::Table::kConstant) return;
    for (std::size_t shard = ends_[0]; shard < shards_; ++shard) {
      std::byte* const first = buffer_of(hosts_[0], place).shard(shard);
      std::byte* const there = buffer_of(hosts_[host_of(shard)], place).shard(shard);
      std::memcpy(to_first ? first : there, to_first ? there : first, bytes);
    }
  }
  void run_stage(std::size_t stage, bool has_conflict, std::size_t h, std::size_t begin,
                 std::size_t end, Parallelism* parallelism) {
    Host& host = hosts_[h];
    std::vector<ShardedBuffer> in, out;
    for (TestBuffer& buffer : host.operands) in.push_back(buffer.view());
    for (std::size_t i = 0; i < host.outputs.size(); ++i) out.push_back(output_of(host, i));
    const Status status = executable_->run_stage(stage, has_conflict, in, out, host.scratch.view(),
                                                 {begin, end, shards_}, parallelism);
    ASSERT_TRUE(status.ok()) << status.to_string();
    for (std::size_t s = begin; s < end; ++s) EXPECT_TRUE(host.scratch.is_canary_alive(s));
  }

  std::shared_ptr<const Executable> executable_;
  std::size_t shards_;
  std::vector<std::size_t> ends_;
  std::vector<Host> hosts_;
  std::map<std::size_t, std::size_t> donors_;  // By output.
};

Floats random_floats(std::size_t count, std::uint64_t seed) {
  RandomStream random(seed, 1);
  Floats values(count);
  for (float& value : values) value = static_cast<float>(random.between(-1000, 1000)) / 256.0f;
  return values;
}

/// y = dot(x, w), summed over the shards, tanh, gathered, and a permuted copy of x.
Graph layer(std::int64_t shards, std::int64_t width) {
  TestGraph b;
  const ValueId x = b.parameter(f32({width, width})), w = b.parameter(f32({width, width}));
  const ValueId product = b.add({.op = Op::kDotGeneral,
                                 .type = f32({width, width}),
                                 .operands = {x, w},
                                 .dot = {{}, {}, {1}, {0}}});
  const ValueId sum = b.add(
      {.op = Op::kAllReduce, .type = f32({width, width}), .operands = {product}, .axis = "x"});
  const ValueId y = b.same(Op::kTanh, {sum});
  const ValueId all = b.add({.op = Op::kAllGather,
                             .type = f32({shards * width, width}),
                             .operands = {y},
                             .dims = {0},
                             .axis = "x"});
  Instruction permute{.op = Op::kPermute, .type = f32({width, width}), .operands = {x}};
  permute.axis = "x";
  permute.pairs = {{0, 1}, {1, 2}, {2, 0}};
  const ValueId moved = b.add(std::move(permute));
  return b.build({b.same(Op::kAdd, {y, moved}), all});
}

TEST(Stages, GiveWhatTheWholeGivesHoweverShardsAreDealt) {
  constexpr std::size_t kShards = 4;
  for (const std::int64_t width : {5, 96}) {
    const auto executable =
        compile_cpu(layer(kShards, width), {{"x", kShards}}, test_collectives()).value();
    const auto count = static_cast<std::size_t>(width * width);
    TestRun whole(executable, kShards);
    for (std::size_t s = 0; s < kShards; ++s) {
      whole.operand(0).set(s, random_floats(count, s));
      whole.operand(1).set(s, random_floats(count, 100 + s));
    }
    whole.run();

    for (const std::vector<std::size_t>& ends :
         {std::vector<std::size_t>{4}, {2, 4}, {1, 4}, {1, 2, 3, 4}}) {
      for (const bool is_parallel : {false, true}) {
        TbbParallelism arena(2);
        SpreadRun spread(executable, kShards, ends);
        for (std::size_t s = 0; s < kShards; ++s) {
          spread.set(0, s, random_floats(count, s));
          spread.set(1, s, random_floats(count, 100 + s));
        }

        EXPECT_EQ(spread.run(is_parallel ? &arena : nullptr), 3u);

        for (std::size_t s = 0; s < kShards; ++s) {
          EXPECT_EQ(spread.get(0, s), whole.output(0).get<float>(s)) << s << " of " << width;
          EXPECT_EQ(spread.get(1, s), whole.output(1).get<float>(s)) << s << " of " << width;
        }
      }
    }
  }
}

TEST(Stages, ReadAnOperandBeforeAnOutputThatLiesThereIsWritten) {
  constexpr std::size_t kShards = 2;
  TestGraph b;
  const ValueId x = b.parameter(f32({3}));
  const ValueId doubled = b.same(Op::kAdd, {x, x});
  const ValueId sum = b.add({.op = Op::kAllReduce, .type = f32({3}), .operands = {x}, .axis = "x"});
  const auto executable = compile_cpu(b.build({doubled, b.same(Op::kSubtract, {sum, x})}),
                                      {{"x", kShards}}, test_collectives())
                              .value();
  SpreadRun spread(executable, kShards, {1, 2});
  spread.donate(0, 0);
  spread.set(0, 0, {1, 2, 3});
  spread.set(0, 1, {10, 20, 30});

  EXPECT_EQ(spread.run(), 1u);

  EXPECT_EQ(spread.get(0, 0), (Floats{2, 4, 6}));
  EXPECT_EQ(spread.get(0, 1), (Floats{20, 40, 60}));
  EXPECT_EQ(spread.get(1, 0), (Floats{10, 20, 30}));
  EXPECT_EQ(spread.get(1, 1), (Floats{1, 2, 3}));
}

TEST(Stages, ExchangeAConstantThatNoHostHasToSend) {
  constexpr std::size_t kShards = 3;
  TestGraph b;
  const ValueId x = b.parameter(f32({2}));
  const ValueId count = b.add(
      {.op = Op::kAllReduce, .type = f32({2}), .operands = {b.constant(f32({2}), 1)}, .axis = "x"});
  const auto executable =
      compile_cpu(b.build({b.same(Op::kAdd, {x, count})}), {{"x", kShards}}, test_collectives())
          .value();
  SpreadRun spread(executable, kShards, {1, 3});
  for (std::size_t s = 0; s < kShards; ++s) spread.set(0, s, {10, 20});

  spread.run();

  for (std::size_t s = 0; s < kShards; ++s) EXPECT_EQ(spread.get(0, s), (Floats{13, 23}));
}

TEST(Stages, OfANativeFunctionAreOne) {
  NativeFunction native;
  native.name = "half";
  native.parameters = native.outputs = {f32({1})};
  native.body = [](std::span<const std::byte* const> in, std::span<std::byte* const> out,
                   std::byte*) {
    float value = 0;
    std::memcpy(&value, in[0], sizeof(value));
    value /= 2;
    std::memcpy(out[0], &value, sizeof(value));
    return Status();
  };
  SpreadRun spread(make_native(native), 3, {2, 3});
  for (std::size_t s = 0; s < 3; ++s) spread.set(0, s, {static_cast<float>(s)});

  EXPECT_EQ(spread.run(), 0u);

  for (std::size_t s = 0; s < 3; ++s)
    EXPECT_EQ(spread.get(0, s), Floats{static_cast<float>(s) / 2});
}

}  // namespace
}  // namespace seaway::function
