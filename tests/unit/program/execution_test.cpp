// Lowered programs, run gang by gang in any order the plans allow, against the reference.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "base/random.hpp"
#include "program/lowering.hpp"
#include "program/reference.hpp"
#include "transfer/reshard_plan.hpp"
#include "unit/program/program_fixture.hpp"

namespace seaway::program {
namespace {

using Bytes = std::vector<std::byte>;
using ShardList = std::vector<Bytes>;

/// Mixes all bytes of all shards of its operands into each byte of its outputs, like a function
/// with collectives; shards that hold the same box of an output get the same bytes.
class Mixer final : public function::Executable {
 public:
  Mixer(const ProgramBuilder& b, FunctionId id)
      : info_(b.functions.at(id)), node_(b.graph.nodes.at(id - 100)) {}
  const std::vector<TensorType>& parameter_types() const override { return info_.parameters; }
  const std::vector<TensorType>& output_types() const override { return info_.outputs; }
  std::size_t scratch_bytes() const override { return info_.scratch_bytes; }
  std::uint64_t cost_ns() const override { return 1; }
  Status run(std::span<const function::ShardedBuffer> operands,
             std::span<const function::ShardedBuffer> outputs, function::ShardedBuffer scratch,
             std::size_t shards, function::Parallelism*) const override {
    std::uint64_t sum = info_.id;
    for (std::size_t s = 0; s < shards; ++s) {
      if (info_.scratch_bytes > 0) std::memset(scratch.shard(s), 0xee, info_.scratch_bytes);
      for (std::size_t k = 0; k < operands.size(); ++k) {
        const std::byte* bytes = operands[k].shard(s);
        for (std::size_t i = 0; i < info_.parameters[k].bytes(); ++i) {
          sum = mix64(sum ^ static_cast<std::uint64_t>(bytes[i]));
        }
      }
    }
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      const transfer::ShardLayout layout(node_.mesh.axes(), node_.outputs[k].sharding.spec());
      for (std::size_t s = 0; s < shards; ++s) {
        const auto shard = static_cast<std::int64_t>(s);
        const std::int64_t box = 16 * layout.piece(shard, 0) + layout.piece(shard, 1);
        const std::uint64_t key = mix64(sum + k * 1'000 + static_cast<std::uint64_t>(box));
        std::byte* bytes = outputs[k].shard(s);
        for (std::size_t i = 0; i < info_.outputs[k].bytes(); ++i) {
          bytes[i] = static_cast<std::byte>(mix64(key + i));
        }
      }
    }
    return {};
  }

 private:
  const FunctionInfo& info_;
  const Node& node_;
};

/// One segment on pretended devices: blocks with garbage, arrays as shards.
class SegmentRun {
 public:
  SegmentRun(const ProgramBuilder& program, const Segment& segment,
             std::vector<std::shared_ptr<ShardList>> args, RandomStream& random)
      : program_(program), segment_(segment), args_(std::move(args)), random_(random) {
    outputs_.resize(segment.outputs.size());
    for (const PartPlan& part : segment.parts) {
      Memory& memory = memories_.emplace_back();
      memory.blocks.resize(part.groups.size());
      for (const Block& block : part.blocks) {
        memory.blocks[block.group].assign(part.groups[block.group].devices.size(),
                                          Bytes(block.steps[0].bytes, std::byte{0xdd}));
      }
      for (const Output& output : part.outputs) {
        const Value& value = part.values[output.value];
        outputs_[output.output] = std::make_shared<ShardList>(
            part.groups[value.group].devices.size(), Bytes(value.shard_bytes, std::byte{0xcc}));
      }
      for (const Arg& arg : part.args) {
        if (arg.donated_to == kNone) continue;
        outputs_[part.outputs[arg.donated_to].output] = args_[arg.parameter];
      }
    }
  }

