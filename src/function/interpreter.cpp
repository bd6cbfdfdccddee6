// The reference interpreter's walk over a graph, and its executable.

#include "function/interpreter.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "function/executable.hpp"
#include "function/interpreter_ops.hpp"

namespace seaway::function {
namespace {

bool is_collective(Op op) { return op >= Op::kAllReduce; }

Literal evaluate_one(const Instruction& instruction, const Operands& operands) {
  switch (instruction.op) {
    case Op::kReshape:
    case Op::kBroadcastInDim:
    case Op::kTranspose:
    case Op::kSlice:
    case Op::kConcatenate:
    case Op::kGatherRows:
    case Op::kScatterAddRows:
      return evaluate_movement(instruction, operands);
    case Op::kDotGeneral:
    case Op::kReduce:
      return evaluate_contraction(instruction, operands);
    default:
      return evaluate_elementwise(instruction, operands);
  }
}

/// The index of each value's last reader; outputs are read at the end.
std::vector<std::size_t> last_readers(const Graph& graph) {
  std::vector<std::size_t> last(graph.instructions.size(), 0);
  for (std::size_t i = 0; i < graph.instructions.size(); ++i) {
    last[i] = i;
    for (const ValueId operand : graph.instructions[i].operands) last[operand] = i;
  }
  for (const ValueId output : graph.outputs) last[output] = graph.instructions.size();
  return last;
}

/// Evaluates a valid graph with fitting arguments.
std::vector<ShardLiterals> walk(const Graph& graph, const AxisSizes& axes, std::size_t shards,
                                const std::vector<ShardLiterals>& arguments) {
  const std::vector<std::size_t> last = last_readers(graph);
  std::vector<ShardLiterals> values(graph.instructions.size());
  for (std::size_t i = 0; i < graph.instructions.size(); ++i) {
    const Instruction& instruction = graph.instructions[i];
    if (instruction.op == Op::kParameter) {
      values[i] = arguments[instruction.parameter];
    } else if (is_collective(instruction.op)) {
      static const ShardLiterals kNothing;
      const bool has_operand = !instruction.operands.empty();
      values[i] = evaluate_collective(
          instruction, axes, has_operand ? values[instruction.operands[0]] : kNothing, shards);
    } else {
      for (std::size_t shard = 0; shard < shards; ++shard) {
        Operands operands;
        for (const ValueId id : instruction.operands) operands.push_back(&values[id][shard]);
        values[i].push_back(evaluate_one(instruction, operands));
      }
    }
    for (const ValueId id : instruction.operands) {
      if (last[id] == i) values[id].clear();
    }
  }
  std::vector<ShardLiterals> results;
  for (const ValueId output : graph.outputs) results.push_back(values[output]);
  return results;
}

Status check_shards(const Graph& graph, const AxisSizes& axes, std::size_t shards) {
  if (axes.empty() || shards == static_cast<std::size_t>(shard_count(axes))) return {};
  return invalid_argument("function '" + graph.name + "' is made for " +
                          std::to_string(shard_count(axes)) + " shards, not " +
                          std::to_string(shards));
}

/// Adds and multiplies of one shard, and elements moved.
std::uint64_t work_of(const Graph& graph) {
  double work = 0;
  for (const Instruction& instruction : graph.instructions) {
    double elements = static_cast<double>(instruction.type.elements());
    if (instruction.op == Op::kDotGeneral) {
      const Shape& left = graph.instructions[instruction.operands[0]].type.shape;
      for (const std::int64_t dim : instruction.dot.lhs_contract) {
        elements *= static_cast<double>(left[static_cast<std::size_t>(dim)]);
      }
    } else if (instruction.op == Op::kReduce) {
      elements = static_cast<double>(graph.instructions[instruction.operands[0]].type.elements());
    }
    work += elements;
  }
  return static_cast<std::uint64_t>(std::min(work, 1e18));
}

class ReferenceExecutable final : public Executable {
 public:
  ReferenceExecutable(Graph graph, AxisSizes axes)
      : graph_(std::move(graph)), axes_(std::move(axes)) {
    for (std::size_t i = 0; i < graph_.parameters.size(); ++i) {
      parameter_types_.push_back(graph_.parameter_type(i));
    }
    for (std::size_t i = 0; i < graph_.outputs.size(); ++i) {
      output_types_.push_back(graph_.output_type(i));
    }
    constexpr std::uint64_t kNsPerElement = 10;
    cost_ns_ = 1 + kNsPerElement * work_of(graph_);
  }

