// Splitting, running and joining, one node after the other.

#include "program/reference.hpp"

#include <cstdint>
#include <string>
#include <utility>

#include "program/segments.hpp"
#include "transfer/reshard_plan.hpp"

namespace seaway::program {
namespace {

constexpr std::size_t kAlignment = 64;

/// Shards of one array, one behind the other, each aligned as executables want it.
class Shards {
 public:
  Shards(std::size_t shard_bytes, std::size_t shards)
      : stride_((shard_bytes + kAlignment - 1) / kAlignment * kAlignment),
        bytes_(stride_ * shards + kAlignment) {
    const auto address = reinterpret_cast<std::uintptr_t>(bytes_.data());
    base_ = bytes_.data() + (kAlignment - address % kAlignment) % kAlignment;
  }
  Shards(Shards&&) = default;
  Shards(const Shards&) = delete;
  Shards& operator=(const Shards&) = delete;

  function::ShardedBuffer buffer() const { return {base_, stride_}; }

 private:
  std::size_t stride_;
  std::vector<std::byte> bytes_;
  std::byte* base_;
};

transfer::Placement whole() { return {}; }

Shards split(const GlobalArray& global, const TensorType& type, const NamedSharding& sharding) {
  const transfer::ReshardPlan plan(type, whole(), {sharding.mesh().axes(), sharding.spec(), {}});
  Shards shards(plan.target_shard_bytes(), plan.target_shards());
  for (std::size_t s = 0; s < plan.target_shards(); ++s) {
    for (const transfer::Copy& copy : plan.copies(s)) {
      transfer::copy_region(global.data(), shards.buffer().shard(s), copy);
    }
  }
  return shards;
}

GlobalArray join(const Shards& shards, const TensorType& type, const NamedSharding& sharding) {
  const transfer::ReshardPlan plan(type, {sharding.mesh().axes(), sharding.spec(), {}}, whole());
  GlobalArray global(type.bytes());
  for (const transfer::Copy& copy : plan.copies(0)) {
    transfer::copy_region(shards.buffer().shard(copy.source_shard), global.data(), copy);
  }
  return global;
}

/// One evaluation: the arrays that live, and how many readers each still has.
class Evaluation {
 public:
  Evaluation(const ProgramGraph& graph, const FindExecutable& find)
      : graph_(graph), find_(find), flat_(graph), arrays_(flat_.count()), readers_(flat_.count()) {}

  Result<std::vector<GlobalArray>> run(std::vector<GlobalArray> inputs) {
    if (Status status = take(std::move(inputs)); !status.ok()) return status;
    for (const Node& node : graph_.nodes) {
      for (const ValueRef operand : node.operands) ++readers_[flat_.of(operand)];
    }
    for (const ValueRef output : graph_.outputs) ++readers_[flat_.of(output)];
    for (std::uint32_t n = 0; n < graph_.nodes.size(); ++n) {
      Status status = run_node(n);
      if (status.ok()) continue;
      return Status(status.code(), "node " + std::to_string(n) + " (function " +
                                       std::to_string(graph_.nodes[n].function) + " at " +
                                       graph_.nodes[n].site + "): " + status.message());
    }
    std::vector<GlobalArray> outputs;
    for (const ValueRef output : graph_.outputs) outputs.push_back(arrays_[flat_.of(output)]);
    return outputs;
  }

 private:
  Status take(std::vector<GlobalArray> inputs) {
    if (inputs.size() != graph_.parameters.size()) {
      return invalid_argument("program \"" + graph_.name + "\" takes " +
                              std::to_string(graph_.parameters.size()) + " inputs, not " +
                              std::to_string(inputs.size()));
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const TensorType& type = graph_.parameters[i].type;
      if (inputs[i].size() != type.bytes()) {
        return invalid_argument("input " + std::to_string(i) + " of program \"" + graph_.name +
                                "\" is " + to_string(type) + " of " + std::to_string(type.bytes()) +
                                " bytes, not " + std::to_string(inputs[i].size()));
      }
      arrays_[i] = std::move(inputs[i]);
    }
    return {};
  }

  Status check_types(const Node& node, const function::Executable& executable) const {
    bool is_equal = executable.parameter_types().size() == node.operands.size() &&
                    executable.output_types().size() == node.outputs.size();
    for (std::size_t i = 0; is_equal && i < node.operands.size(); ++i) {
      const NamedSharding sharding(node.mesh, node.in_specs[i]);
      is_equal = executable.parameter_types()[i] ==
                 sharding.shard_type(graph_.spec_of(node.operands[i]).type);
    }
    for (std::size_t i = 0; is_equal && i < node.outputs.size(); ++i) {
      is_equal =
          executable.output_types()[i] == node.outputs[i].sharding.shard_type(node.outputs[i].type);
    }
    if (is_equal) return {};
    return invalid_argument("its executable has other types than the program says");
  }

  Status run_node(std::uint32_t index) {
    const Node& node = graph_.nodes[index];
    const std::shared_ptr<const function::Executable> executable = find_(node.function);
    if (!executable) return invalid_argument("it has no executable");
    if (Status status = check_types(node, *executable); !status.ok()) return status;
    const auto shards = static_cast<std::size_t>(node.mesh.device_count());
    std::vector<Shards> operands, outputs;
    std::vector<function::ShardedBuffer> operand_buffers, output_buffers;
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      operands.push_back(split(arrays_[flat_.of(node.operands[i])],
                               graph_.spec_of(node.operands[i]).type,
                               NamedSharding(node.mesh, node.in_specs[i])));
      operand_buffers.push_back(operands.back().buffer());
    }
    for (const ValueRef operand : node.operands) drop(operand);
    for (const TensorType& type : executable->output_types()) {
      outputs.emplace_back(type.bytes(), shards);
      output_buffers.push_back(outputs.back().buffer());
    }
    const Shards scratch(executable->scratch_bytes(), shards);
    Status status =
        executable->run(operand_buffers, output_buffers, scratch.buffer(), shards, nullptr);
    if (!status.ok()) return status;
    for (std::uint32_t i = 0; i < node.outputs.size(); ++i) {
      const std::uint32_t flat = flat_.of({index, i});
      if (readers_[flat] == 0) continue;
      arrays_[flat] = join(outputs[i], node.outputs[i].type, node.outputs[i].sharding);
    }
    return {};
  }

  void drop(ValueRef ref) {
    const std::uint32_t flat = flat_.of(ref);
    if (--readers_[flat] == 0) arrays_[flat] = {};
  }

  const ProgramGraph& graph_;
  const FindExecutable& find_;
  const FlatValues flat_;
  std::vector<GlobalArray> arrays_;     // By flat value.
  std::vector<std::uint64_t> readers_;  // By flat value: those still to come.
};

}  // namespace

Result<std::vector<GlobalArray>> evaluate(const ProgramGraph& graph, const FindExecutable& find,
                                          std::vector<GlobalArray> inputs) {
  return Evaluation(graph, find).run(std::move(inputs));
}

}  // namespace seaway::program