  std::vector<std::shared_ptr<ShardList>> run() {
    for (;;) {
      std::vector<std::size_t> ready;
      for (std::size_t p = 0; p < segment_.parts.size(); ++p) {
        if (is_ready(p)) ready.push_back(p);
      }
      if (ready.empty()) break;
      run_next(ready[random_.below(ready.size())]);
    }
    for (std::size_t p = 0; p < segment_.parts.size(); ++p) {
      EXPECT_EQ(memories_[p].next, segment_.parts[p].gangs.size()) << "stuck";
    }
    return outputs_;
  }

 private:
  struct Memory {
    std::vector<ShardList> blocks;  // By group, by shard.
    std::uint32_t next = 0;         // Gang to run.
  };

  std::pair<std::size_t, const Send*> sender_of(std::uint32_t edge) const {
    for (std::size_t p = 0; p < segment_.parts.size(); ++p) {
      for (const Send& send : segment_.parts[p].sends) {
        if (send.edge == edge) return {p, &send};
      }
    }
    ADD_FAILURE() << "no sender of edge " << edge;
    return {0, nullptr};
  }

  bool is_ready(std::size_t p) const {
    const PartPlan& part = segment_.parts[p];
    if (memories_[p].next == part.gangs.size()) return false;
    for (const Receive& receive : part.receives) {
      if (receive.first_gang != memories_[p].next) continue;
      const auto [from, send] = sender_of(receive.edge);
      if (memories_[from].next <= send->gang) return false;
    }
    return true;
  }

  std::byte* shard(std::size_t p, std::uint32_t index, std::size_t s) {
    const PartPlan& part = segment_.parts[p];
    const Value& value = part.values[index];
    switch (value.place) {
      case Value::Place::kArg:
        return (*args_[part.args[value.index].parameter])[s].data();
      case Value::Place::kOutput:
        return (*outputs_[part.outputs[value.index].output])[s].data();
      case Value::Place::kBlock:
        break;
    }
    return value.shard_bytes == 0 ? nullptr
                                  : memories_[p].blocks[value.group][s].data() + value.offset;
  }

  static transfer::Placement place(const DeviceGroup& group, const PartitionSpec& spec) {
    return {group.axes, spec, group.devices};
  }

  void copy(const TensorType& type, const transfer::Placement& source,
            const transfer::Placement& target, std::size_t from, std::uint32_t source_value,
            std::size_t to, std::uint32_t target_value) {
    const transfer::ReshardPlan plan(type, source, target);
    for (std::size_t s = 0; s < plan.target_shards(); ++s) {
      for (const transfer::Copy& piece : plan.copies(s)) {
        copy_region(shard(from, source_value, piece.source_shard), shard(to, target_value, s),
                    piece);
      }
    }
  }

  void run_next(std::size_t p) {
    const PartPlan& part = segment_.parts[p];
    const std::uint32_t index = memories_[p].next++;
    // Data of an edge is fetched as late as can be: until then the sender must hold it.
    for (const Receive& receive : part.receives) {
      if (receive.first_gang != index) continue;
      const auto [from, send] = sender_of(receive.edge);
      const Value& value = part.values[receive.value];
      copy(value.type, {receive.source_group.axes, receive.source_spec, {}},
           {part.groups[value.group].axes, value.spec, {}}, from, send->value, p, receive.value);
    }
    const Gang& gang = part.gangs[index];
    if (gang.kind == Gang::Kind::kReshard) {
      const Value &from = part.values[gang.operands[0]], &to = part.values[gang.results[0]];
      copy(from.type, place(part.groups[from.group], from.spec),
           place(part.groups[to.group], to.spec), p, gang.operands[0], p, gang.results[0]);
    }
    if (gang.kind == Gang::Kind::kCompute) compute(p, gang);
  }

