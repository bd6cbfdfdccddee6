// A graph as StableHLO text (MLIR), for PJRT plugins and for people who know that form.
//
// Operations are printed in MLIR's generic form, the one that changes least between versions;
// constants are splats only.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "function/axes.hpp"
#include "function/graph.hpp"

namespace seaway::function {
namespace {

std::string type_text(const TensorType& type) {
  std::string text = "tensor<";
  for (const std::int64_t size : type.shape) text += std::to_string(size) + "x";
  return text + std::string(seaway::to_string(type.dtype)) + ">";
}

std::string list_text(const std::vector<std::int64_t>& numbers) {
  std::string text = "[";
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(numbers[i]);
  }
  return text + "]";
}

std::string array_text(const std::vector<std::int64_t>& numbers) {
  if (numbers.empty()) return "array<i64>";
  const std::string list = list_text(numbers);
  return "array<i64: " + list.substr(1, list.size() - 2) + ">";
}

std::vector<std::int64_t> range(std::int64_t first, std::int64_t limit) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = first; i < limit; ++i) numbers.push_back(i);
  return numbers;
}

std::string literal(DType dtype, double number) {
  if (dtype == DType::kBool) return number != 0 ? "true" : "false";
  char text[32];
  const float value = static_cast<float>(number);
  if (dtype == DType::kI32) {
    std::snprintf(text, sizeof text, "%d", static_cast<std::int32_t>(number));
  } else if (std::isfinite(value)) {
    std::snprintf(text, sizeof text, "%.9e", static_cast<double>(value));
  } else {
    std::snprintf(text, sizeof text, "0x%08X", std::bit_cast<std::uint32_t>(value));
  }
  return text;
}

/// Writes one function; keeps the count of helper values (%h0, ...) beside the graph's (%v0, ...).
class Writer {
 public:
  Writer(const Graph& graph, const AxisSizes& axes, const OutputOperandPairs& donated)
      : graph_(graph), axes_(axes), donated_(donated) {}

  std::string write() {
    std::string name;
    for (const char letter : graph_.name) {
      const bool is_plain = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                            (letter >= '0' && letter <= '9') || letter == '_';
      name += is_plain ? letter : '_';
    }
    text_ = "module @\"" + name + "\" {\n  func.func public @main(";
    for (std::size_t i = 0; i < graph_.parameters.size(); ++i) {
      if (i > 0) text_ += ", ";
      text_ +=
          value(graph_.parameters[i]) + ": " + type_text(graph_.parameter_type(i)) + donated(i);
    }
    text_ += ") -> (" + output_types() + ") {\n";
    for (std::size_t i = 0; i < graph_.instructions.size(); ++i) {
      write_instruction(static_cast<ValueId>(i));
    }
    std::string outputs;
    for (std::size_t i = 0; i < graph_.outputs.size(); ++i) {
      outputs += (i == 0 ? "" : ", ") + value(graph_.outputs[i]);
    }
    text_ += "    \"func.return\"(" + outputs + ") : (" + output_types() + ") -> ()\n  }\n}\n";
    return std::move(text_);
  }

 private:
  std::string value(ValueId id) const {
    const Instruction& instruction = graph_.instructions[id];
    if (instruction.op == Op::kParameter) return "%arg" + std::to_string(instruction.parameter);
    return "%v" + std::to_string(id);
  }
  /// That parameter `i` is donated, and to which output.
  std::string donated(std::size_t i) const {
    for (const auto& [output, operand] : donated_) {
      if (operand == i) return " {tf.aliasing_output = " + std::to_string(output) + " : i32}";
    }
    return "";
  }
  const TensorType& type_of(const Instruction& instruction, std::size_t operand) const {
    return graph_.instructions[instruction.operands[operand]].type;
  }
  std::string output_types() const {
    std::string types;
    for (std::size_t i = 0; i < graph_.outputs.size(); ++i) {
      types += (i == 0 ? "" : ", ") + type_text(graph_.output_type(i));
    }
    return types;
  }
  std::string helper() { return "%h" + std::to_string(helpers_++); }

  /// `results = "stablehlo.op"(operands) region {attributes} : (types) -> results`.
  void line(const std::string& result, std::string_view op, const std::string& operands,
            const std::string& attributes, const std::string& types,
            const std::string& result_type) {
    text_ += "    " + result + " = \"stablehlo." + std::string(op) + "\"(" + operands + ")" +
             attributes + " : (" + types + ") -> " + result_type + "\n";
  }
  /// A constant line; returns its name.
  std::string constant(const TensorType& type, double number) {
    const std::string name = helper();
    line(name, "constant", "", constant_attributes(type, number), "", type_text(type));
    return name;
  }
  static std::string constant_attributes(const TensorType& type, double number) {
    const std::string body = type.elements() == 0 ? "" : literal(type.dtype, number);
    return " {value = dense<" + body + "> : " + type_text(type) + "}";
  }

