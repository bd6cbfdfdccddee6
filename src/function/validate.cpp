// Validation of whole graphs, as they come from strangers.

#include <algorithm>
#include <initializer_list>
#include <set>
#include <string>

#include "base/limits.hpp"
#include "function/graph.hpp"

namespace seaway::function {
namespace {

Status check_axes(const AxisSizes& axes) {
  std::set<std::string> names;
  std::int64_t shards = 1;
  for (const auto& [name, size] : axes) {
    if (name.empty() || !names.insert(name).second) {
      return invalid_argument("mesh axis '" + name + "' is empty or named twice");
    }
    constexpr auto kShardsMax = static_cast<std::int64_t>(limits::kMeshDevices.max);
    if (size < 1 || size > kShardsMax / shards) {
      return invalid_argument("mesh axis '" + name + "' has size " + std::to_string(size) +
                              "; sizes are at least 1, and their product at most " +
                              std::to_string(kShardsMax));
    }
    shards *= size;
  }
  return {};
}

/// Fields that an operation does not read must be empty, so that equal graphs have one form.
std::string_view stray_field(const Instruction& instruction) {
  const auto is_one_of = [&instruction](std::initializer_list<Op> ops) {
    return std::find(ops.begin(), ops.end(), instruction.op) != ops.end();
  };
  if (!instruction.dims.empty() &&
      !is_one_of({Op::kIota, Op::kBroadcastInDim, Op::kTranspose, Op::kConcatenate, Op::kReduce,
                  Op::kAllGather, Op::kReduceScatter})) {
    return "dims";
  }
  if (instruction.op != Op::kSlice &&
      !(instruction.starts.empty() && instruction.limits.empty() && instruction.strides.empty())) {
    return "slice bounds";
  }
  if (instruction.op != Op::kDotGeneral && instruction.dot != DotDims{}) return "dot dimensions";
  if (instruction.op != Op::kConstant && !(instruction.number == 0)) return "number";
  if (instruction.op != Op::kPermute && !instruction.pairs.empty()) return "pairs";
  if (instruction.op != Op::kParameter && instruction.parameter != 0) return "parameter";
  if (!instruction.axis.empty() && !is_one_of({Op::kAllReduce, Op::kAllGather, Op::kReduceScatter,
                                               Op::kPermute, Op::kAxisIndex})) {
    return "axis";
  }
  return {};
}

Status check_instruction(const Graph& graph, std::size_t index, const AxisSizes& axes) {
  const Instruction& instruction = graph.instructions[index];
  std::vector<TensorType> types;
  for (const ValueId operand : instruction.operands) {
    if (operand >= index) {
      return invalid_argument("operand %" + std::to_string(operand) +
                              " does not come before its user");
    }
    types.push_back(graph.instructions[operand].type);
  }
  const Result<TensorType> type = infer_type(instruction, types, axes);
  if (!type.ok()) return type.status();
  if (*type != instruction.type) {
    return invalid_argument("is declared " + to_string(instruction.type) + ", but gives " +
                            to_string(*type));
  }
  if (const std::string_view field = stray_field(instruction); !field.empty()) {
    return invalid_argument(std::string(to_string(instruction.op)) + " has no " +
                            std::string(field) + ", but they are set");
  }
  return {};
}

Status check_parameters(const Graph& graph) {
  std::size_t found = 0;
  for (const Instruction& instruction : graph.instructions)
    found += instruction.op == Op::kParameter;
  if (found != graph.parameters.size()) {
    return invalid_argument("lists " + std::to_string(graph.parameters.size()) +
                            " parameters, but has " + std::to_string(found));
  }
  for (std::size_t i = 0; i < graph.parameters.size(); ++i) {
    const ValueId id = graph.parameters[i];
    if (id >= graph.instructions.size() || graph.instructions[id].op != Op::kParameter ||
        graph.instructions[id].parameter != i) {
      return invalid_argument("parameter " + std::to_string(i) + " is listed as %" +
                              std::to_string(id) + ", which is not it");
    }
  }
  return {};
}

}  // namespace

std::int64_t shard_count(const AxisSizes& axes) {
  std::int64_t shards = 1;
  for (const auto& axis : axes) shards *= axis.second;
  return shards;
}

Status validate(const Graph& graph, const AxisSizes& axes) {
  const auto refuse = [&graph](const std::string& why) {
    return invalid_argument("function '" + graph.name + "': " + why);
  };
  if (Status status = check_axes(axes); !status.ok()) return refuse(status.message());
  if (Status status = limits::check(limits::kOperations, graph.instructions.size(), "it");
      !status.ok()) {
    return refuse(status.message());
  }
  for (std::size_t i = 0; i < graph.instructions.size(); ++i) {
    if (Status status = check_instruction(graph, i, axes); !status.ok()) {
      return refuse("value %" + std::to_string(i) + ": " + status.message());
    }
  }
  if (Status status = check_parameters(graph); !status.ok()) return refuse(status.message());
  for (const ValueId output : graph.outputs) {
    if (output >= graph.instructions.size()) {
      return refuse("output %" + std::to_string(output) + " does not exist; there are " +
                    std::to_string(graph.instructions.size()) + " values");
    }
  }
  return {};
}

}  // namespace seaway::function