  void compute(std::size_t p, const Gang& gang) {
    const Mixer mixer(program_, gang.function);
    // Shards lie in blocks of their own here, so they are gathered before and dealt out behind.
    const std::size_t shards = segment_.parts[p].groups[gang.group].devices.size();
    std::vector<Bytes> in(gang.operands.size()), out(gang.results.size());
    const auto gather = [&](std::vector<Bytes>& all, const std::vector<std::uint32_t>& values,
                            const std::vector<TensorType>& types) {
      std::vector<function::ShardedBuffer> buffers;
      for (std::size_t k = 0; k < values.size(); ++k) {
        const std::size_t bytes = types[k].bytes();
        all[k].resize(bytes * shards + 1);
        for (std::size_t s = 0; s < shards && bytes > 0; ++s) {
          std::memcpy(all[k].data() + s * bytes, shard(p, values[k], s), bytes);
        }
        buffers.push_back({all[k].data(), bytes});
      }
      return buffers;
    };
    const auto operands = gather(in, gang.operands, mixer.parameter_types());
    const auto results = gather(out, gang.results, mixer.output_types());
    Bytes scratch(mixer.scratch_bytes() * shards + 1);
    ASSERT_TRUE(
        mixer.run(operands, results, {scratch.data(), mixer.scratch_bytes()}, shards, nullptr)
            .ok());
    for (std::size_t s = 0; s < shards; ++s) {
      if (mixer.scratch_bytes() > 0) {
        std::memset(memories_[p].blocks[gang.group][s].data() + gang.scratch_offset, 0xee,
                    mixer.scratch_bytes());
      }
      for (std::size_t k = 0; k < gang.results.size(); ++k) {
        const std::size_t bytes = mixer.output_types()[k].bytes();
        if (bytes > 0) std::memcpy(shard(p, gang.results[k], s), out[k].data() + s * bytes, bytes);
      }
    }
  }

  const ProgramBuilder& program_;
  const Segment& segment_;
  std::vector<std::shared_ptr<ShardList>> args_, outputs_;
  RandomStream& random_;
  std::vector<Memory> memories_;
};

ShardList scatter(const Bytes& global, const ArraySpec& spec) {
  const transfer::ReshardPlan plan(spec.type, {},
                                   {spec.sharding.mesh().axes(), spec.sharding.spec(), {}});
  ShardList shards(plan.target_shards(), Bytes((plan.target_shard_bytes() + 63) / 64 * 64));
  for (std::size_t s = 0; s < shards.size(); ++s) {
    for (const transfer::Copy& copy : plan.copies(s)) {
      copy_region(global.data(), shards[s].data(), copy);
    }
  }
  return shards;
}

Bytes gather(const ShardList& shards, const ArraySpec& spec) {
  const transfer::ReshardPlan plan(spec.type,
                                   {spec.sharding.mesh().axes(), spec.sharding.spec(), {}}, {});
  Bytes global(spec.type.bytes());
  for (const transfer::Copy& copy : plan.copies(0)) {
    copy_region(shards[copy.source_shard].data(), global.data(), copy);
  }
  return global;
}

std::vector<Bytes> run_lowered(const ProgramBuilder& b, const LoweredProgram& lowered,
                               const std::vector<Bytes>& inputs, RandomStream& random) {
  using Kind = SegmentArray::Kind;
  std::vector<std::shared_ptr<ShardList>> parameters, outputs(b.graph.outputs.size()),
      intermediates(lowered.intermediates);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    parameters.push_back(std::make_shared<ShardList>(scatter(inputs[i], b.graph.parameters[i])));
  }
  for (const Segment& segment : lowered.segments) {
    std::vector<std::shared_ptr<ShardList>> args;
    for (const SegmentArray& arg : segment.args) {
      args.push_back(arg.kind == Kind::kProgram        ? parameters[arg.index]
                     : arg.kind == Kind::kIntermediate ? intermediates[arg.index]
                                                       : outputs[arg.index]);
      EXPECT_NE(args.back(), nullptr);
    }
    const auto made = SegmentRun(b, segment, args, random).run();
    for (std::size_t i = 0; i < made.size(); ++i) {
      const SegmentArray& output = segment.outputs[i];
      (output.kind == Kind::kProgram ? outputs : intermediates)[output.index] = made[i];
    }
    for (const SegmentArray& arg : segment.args) {
      if (arg.kind == Kind::kIntermediate && arg.last_use) intermediates[arg.index] = nullptr;
    }
  }
  std::vector<Bytes> results;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    results.push_back(gather(*outputs[i], b.graph.spec_of(b.graph.outputs[i])));
  }
  return results;
}

