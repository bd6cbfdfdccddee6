// Exchanges that are under way while the steps run that do not need them: however long each takes,
// results are those of the reference, bit by bit.

#include <algorithm>
#include <map>
#include <string>

#include "unit/function/random_graph.hpp"

namespace seaway::function {
namespace {

std::shared_ptr<const Executable> compile(const Graph& graph, const AxisSizes& axes) {
  return compile_cpu_overlapping(graph, axes, test_collectives()).value();
}

std::size_t needed_at(const Executable& executable, std::size_t stage, bool has_conflict) {
  return std::max(executable.exchange_at(stage, has_conflict)->needed_at, stage + 1);
}

/// Stages in their order, on all shards at once. Each exchange happens at the first moment at which
/// it may, or at the last.
class OverlappedRun {
 public:
  OverlappedRun(std::shared_ptr<const Executable> executable, std::size_t shards)
      : run_(executable, shards), executable_(std::move(executable)), shards_(shards) {
    for (std::size_t i = 0; i < executable_->parameter_types().size(); ++i) {
      operands_.push_back(run_.operand(i).view());
    }
    for (std::size_t i = 0; i < executable_->output_types().size(); ++i) {
      outputs_.push_back(run_.output(i).view());
    }
    scratch_ = TestBuffer(executable_->scratch_bytes(), shards);
  }

  TestRun& buffers() { return run_; }
  /// `output` lies where `operand` does.
  void donate(std::size_t operand, std::size_t output) { outputs_[output] = operands_[operand]; }
  ShardedBuffer output(std::size_t i) const { return outputs_[i]; }

  void run(RandomStream& random) {
    const bool has_conflict = executable_->has_conflict([this](auto output, auto operand) {
      return outputs_[output].base == operands_[operand].base;
    });
    std::map<std::size_t, std::size_t> late;       // Exchanges by when they are needed.
    std::map<std::size_t, std::size_t> under_way;  // The same, with those that happened early.
    const std::size_t stages = executable_->stages(has_conflict);
    for (std::size_t stage = 0; stage <= stages; ++stage) {
      std::erase_if(under_way, [stage](const auto& one) { return one.second <= stage; });
      for (auto one = late.begin(); one != late.end();) {
        if (one->second > stage) {
          ++one;
          continue;
        }
        run_stage(one->first, has_conflict);
        one = late.erase(one);
      }
      if (stage == stages) break;
      const Exchange* const exchange = executable_->exchange_at(stage, has_conflict);
      if (exchange == nullptr) {
        beside_ += under_way.empty() ? 0 : 1;
        run_stage(stage, has_conflict);
        continue;
      }
      under_way[stage] = needed_at(*executable_, stage, has_conflict);
      most_ = std::max(most_, under_way.size());
      if (random.chance(50)) {
        run_stage(stage, has_conflict);
      } else {
        late[stage] = under_way[stage];
        spoil(*exchange);
      }
    }
    for (std::size_t s = 0; s < shards_; ++s) EXPECT_TRUE(scratch_.is_canary_alive(s));
  }

  std::size_t beside() const { return beside_; }  // Stages beside exchanges.
  std::size_t most() const { return most_; }      // Exchanges at once.

 private:
  void run_stage(std::size_t stage, bool has_conflict) {
    const Status status = executable_->run_stage(stage, has_conflict, operands_, outputs_,
                                                 scratch_.view(), {0, shards_, shards_}, nullptr);
    ASSERT_TRUE(status.ok()) << status.to_string();
  }
  /// Nothing means anything where the result will be.
  void spoil(const Exchange& exchange) {
    const auto is_same = [](const ValuePlace& a, const ValuePlace& b) {
      return a.table == b.table && a.index == b.index && a.offset == b.offset;
    };
    if (is_same(exchange.in, exchange.out)) return;
    ShardedBuffer out = exchange.out.table == ValuePlace::Table::kOutput
                            ? outputs_[exchange.out.index]
                            : scratch_.view();
    if (exchange.in.table == ValuePlace::Table::kOperand &&
        operands_[exchange.in.index].base == out.base) {
      return;
    }
    out.base += exchange.out.offset;
    for (std::size_t s = 0; s < shards_; ++s) {
      std::memset(out.shard(s), 0xEE, exchange.collective.out_bytes());
    }
  }

