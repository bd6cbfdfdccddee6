// A graph as text for people, and its stable fingerprint.

#include <array>
#include <bit>
#include <cstdio>
#include <string>

#include "function/graph.hpp"

namespace seaway::function {
namespace {

constexpr std::array<std::string_view, 35> kOpNames = {
    "parameter", "constant", "iota",        "negate",      "exponential",
    "log",       "sqrt",     "rsqrt",       "tanh",        "abs",
    "not",       "convert",  "add",         "subtract",    "multiply",
    "divide",    "maximum",  "minimum",     "power",       "and",
    "or",        "compare",  "select",      "reshape",     "broadcast_in_dim",
    "transpose", "slice",    "concatenate", "dot_general", "reduce",
    "gather",    "scatter",  "all_reduce",  "all_gather",  "reduce_scatter"};

static_assert(kOpNames.size() == static_cast<std::size_t>(Op::kPermute));

std::string value_name(ValueId id) { return "%" + std::to_string(id); }

std::string numbers_text(const std::vector<std::int64_t>& numbers) {
  return seaway::to_string(Shape(numbers));
}

std::string number_text(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", number);
  return text;
}

/// The attributes that the operation reads, as " name=value".
std::string attributes_text(const Instruction& instruction) {
  std::string text;
  switch (instruction.op) {
    case Op::kParameter:
      return " " + std::to_string(instruction.parameter);
    case Op::kConstant:
      return " " + number_text(instruction.number);
    case Op::kCompare:
      text += " " + std::string(to_string(instruction.compare));
      break;
    case Op::kReduce:
    case Op::kAllReduce:
      text += " " + std::string(to_string(instruction.reduce));
      break;
    case Op::kSlice:
      return " starts=" + numbers_text(instruction.starts) +
             " limits=" + numbers_text(instruction.limits) +
             " strides=" + numbers_text(instruction.strides);
    case Op::kDotGeneral:
      return " batch=" + numbers_text(instruction.dot.lhs_batch) + "x" +
             numbers_text(instruction.dot.rhs_batch) +
             " contract=" + numbers_text(instruction.dot.lhs_contract) + "x" +
             numbers_text(instruction.dot.rhs_contract);
    default:
      break;
  }
  if (!instruction.dims.empty()) text += " dims=" + numbers_text(instruction.dims);
  if (!instruction.axis.empty()) text += " axis=" + instruction.axis;
  for (const auto& [source, target] : instruction.pairs) {
    text += " " + std::to_string(source) + "->" + std::to_string(target);
  }
  return text;
}

/// FNV-1a over 64-bit words with a final mix: simple to state, the same everywhere.
class Hash {
 public:
  void add(std::uint64_t word) {
    for (int byte = 0; byte < 8; ++byte) {
      state_ = (state_ ^ ((word >> (8 * byte)) & 0xff)) * 0x100000001b3u;
    }
  }
  void add(const std::vector<std::int64_t>& numbers) {
    add(numbers.size());
    for (const std::int64_t number : numbers) add(static_cast<std::uint64_t>(number));
  }
  void add(std::string_view text) {
    add(text.size());
    for (const char letter : text)
      add(static_cast<std::uint64_t>(static_cast<std::uint8_t>(letter)));
  }
  void add(const std::vector<ValueId>& ids) {
    add(ids.size());
    for (const ValueId id : ids) add(static_cast<std::uint64_t>(id));
  }
  std::uint64_t value() const {
    std::uint64_t mixed = state_ ^ (state_ >> 32);
    mixed *= 0xd6e8feb86659fd93u;
    return mixed ^ (mixed >> 32);
  }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325u;
};

void add_instruction(Hash& hash, const Instruction& instruction) {
  hash.add(static_cast<std::uint64_t>(instruction.op));
  hash.add(static_cast<std::uint64_t>(instruction.type.dtype));
  hash.add(instruction.type.shape);
  hash.add(instruction.operands);
  hash.add(instruction.dims);
  hash.add(instruction.starts);
  hash.add(instruction.limits);
  hash.add(instruction.strides);
  hash.add(instruction.dot.lhs_batch);
  hash.add(instruction.dot.rhs_batch);
  hash.add(instruction.dot.lhs_contract);
  hash.add(instruction.dot.rhs_contract);
  hash.add(std::bit_cast<std::uint64_t>(instruction.number));
  hash.add(static_cast<std::uint64_t>(instruction.compare));
  hash.add(static_cast<std::uint64_t>(instruction.reduce));
  hash.add(std::string_view(instruction.axis));
  hash.add(instruction.pairs.size());
  for (const auto& [source, target] : instruction.pairs) {
    hash.add(static_cast<std::uint64_t>(source));
    hash.add(static_cast<std::uint64_t>(target));
  }
  hash.add(static_cast<std::uint64_t>(instruction.parameter));
}

}  // namespace

std::string_view to_string(Op op) {
  if (op == Op::kPermute) return "collective_permute";
  if (op == Op::kAxisIndex) return "axis_index";
  const auto index = static_cast<std::size_t>(op);
  return index < kOpNames.size() ? kOpNames[index] : "?";
}

std::string_view to_string(Compare compare) {
  constexpr std::array<std::string_view, 6> kNames = {"EQ", "NE", "LT", "LE", "GT", "GE"};
  const auto index = static_cast<std::size_t>(compare);
  return index < kNames.size() ? kNames[index] : "?";
}

std::string_view to_string(Reduce reduce) {
  constexpr std::array<std::string_view, 3> kNames = {"sum", "max", "argmax"};
  const auto index = static_cast<std::size_t>(reduce);
  return index < kNames.size() ? kNames[index] : "?";
}

std::string to_string(const Instruction& instruction, ValueId id) {
  std::string text = value_name(id) + " = " + std::string(to_string(instruction.op));
  text += attributes_text(instruction);
  for (std::size_t k = 0; k < instruction.operands.size(); ++k) {
    text += (k == 0 ? " " : ", ") + value_name(instruction.operands[k]);
  }
  return text + " : " + seaway::to_string(instruction.type);
}

std::string to_string(const Graph& graph) {
  std::string text = "function " + graph.name + " {\n";
  for (std::size_t i = 0; i < graph.instructions.size(); ++i) {
    text += "  " + to_string(graph.instructions[i], static_cast<ValueId>(i)) + "\n";
  }
  text += "  return";
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    text += (i == 0 ? " " : ", ") + value_name(graph.outputs[i]);
  }
  return text + "\n}\n";
}

std::uint64_t fingerprint(const Graph& graph) {
  Hash hash;
  hash.add(graph.instructions.size());
  for (const Instruction& instruction : graph.instructions) add_instruction(hash, instruction);
  hash.add(graph.parameters);
  hash.add(graph.outputs);
  return hash.value();
}

}  // namespace seaway::function