ProgramBuilder random_program(RandomStream& random) {
  ProgramBuilder b;
  if (random.chance(20)) b.graph.dispatch = Dispatch::kSequential;
  const std::vector<Mesh> meshes = {b.slice(1, 0, {0, 1}),
                                    b.slice(2, 0, {1, 2}),
                                    b.slice(3, 1, {0, 1, 2, 3}),
                                    b.slice(4, 2, {0, 1}, {{"x", 1}, {"y", 2}}),
                                    b.slice(5, 1, {1, 0}, {{"y", 1}, {"x", 2}}),
                                    b.slice(6, 0, {0, 1}, {{"y", 1}, {"x", 2}})};
  const std::vector<PartitionSpec> specs = {P(), P("x"), P("", "x")};
  const auto pick = [&random](const auto& list) { return list[random.below(list.size())]; };
  const auto type = [&random] {
    return i32({random.chance(5) ? 0 : 4 * random.between(1, 2), 4 * random.between(1, 3)});
  };
  std::vector<ValueRef> values;
  for (int i = 0; i < 4; ++i) {
    values.push_back(
        b.parameter({type(), NamedSharding(pick(meshes), pick(specs))}, random.chance(60)));
  }
  for (std::uint64_t i = 0, nodes = random.below(25); i < nodes; ++i) {
    ProgramBuilder::Call call{.out = type(), .out_spec = pick(specs)};
    call.scratch_bytes = random.below(3) * 100;
    call.irregular = random.chance(10);
    call.outputs = static_cast<std::uint32_t>(1 + random.below(2));
    for (std::uint64_t k = 1 + random.below(3); k > 0; --k) {
      call.operands.push_back(random.chance(50) ? values.back() : pick(values));
      call.in_specs.push_back(pick(specs));
    }
    if (random.chance(50)) {
      call.in_place = {{0, static_cast<std::uint32_t>(random.below(call.operands.size()))}};
    }
    ValueRef result = b.call(pick(meshes), call);
    for (; result.output < call.outputs; ++result.output) values.push_back(result);
  }
  for (std::uint64_t i = random.below(8); i > 0; --i) b.graph.outputs.push_back(pick(values));
  return b;
}

TEST(Execution, OfALoweredProgramGivesWhatTheReferenceGives) {
  int donations = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomStream random(seed, 4);
    const ProgramBuilder b = random_program(random);
    const LoweredProgram lowered = b.lower().value();
    std::vector<Bytes> inputs;
    for (const ArraySpec& spec : b.graph.parameters) {
      Bytes& input = inputs.emplace_back(spec.type.bytes());
      for (std::byte& byte : input) byte = static_cast<std::byte>(random.next());
    }
    for (const Segment& segment : lowered.segments) {
      for (const PartPlan& part : segment.parts) {
        for (const Arg& arg : part.args) donations += arg.donated_to != kNone;
      }
    }

    const std::vector<Bytes> actual = run_lowered(b, lowered, inputs, random);

    const FindExecutable find = [&b](FunctionId id) { return std::make_shared<Mixer>(b, id); };
    ASSERT_EQ(actual, evaluate(b.graph, find, inputs).value()) << b.graph.to_string();
    if (HasFailure()) return;
  }
  EXPECT_GT(donations, 30);
}

}  // namespace
}  // namespace seaway::program