  /// The region that combines two scalars by `op`.
  static std::string region(DType dtype, std::string_view op) {
    const std::string type = type_text({dtype, {}});
    return " ({\n    ^bb0(%a: " + type + ", %b: " + type + "):\n      %c = \"stablehlo." +
           std::string(op) + "\"(%a, %b) : (" + type + ", " + type + ") -> " + type +
           "\n      \"stablehlo.return\"(%c) : (" + type + ") -> ()\n    })";
  }
  static std::string_view combiner(Reduce reduce) {
    return reduce == Reduce::kMax ? "maximum" : "add";
  }
  static double start_of(Reduce reduce, DType dtype) {
    if (reduce == Reduce::kSum) return 0;
    return dtype == DType::kF32 ? -HUGE_VAL : -2147483648.0;
  }

  std::string attributes_of(const Instruction& instruction) const;
  std::string replica_groups(const Instruction& instruction) const;
  std::string permute_pairs(const Instruction& instruction) const;
  void write_instruction(ValueId id);
  void write_reduce(ValueId id);
  void write_argmax(ValueId id);
  void write_gather(ValueId id);
  void write_scatter(ValueId id);
  void write_axis_index(ValueId id);

  const Graph& graph_;
  const AxisSizes& axes_;
  const OutputOperandPairs& donated_;
  std::string text_;
  int helpers_ = 0;
};

std::string Writer::replica_groups(const Instruction& instruction) const {
  const AxisGroups groups = groups_of(axes_, instruction.axis);
  const std::int64_t shards = shard_count(axes_);
  std::string rows;
  for (std::int64_t shard = 0; shard < shards; ++shard) {
    if (groups.coordinate(shard) != 0) continue;
    std::vector<std::int64_t> members;
    for (std::int64_t at = 0; at < groups.size; ++at) members.push_back(groups.member(shard, at));
    rows += (rows.empty() ? "" : ", ") + list_text(members);
  }
  return "replica_groups = dense<[" + rows + "]> : tensor<" + std::to_string(shards / groups.size) +
         "x" + std::to_string(groups.size) + "xi64>";
}

std::string Writer::permute_pairs(const Instruction& instruction) const {
  const AxisGroups groups = groups_of(axes_, instruction.axis);
  std::string rows;
  std::int64_t count = 0;
  for (std::int64_t shard = 0; shard < shard_count(axes_); ++shard) {
    if (groups.coordinate(shard) != 0) continue;
    for (const auto& [source, target] : instruction.pairs) {
      rows += (rows.empty() ? "" : ", ") +
              list_text({groups.member(shard, source), groups.member(shard, target)});
      ++count;
    }
  }
  return "source_target_pairs = dense<" + (rows.empty() ? "" : "[" + rows + "]") + "> : tensor<" +
         std::to_string(count) + "x2xi64>";
}

std::string Writer::attributes_of(const Instruction& instruction) const {
  switch (instruction.op) {
    case Op::kConstant:
      return constant_attributes(instruction.type, instruction.number);
    case Op::kIota:
      return " {iota_dimension = " + std::to_string(instruction.dims[0]) + " : i64}";
    case Op::kCompare:
      return " {comparison_direction = #stablehlo<comparison_direction " +
             std::string(to_string(instruction.compare)) + ">}";
    case Op::kBroadcastInDim:
      return " {broadcast_dimensions = " + array_text(instruction.dims) + "}";
    case Op::kTranspose:
      return " {permutation = " + array_text(instruction.dims) + "}";
    case Op::kSlice:
      return " {start_indices = " + array_text(instruction.starts) +
             ", limit_indices = " + array_text(instruction.limits) +
             ", strides = " + array_text(instruction.strides) + "}";
    case Op::kConcatenate:
      return " {dimension = " + std::to_string(instruction.dims[0]) + " : i64}";
    case Op::kDotGeneral:
      return " {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = " +
             list_text(instruction.dot.lhs_batch) +
             ", rhs_batching_dimensions = " + list_text(instruction.dot.rhs_batch) +
             ", lhs_contracting_dimensions = " + list_text(instruction.dot.lhs_contract) +
             ", rhs_contracting_dimensions = " + list_text(instruction.dot.rhs_contract) + ">}";
    case Op::kAllReduce:
      return region(instruction.type.dtype, combiner(instruction.reduce)) + " {" +
             replica_groups(instruction) + "}";
    case Op::kAllGather:
      return " {all_gather_dim = " + std::to_string(instruction.dims[0]) + " : i64, " +
             replica_groups(instruction) + "}";
    case Op::kReduceScatter:
      return region(instruction.type.dtype, "add") +
             " {scatter_dimension = " + std::to_string(instruction.dims[0]) + " : i64, " +
             replica_groups(instruction) + "}";
    case Op::kPermute:
      return " {" + permute_pairs(instruction) + "}";
    default:
      return "";
  }
}