  TestRun run_;
  std::shared_ptr<const Executable> executable_;
  std::size_t shards_;
  std::vector<ShardedBuffer> operands_, outputs_;
  TestBuffer scratch_;
  std::size_t beside_ = 0, most_ = 0;
};

/// Operands that may be the memory of outputs, as whoever donates them would find them.
std::map<std::size_t, std::size_t> draw_donors(const Executable& executable, RandomStream& random) {
  std::map<std::size_t, std::size_t> donors;
  std::vector<bool> is_taken(executable.parameter_types().size());
  for (std::size_t o = 0; o < executable.output_types().size(); ++o) {
    for (std::size_t i = 0; i < is_taken.size(); ++i) {
      const std::size_t bytes = executable.parameter_types()[i].bytes();
      if (is_taken[i] || bytes == 0 || bytes != executable.output_types()[o].bytes()) continue;
      if (!random.chance(50)) continue;
      is_taken[i] = true;
      donors[o] = i;
      break;
    }
  }
  return donors;
}

TEST(Overlap, GivesWhatTheReferenceGivesWheneverExchangesEnd) {
  const std::vector<AxisSizes> meshes = {{{"a", 2}}, {{"a", 3}, {"b", 2}}, {{"a", 5}}};
  std::size_t beside = 0, most = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const AxisSizes axes = meshes[seed % meshes.size()];
    std::size_t shards = 1;
    for (const auto& axis : axes) shards *= static_cast<std::size_t>(axis.second);
    const Graph graph = RandomGraph(seed, axes).build();
    TestRun expected(compile_reference(graph, axes).value(), shards);
    fill(expected, seed, shards);
    expected.run();
    const auto executable = compile(graph, axes);
    RandomStream random(seed, 5);

    OverlappedRun run(executable, shards);
    fill(run.buffers(), seed, shards);
    for (const auto& [output, operand] : draw_donors(*executable, random)) {
      run.donate(operand, output);
    }
    run.run(random);

    for (std::size_t o = 0; o < graph.outputs.size(); ++o) {
      const TensorType type = graph.output_type(o);
      for (std::size_t s = 0; s < shards; ++s) {
        TestBuffer actual(type.bytes(), 1);
        if (type.bytes() > 0) {
          std::memcpy(actual.view().base, run.output(o).shard(s), type.bytes());
        }
        TestBuffer wanted(type.bytes(), 1);
        if (type.bytes() > 0) {
          std::memcpy(wanted.view().base, expected.output(o).view().shard(s), type.bytes());
        }
        expect_equal(actual, wanted, type, 0,
                     "replay: seed " + std::to_string(seed) + ", output " + std::to_string(o));
      }
    }
    if (HasFatalFailure()) return;
    beside += run.beside();
    most = std::max(most, run.most());
    // At once, as on one host.
    TestRun whole(executable, shards);
    fill(whole, seed, shards);
    whole.run();
    for (std::size_t o = 0; o < graph.outputs.size(); ++o) {
      expect_equal(whole.output(o), expected.output(o), graph.output_type(o), shards - 1, "whole");
    }
  }
  EXPECT_GT(beside, 200u);
  EXPECT_GT(most, 1u);
}

/// "exchange 0 (3), steps 1, steps 2, steps 3": with the stages that wait for them.
std::string stages_of(const Executable& executable) {
  std::string text;
  for (std::size_t stage = 0; stage < executable.stages(false); ++stage) {
    const bool is_exchange = executable.exchange_at(stage, false) != nullptr;
    text += (stage > 0 ? ", " : "") + std::string(is_exchange ? "exchange " : "steps ") +
            std::to_string(stage);
    if (is_exchange) text += " (" + std::to_string(needed_at(executable, stage, false)) + ")";
  }
  return text;
}

const AxisSizes kTwo = {{"x", 2}};
constexpr std::int64_t kWidth = 64;
const TensorType kMatrix = f32({kWidth, kWidth});

ValueId dot(TestGraph& b, ValueId x, ValueId y) {
  return b.add(
      {.op = Op::kDotGeneral, .type = kMatrix, .operands = {x, y}, .dot = {{}, {}, {1}, {0}}});
}
ValueId sum(TestGraph& b, ValueId x) {
  return b.add({.op = Op::kAllReduce, .type = b.type(x), .operands = {x}, .axis = "x"});
}

TEST(Overlap, AnExchangeBeginsAtOnceAndIsWaitedForWhenItIsNeeded) {
  TestGraph b;
  const ValueId x = b.parameter(kMatrix), y = b.parameter(kMatrix);
  const ValueId other = dot(b, y, y);  // Needs nothing of it, nor does it.
  const ValueId total = sum(b, x);
  const ValueId result = dot(b, total, other);

  const auto executable = compile(b.build({result}), kTwo);

  EXPECT_EQ(stages_of(*executable), "exchange 0 (2), steps 1, steps 2");
}

TEST(Overlap, GradientsOfOneLayerAreAddedUpBesideTheBackwardPassOfTheOneBefore) {
  TestGraph b;
  std::vector<ValueId> outputs;
  ValueId back = b.parameter(kMatrix);
  for (int layer = 0; layer < 3; ++layer) {
    const ValueId weights = b.parameter(kMatrix);
    // As it is written: what this layer learns, then what the one before has to do with it.
    const ValueId gradient = sum(b, dot(b, back, back));
    outputs.push_back(dot(b, weights, gradient));
    back = dot(b, back, weights);
  }

  const auto executable = compile(b.build(outputs), kTwo);

  EXPECT_EQ(stages_of(*executable),
            "steps 0, exchange 1 (6), steps 2, exchange 3 (7), steps 4, exchange 5 (8), steps 6, "
            "steps 7, steps 8");
}

TEST(Overlap, WhatNeedsNoOtherOrderHasNone) {
  TestGraph b;
  ValueId x = b.parameter(kMatrix);
  for (int i = 0; i < 3; ++i) x = b.same(Op::kTanh, {sum(b, dot(b, x, x))});
  const Graph graph = b.build({x});

  const auto executable = compile(graph, kTwo);
  const auto plain = compile_cpu(graph, kTwo, test_collectives()).value();

  EXPECT_EQ(stages_of(*executable), stages_of(*plain));
  EXPECT_EQ(executable->scratch_bytes(), plain->scratch_bytes());
}

TEST(Overlap, OnlySoManyExchangesAreUnderWayAtOnce) {
  TestGraph b;
  std::vector<ValueId> outputs;
  for (int i = 0; i < 12; ++i) outputs.push_back(sum(b, b.parameter(kMatrix)));

  OverlappedRun run(compile(b.build(outputs), kTwo), 2);
  RandomStream random(1, 1);
  run.run(random);

  EXPECT_EQ(run.most(), 4u);
}

}  // namespace
}  // namespace seaway::function