  const std::vector<TensorType>& parameter_types() const override { return parameter_types_; }
  const std::vector<TensorType>& output_types() const override { return output_types_; }
  std::size_t scratch_bytes() const override { return 0; }
  std::uint64_t cost_ns() const override { return cost_ns_; }
  OutputOperandPairs in_place() const override {
    return pairs_of_one_size(parameter_types_, output_types_);
  }

  Status run(std::span<const ShardedBuffer> operands, std::span<const ShardedBuffer> outputs,
             ShardedBuffer, std::size_t shards, Parallelism*) const override {
    if (operands.size() != parameter_types_.size() || outputs.size() != output_types_.size()) {
      return invalid_argument(
          "function '" + graph_.name + "' takes " + std::to_string(parameter_types_.size()) +
          " operands and gives " + std::to_string(output_types_.size()) + " outputs, not " +
          std::to_string(operands.size()) + " and " + std::to_string(outputs.size()));
    }
    if (Status status = check_shards(graph_, axes_, shards); !status.ok()) return status;
    // Copies first, so that an output may lie on an operand.
    std::vector<ShardLiterals> arguments(operands.size());
    for (std::size_t i = 0; i < operands.size(); ++i) {
      for (std::size_t shard = 0; shard < shards; ++shard) {
        Literal& literal = arguments[i].emplace_back(parameter_types_[i]);
        const std::size_t size = literal.bytes().size();
        if (size > 0) std::memcpy(literal.bytes().data(), operands[i].shard(shard), size);
      }
    }
    const std::vector<ShardLiterals> results = walk(graph_, axes_, shards, arguments);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      for (std::size_t shard = 0; shard < shards; ++shard) {
        const std::span<const std::byte> bytes = results[i][shard].bytes();
        if (!bytes.empty()) std::memcpy(outputs[i].shard(shard), bytes.data(), bytes.size());
      }
    }
    return {};
  }

 private:
  Graph graph_;
  AxisSizes axes_;
  std::vector<TensorType> parameter_types_, output_types_;
  std::uint64_t cost_ns_ = 1;
};

}  // namespace

Result<std::vector<ShardLiterals>> interpret(const Graph& graph, const AxisSizes& axes,
                                             std::size_t shards,
                                             const std::vector<ShardLiterals>& arguments) {
  if (Status status = validate(graph, axes); !status.ok()) return status;
  if (Status status = check_shards(graph, axes, shards); !status.ok()) return status;
  if (arguments.size() != graph.parameters.size()) {
    return invalid_argument("function '" + graph.name + "' takes " +
                            std::to_string(graph.parameters.size()) + " arguments, not " +
                            std::to_string(arguments.size()));
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].size() != shards) {
      return invalid_argument("argument " + std::to_string(i) + " has " +
                              std::to_string(arguments[i].size()) + " shards, not " +
                              std::to_string(shards));
    }
    for (const Literal& literal : arguments[i]) {
      if (literal.type() != graph.parameter_type(i)) {
        return invalid_argument("argument " + std::to_string(i) + " of function '" + graph.name +
                                "' has type " + seaway::to_string(literal.type()) + ", not " +
                                seaway::to_string(graph.parameter_type(i)));
      }
    }
  }
  return walk(graph, axes, shards, arguments);
}

Result<std::shared_ptr<const Executable>> compile_reference(const Graph& graph,
                                                            const AxisSizes& axes) {
  if (Status status = validate(graph, axes); !status.ok()) return status;
  return std::shared_ptr<const Executable>(std::make_shared<ReferenceExecutable>(graph, axes));
}

}  // namespace seaway::function