void Writer::write_instruction(ValueId id) {
  const Instruction& instruction = graph_.instructions[id];
  switch (instruction.op) {
    case Op::kParameter:
      return;
    case Op::kReduce:
      return instruction.reduce == Reduce::kArgmax ? write_argmax(id) : write_reduce(id);
    case Op::kGatherRows:
      return write_gather(id);
    case Op::kScatterAddRows:
      return write_scatter(id);
    case Op::kAxisIndex:
      return write_axis_index(id);
    case Op::kAllGather:
    case Op::kReduceScatter:
      // StableHLO has none of these along a dimension of size 0; there is nothing to exchange.
      if (instruction.type.elements() > 0) break;
      return line(value(id), "constant", "", constant_attributes(instruction.type, 0), "",
                  type_text(instruction.type));
    default:
      break;
  }
  std::string operands, types;
  for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
    operands += (i == 0 ? "" : ", ") + value(instruction.operands[i]);
    types += (i == 0 ? "" : ", ") + type_text(type_of(instruction, i));
  }
  line(value(id), to_string(instruction.op), operands, attributes_of(instruction), types,
       type_text(instruction.type));
}

void Writer::write_reduce(ValueId id) {
  const Instruction& instruction = graph_.instructions[id];
  const TensorType scalar{instruction.type.dtype, {}};
  const std::string start = constant(scalar, start_of(instruction.reduce, scalar.dtype));
  line(value(id), "reduce", value(instruction.operands[0]) + ", " + start,
       region(scalar.dtype, combiner(instruction.reduce)) +
           " {dimensions = " + array_text(instruction.dims) + "}",
       type_text(type_of(instruction, 0)) + ", " + type_text(scalar), type_text(instruction.type));
}

/// Reduces (value, index) pairs: the larger value wins, NaN over all, then the lower index.
void Writer::write_argmax(ValueId id) {
  const Instruction& instruction = graph_.instructions[id];
  const TensorType& x = type_of(instruction, 0);
  const TensorType positions{DType::kI32, x.shape};
  const std::string number = type_text({x.dtype, {}}), index = type_text({DType::kI32, {}});
  const std::string flag = type_text({DType::kBool, {}});
  const std::string start = constant({x.dtype, {}}, start_of(Reduce::kMax, x.dtype));
  const std::string zero = constant({DType::kI32, {}}, 0);
  const std::string count = helper();
  line(count, "iota", "", " {iota_dimension = " + std::to_string(instruction.dims[0]) + " : i64}",
       "", type_text(positions));
  std::string body = " ({\n    ^bb0(%a: " + number + ", %ai: " + index + ", %b: " + number +
                     ", %bi: " + index + "):\n";
  const auto compare = [&](const char* name, const char* left, const char* right,
                           const char* direction, const std::string& type) {
    body += std::string("      ") + name + " = \"stablehlo.compare\"(" + left + ", " + right +
            ") {comparison_direction = #stablehlo<comparison_direction " + direction + ">} : (" +
            type + ", " + type + ") -> " + flag + "\n";
  };
  const auto combine = [&](const char* name, const char* op, const char* left, const char* right) {
    body += std::string("      ") + name + " = \"stablehlo." + op + "\"(" + left + ", " + right +
            ") : (" + flag + ", " + flag + ") -> " + flag + "\n";
  };
  const auto choose = [&](const char* name, const char* left, const char* right,
                          const std::string& type) {
    body += std::string("      ") + name + " = \"stablehlo.select\"(%wins, " + left + ", " + right +
            ") : (" + flag + ", " + type + ", " + type + ") -> " + type + "\n";
  };
  compare("%larger", "%a", "%b", "GT", number);
  compare("%a_nan", "%a", "%a", "NE", number);
  compare("%b_number", "%b", "%b", "EQ", number);
  compare("%b_nan", "%b", "%b", "NE", number);
  compare("%equal", "%a", "%b", "EQ", number);
  compare("%earlier", "%ai", "%bi", "LT", index);
  combine("%only_nan", "and", "%a_nan", "%b_number");
  combine("%better", "or", "%larger", "%only_nan");
  combine("%both_nan", "and", "%a_nan", "%b_nan");
  combine("%tie", "or", "%equal", "%both_nan");
  combine("%first", "and", "%tie", "%earlier");
  combine("%wins", "or", "%better", "%first");
  choose("%value", "%a", "%b", number);
  choose("%index", "%ai", "%bi", index);
  body += "      \"stablehlo.return\"(%value, %index) : (" + number + ", " + index +
          ") -> ()\n    }) {dimensions = " + array_text(instruction.dims) + "}";
  // The second result is the one wanted, so the pair gets a helper name.
  const std::string pair = helper();
  line(pair + ":2", "reduce",
       value(instruction.operands[0]) + ", " + count + ", " + start + ", " + zero, body,
       type_text(x) + ", " + type_text(positions) + ", " + number + ", " + index,
       "(" + type_text({x.dtype, instruction.type.shape}) + ", " + type_text(instruction.type) +
           ")");
  line(value(id), "reshape", pair + "#1", "", type_text(instruction.type),
       type_text(instruction.type));
}

void Writer::write_gather(ValueId id) {
  const Instruction& instruction = graph_.instructions[id];
  const TensorType& table = type_of(instruction, 0);
  const TensorType& indices = type_of(instruction, 1);
  const auto rank = static_cast<std::int64_t>(indices.shape.size());
  std::vector<std::int64_t> sizes = table.shape;
  sizes[0] = table.shape[0] == 0 ? 0 : 1;
  line(value(id), "gather", value(instruction.operands[0]) + ", " + value(instruction.operands[1]),
       " {dimension_numbers = #stablehlo.gather<offset_dims = " +
           list_text(range(rank, rank + static_cast<std::int64_t>(table.shape.size()) - 1)) +
           ", collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = " +
           std::to_string(rank) + ">, slice_sizes = " + array_text(sizes) +
           ", indices_are_sorted = false}",
       type_text(table) + ", " + type_text(indices), type_text(instruction.type));
}

/// StableHLO skips rows outside the table; ours are clamped, so the indices are clamped first.
void Writer::write_scatter(ValueId id) {
  const Instruction& instruction = graph_.instructions[id];
  const TensorType& base = type_of(instruction, 0);
  const TensorType& indices = type_of(instruction, 1);
  const TensorType& updates = type_of(instruction, 2);
  const TensorType scalar{DType::kI32, {}};
  const auto rank = static_cast<std::int64_t>(indices.shape.size());
  const std::string low = constant(scalar, 0);
  const std::string high =
      constant(scalar, static_cast<double>(std::min<std::int64_t>(
                           std::max<std::int64_t>(base.shape[0] - 1, 0), 0x7fffffff)));
  const std::string clamped = helper();
  line(clamped, "clamp", low + ", " + value(instruction.operands[1]) + ", " + high, "",
       type_text(scalar) + ", " + type_text(indices) + ", " + type_text(scalar),
       type_text(indices));
  line(value(id), "scatter",
       value(instruction.operands[0]) + ", " + clamped + ", " + value(instruction.operands[2]),
       region(base.dtype, "add") +
           " {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = " +
           list_text(range(rank, static_cast<std::int64_t>(updates.shape.size()))) +
           ", inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = " +
           std::to_string(rank) + ">, indices_are_sorted = false, unique_indices = false}",
       type_text(base) + ", " + type_text(indices) + ", " + type_text(updates),
       type_text(instruction.type));
}

void Writer::write_axis_index(ValueId id) {
  const AxisGroups groups = groups_of(axes_, graph_.instructions[id].axis);
  const std::string unsigned_type = "tensor<ui32>";
  const auto unsigned_constant = [&](std::int64_t number) {
    const std::string name = helper();
    line(name, "constant", "", " {value = dense<" + std::to_string(number) + "> : tensor<ui32>}",
         "", unsigned_type);
    return name;
  };
  const std::string both = unsigned_type + ", " + unsigned_type;
  const std::string shard = helper(), row = helper(), coordinate = helper();
  line(shard, "replica_id", "", "", "", unsigned_type);
  line(row, "divide", shard + ", " + unsigned_constant(groups.stride), "", both, unsigned_type);
  line(coordinate, "remainder", row + ", " + unsigned_constant(groups.size), "", both,
       unsigned_type);
  line(value(id), "convert", coordinate, "", unsigned_type, type_text({DType::kI32, {}}));
}

}  // namespace

std::string to_stablehlo(const Graph& graph, const AxisSizes& axes,
                         const OutputOperandPairs& donated) {
  return Writer(graph, axes, donated).write();
}

}  // namespace seaway::function
