// Shape rules: the result type of each operation, or a message that prints all shapes.

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "base/limits.hpp"
#include "function/graph.hpp"

namespace seaway::function {
namespace {

using Dims = std::vector<std::int64_t>;

/// One rule's view: the instruction, its operands' types and the axes.
struct Rule {
  const Instruction& instruction;
  const std::vector<TensorType>& operands;
  const AxisSizes& axes;

  /// "add(f32[2], f32[3]): <why>".
  Status refuse(const std::string& why) const {
    std::string text = std::string(to_string(instruction.op)) + "(";
    constexpr std::size_t kShownMax = 8;  // A stranger's list may be long.
    for (std::size_t i = 0; i < operands.size() && i < kShownMax; ++i) {
      if (i > 0) text += ", ";
      text += seaway::to_string(operands[i]);
    }
    if (operands.size() > kShownMax) text += ", ...";
    return invalid_argument(text + "): " + why);
  }
};

/// Sizes whose product, zeros left out, stays below the limit: no later arithmetic overflows.
Status check_type(const Rule& rule, const TensorType& type) {
  if (type.dtype > kLastDType) return rule.refuse("unknown element type");
  // A parameter that is handed on is only moved.
  if (!is_computed_with(type.dtype) && rule.instruction.op != Op::kParameter) {
    return rule.refuse("captured functions compute with f32, i32 and i1, and not with " +
                       std::string(seaway::to_string(type.dtype)) +
                       "; a native or a foreign function may");
  }
  if (Status status = limits::check(limits::kCapturedRank, type.shape.size(), "result");
      !status.ok()) {
    return rule.refuse(status.message());
  }
  TensorType without_zeros = type;
  for (std::int64_t& size : without_zeros.shape) size = size == 0 ? 1 : size;
  const Status status = seaway::validate(without_zeros);
  return status.ok() ? status : rule.refuse(status.message());
}

Result<TensorType> checked(const Rule& rule, TensorType type) {
  if (Status status = check_type(rule, type); !status.ok()) return status;
  return type;
}

bool is_dim(std::int64_t dim, std::size_t rank) {
  return dim >= 0 && dim < static_cast<std::int64_t>(rank);
}

/// Every entry names a dimension, and none twice.
bool are_distinct_dims(const Dims& dims, std::size_t rank) {
  std::vector<bool> seen(rank, false);
  for (const std::int64_t dim : dims) {
    if (!is_dim(dim, rank) || seen[static_cast<std::size_t>(dim)]) return false;
    seen[static_cast<std::size_t>(dim)] = true;
  }
  return true;
}

std::string dims_text(const Dims& dims) { return seaway::to_string(Shape(dims)); }

Result<TensorType> infer_source(const Rule& rule) {
  const Instruction& instruction = rule.instruction;
  if (Status status = check_type(rule, instruction.type); !status.ok()) return status;
  const TensorType& type = instruction.type;
  if (instruction.op == Op::kIota) {
    if (type.dtype == DType::kBool) return rule.refuse("counts in f32 or i32, not in i1");
    if (instruction.dims.size() != 1 || !is_dim(instruction.dims[0], type.shape.size())) {
      return rule.refuse("dimension " + dims_text(instruction.dims) + " is not one of " +
                         seaway::to_string(type));
    }
  }
  if (instruction.op == Op::kConstant && type.dtype != DType::kF32) {
    const double number = instruction.number;
    const double low = type.dtype == DType::kBool ? 0 : std::numeric_limits<std::int32_t>::min();
    const double high = type.dtype == DType::kBool ? 1 : std::numeric_limits<std::int32_t>::max();
    if (!(number >= low && number <= high) || number != std::trunc(number)) {
      return rule.refuse("number " + std::to_string(number) + " is no " +
                         std::string(seaway::to_string(type.dtype)));
    }
  }
  return type;
}

Result<TensorType> infer_unary(const Rule& rule) {
  const TensorType& x = rule.operands[0];
  switch (rule.instruction.op) {
    case Op::kNegate:
    case Op::kAbs:
      if (x.dtype == DType::kBool) return rule.refuse("needs f32 or i32");
      return x;
    case Op::kNot:
      if (x.dtype == DType::kF32) return rule.refuse("needs i1 or i32");
      return x;
    case Op::kConvert:
      if (Status status = check_type(rule, rule.instruction.type); !status.ok()) return status;
      if (rule.instruction.type.shape != x.shape) {
        return rule.refuse("cannot change the shape to " +
                           seaway::to_string(rule.instruction.type));
      }
      return rule.instruction.type;
    default:
      if (x.dtype != DType::kF32) return rule.refuse("needs f32; convert it first");
      return x;
  }
}

Result<TensorType> infer_binary(const Rule& rule) {
  const TensorType& left = rule.operands[0];
  if (left != rule.operands[1]) {
    return rule.refuse(left.dtype != rule.operands[1].dtype
                           ? "both need the same element type; convert one"
                           : "both need the same shape; broadcast one");
  }
  switch (rule.instruction.op) {
    case Op::kCompare:
      if (rule.instruction.compare > Compare::kGe) return rule.refuse("unknown comparison");
      return TensorType{DType::kBool, left.shape};
    case Op::kAnd:
    case Op::kOr:
      if (left.dtype == DType::kF32) return rule.refuse("needs i1 or i32");
      return left;
    case Op::kPower:
      if (left.dtype != DType::kF32) return rule.refuse("needs f32; convert it first");
      return left;
    default:
      if (left.dtype == DType::kBool) {
        return rule.refuse("needs f32 or i32; use logical_and or logical_or");
      }
      return left;
  }
}

Result<TensorType> infer_select(const Rule& rule) {
  const TensorType& on_true = rule.operands[1];
  if (rule.operands[0] != TensorType{DType::kBool, on_true.shape}) {
    return rule.refuse("the predicate needs type " +
                       seaway::to_string(TensorType{DType::kBool, on_true.shape}));
  }
  if (on_true != rule.operands[2]) return rule.refuse("both branches need the same type");
  return on_true;
}

Result<TensorType> infer_reshape(const Rule& rule) {
  const TensorType& type = rule.instruction.type;
  if (Status status = check_type(rule, type); !status.ok()) return status;
  if (type.dtype != rule.operands[0].dtype || type.elements() != rule.operands[0].elements()) {
    return rule.refuse("holds " + std::to_string(rule.operands[0].elements()) +
                       " elements and cannot become " + seaway::to_string(type) + " with " +
                       std::to_string(type.elements()));
  }
  return type;
}

Result<TensorType> infer_broadcast(const Rule& rule) {
  const TensorType& x = rule.operands[0];
  const TensorType& type = rule.instruction.type;
  const Dims& dims = rule.instruction.dims;
  if (Status status = check_type(rule, type); !status.ok()) return status;
  const std::string target = seaway::to_string(type) + " with dimensions " + dims_text(dims);
  if (type.dtype != x.dtype || dims.size() != x.shape.size() ||
      !are_distinct_dims(dims, type.shape.size())) {
    return rule.refuse("cannot become " + target +
                       ": each dimension needs one of its own in the result");
  }
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const std::int64_t size = type.shape[static_cast<std::size_t>(dims[i])];
    if (x.shape[i] != 1 && x.shape[i] != size) {
      return rule.refuse("cannot become " + target + ": dimension " + std::to_string(i) +
                         " has size " + std::to_string(x.shape[i]) + ", not 1 or " +
                         std::to_string(size));
    }
  }
  return type;
}

Result<TensorType> infer_transpose(const Rule& rule) {
  const TensorType& x = rule.operands[0];
  const Dims& dims = rule.instruction.dims;
  if (dims.size() != x.shape.size() || !are_distinct_dims(dims, x.shape.size())) {
    return rule.refuse("order " + dims_text(dims) + " is no permutation of its dimensions");
  }
  TensorType type{x.dtype, {}};
  for (const std::int64_t dim : dims) type.shape.push_back(x.shape[static_cast<std::size_t>(dim)]);
  return type;
}

Result<TensorType> infer_slice(const Rule& rule) {
  const TensorType& x = rule.operands[0];
  const auto& [starts, limits, strides] =
      std::tie(rule.instruction.starts, rule.instruction.limits, rule.instruction.strides);
  const std::size_t rank = x.shape.size();
  const std::string bounds = "starts " + dims_text(starts) + ", limits " + dims_text(limits) +
                             ", strides " + dims_text(strides);
  if (starts.size() != rank || limits.size() != rank || strides.size() != rank) {
    return rule.refuse(bounds + " need one entry for each dimension");
  }
  TensorType type{x.dtype, {}};
  for (std::size_t i = 0; i < rank; ++i) {
    if (starts[i] < 0 || starts[i] > limits[i] || limits[i] > x.shape[i] || strides[i] < 1) {
      return rule.refuse(bounds + " leave dimension " + std::to_string(i) +
                         ": 0 <= start <= limit <= size and stride >= 1 must hold");
    }
    const std::int64_t length = limits[i] - starts[i];
    type.shape.push_back(length == 0 ? 0 : (length - 1) / strides[i] + 1);
  }
  return type;
}

Result<TensorType> infer_concatenate(const Rule& rule) {
  if (rule.operands.empty()) return rule.refuse("needs at least one operand");
  TensorType type = rule.operands[0];
  const Dims& dims = rule.instruction.dims;
  if (dims.size() != 1 || !is_dim(dims[0], type.shape.size())) {
    return rule.refuse("dimension " + dims_text(dims) + " is not one of the first operand");
  }
  const std::size_t dim = static_cast<std::size_t>(dims[0]);
  for (std::size_t i = 1; i < rule.operands.size(); ++i) {
    TensorType other = rule.operands[i];
    if (other.shape.size() != type.shape.size()) {
      return rule.refuse("operands need equal ranks");
    }
    const std::int64_t size = std::exchange(other.shape[dim], type.shape[dim]);
    if (other != type) {
      return rule.refuse("operands may differ in dimension " + std::to_string(dim) + " only");
    }
    type.shape[dim] += size;
    if (Status status = check_type(rule, type); !status.ok()) return status;
  }
  return type;
}

Result<TensorType> infer_dot(const Rule& rule) {
  const TensorType& left = rule.operands[0];
  const TensorType& right = rule.operands[1];
  const DotDims& dot = rule.instruction.dot;
  if (left.dtype != right.dtype || left.dtype == DType::kBool) {
    return rule.refuse("both need the same element type, f32 or i32");
  }
  const auto joined = [](Dims a, const Dims& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  };
  const Dims left_used = joined(dot.lhs_batch, dot.lhs_contract);
  const Dims right_used = joined(dot.rhs_batch, dot.rhs_contract);
  const std::string numbers = "batch " + dims_text(dot.lhs_batch) + " with " +
                              dims_text(dot.rhs_batch) + ", contracting " +
                              dims_text(dot.lhs_contract) + " with " + dims_text(dot.rhs_contract);
  if (dot.lhs_batch.size() != dot.rhs_batch.size() ||
      dot.lhs_contract.size() != dot.rhs_contract.size() ||
      !are_distinct_dims(left_used, left.shape.size()) ||
      !are_distinct_dims(right_used, right.shape.size())) {
    return rule.refuse(numbers + " do not pair up distinct dimensions");
  }
  TensorType type{left.dtype, {}};
  for (std::size_t i = 0; i < left_used.size(); ++i) {
    const std::int64_t a = left.shape[static_cast<std::size_t>(left_used[i])];
    const std::int64_t b = right.shape[static_cast<std::size_t>(right_used[i])];
    if (a != b) {
      return rule.refuse(numbers + ": sizes " + std::to_string(a) + " and " + std::to_string(b) +
                         " differ");
    }
    if (i < dot.lhs_batch.size()) type.shape.push_back(a);
  }
  const auto add_free = [&type](const TensorType& operand, const Dims& used) {
    for (std::size_t i = 0; i < operand.shape.size(); ++i) {
      if (std::find(used.begin(), used.end(), static_cast<std::int64_t>(i)) == used.end()) {
        type.shape.push_back(operand.shape[i]);
      }
    }
  };
  add_free(left, left_used);
  add_free(right, right_used);
  return checked(rule, std::move(type));
}

Result<TensorType> infer_reduce(const Rule& rule) {
  const TensorType& x = rule.operands[0];
  const Dims& dims = rule.instruction.dims;
  if (rule.instruction.reduce > Reduce::kArgmax) return rule.refuse("unknown reduction");
  if (x.dtype == DType::kBool) return rule.refuse("needs f32 or i32; convert it first");
  if (!are_distinct_dims(dims, x.shape.size()) || !std::is_sorted(dims.begin(), dims.end())) {
    return rule.refuse("dimensions " + dims_text(dims) + " are not distinct, rising and its own");
  }
  TensorType type{x.dtype, {}};
  for (std::size_t i = 0; i < x.shape.size(); ++i) {
    if (!std::binary_search(dims.begin(), dims.end(), static_cast<std::int64_t>(i))) {
      type.shape.push_back(x.shape[i]);
    }
  }
  if (rule.instruction.reduce == Reduce::kArgmax) {
    if (dims.size() != 1) return rule.refuse("argmax takes one dimension");
    const std::int64_t size = x.shape[static_cast<std::size_t>(dims[0])];
    if (size < 1 || size > std::numeric_limits<std::int32_t>::max()) {
      return rule.refuse("argmax needs between 1 and 2^31-1 elements to choose from");
    }
    type.dtype = DType::kI32;
  }
  return type;
}

Result<TensorType> infer_rows(const Rule& rule) {
  const TensorType& table = rule.operands[0];
  const TensorType& indices = rule.operands[1];
  if (table.shape.empty()) return rule.refuse("the table needs at least one dimension");
  if (indices.dtype != DType::kI32) return rule.refuse("indices need element type i32");
  if (table.shape[0] == 0 && indices.elements() > 0) {
    return rule.refuse("a table without rows has none to choose");
  }
  TensorType rows{table.dtype, indices.shape};
  rows.shape.insert(rows.shape.end(), table.shape.begin() + 1, table.shape.end());
  if (rule.instruction.op == Op::kGatherRows) return checked(rule, std::move(rows));
  if (table.dtype == DType::kBool) return rule.refuse("needs f32 or i32");
  if (rule.operands[2] != rows) {
    return rule.refuse("updates need type " + seaway::to_string(rows));
  }
  return table;
}

/// Size of the instruction's axis.
std::optional<std::int64_t> size_of_axis(const Rule& rule) {
  for (const auto& [name, size] : rule.axes) {
    if (name == rule.instruction.axis) return size;
  }
  return std::nullopt;
}

Status check_pairs(const Rule& rule, std::int64_t size) {
  std::vector<bool> sends(static_cast<std::size_t>(size), false);
  std::vector<bool> receives(static_cast<std::size_t>(size), false);
  for (const auto& [source, target] : rule.instruction.pairs) {
    const std::string pair = "pair " + std::to_string(source) + "->" + std::to_string(target);
    if (!is_dim(source, sends.size()) || !is_dim(target, sends.size())) {
      return rule.refuse(pair + " leaves axis '" + rule.instruction.axis + "' of size " +
                         std::to_string(size));
    }
    if (sends[static_cast<std::size_t>(source)] || receives[static_cast<std::size_t>(target)]) {
      return rule.refuse(pair + " sends or receives a second time");
    }
    sends[static_cast<std::size_t>(source)] = receives[static_cast<std::size_t>(target)] = true;
  }
  return {};
}

Result<TensorType> infer_collective(const Rule& rule) {
  const Instruction& instruction = rule.instruction;
  const std::optional<std::int64_t> size = size_of_axis(rule);
  if (!size) {
    std::string known;
    for (const auto& axis : rule.axes) known += (known.empty() ? "" : ", ") + axis.first;
    return rule.refuse("no mesh axis '" + instruction.axis +
                       "'; there are: " + (known.empty() ? "none" : known));
  }
  if (instruction.op == Op::kAxisIndex) return TensorType{DType::kI32, {}};
  TensorType type = rule.operands[0];
  const bool adds = instruction.op == Op::kAllReduce || instruction.op == Op::kReduceScatter;
  if (adds && type.dtype == DType::kBool) return rule.refuse("needs f32 or i32; convert it first");
  if (instruction.op == Op::kAllReduce) {
    if (instruction.reduce >= Reduce::kArgmax) return rule.refuse("reduces with sum or max only");
    return type;
  }
  if (instruction.op == Op::kPermute) {
    if (Status status = check_pairs(rule, *size); !status.ok()) return status;
    return type;
  }
  if (instruction.dims.size() != 1 || !is_dim(instruction.dims[0], type.shape.size())) {
    return rule.refuse("dimension " + dims_text(instruction.dims) + " is not one of its own");
  }
  std::int64_t& length = type.shape[static_cast<std::size_t>(instruction.dims[0])];
  if (instruction.op == Op::kAllGather) {
    length *= *size;
    return checked(rule, std::move(type));
  }
  if (length % *size != 0) {
    return rule.refuse("axis '" + instruction.axis + "' of size " + std::to_string(*size) +
                       " does not divide dimension " + std::to_string(instruction.dims[0]));
  }
  length /= *size;
  return type;
}

/// How many operands the operation takes; concatenate: any number.
std::optional<std::size_t> operand_count(Op op) {
  switch (op) {
    case Op::kParameter:
    case Op::kConstant:
    case Op::kIota:
    case Op::kAxisIndex:
      return 0;
    case Op::kAdd:
    case Op::kSubtract:
    case Op::kMultiply:
    case Op::kDivide:
    case Op::kMaximum:
    case Op::kMinimum:
    case Op::kPower:
    case Op::kAnd:
    case Op::kOr:
    case Op::kCompare:
    case Op::kDotGeneral:
    case Op::kGatherRows:
      return 2;
    case Op::kSelect:
    case Op::kScatterAddRows:
      return 3;
    case Op::kConcatenate:
      return std::nullopt;
    default:
      return 1;
  }
}

}  // namespace

Result<TensorType> infer_type(const Instruction& instruction,
                              const std::vector<TensorType>& operand_types, const AxisSizes& axes) {
  const Rule rule{instruction, operand_types, axes};
  if (instruction.op > Op::kAxisIndex) return rule.refuse("unknown operation");
  const std::optional<std::size_t> count = operand_count(instruction.op);
  if (count && operand_types.size() != *count) {
    return rule.refuse("takes " + std::to_string(*count) + " operands, not " +
                       std::to_string(operand_types.size()));
  }
  for (const TensorType& type : operand_types) {
    if (Status status = check_type(rule, type); !status.ok()) return status;
  }
  switch (instruction.op) {
    case Op::kParameter:
    case Op::kConstant:
    case Op::kIota:
      return infer_source(rule);
    case Op::kSelect:
      return infer_select(rule);
    case Op::kReshape:
      return infer_reshape(rule);
    case Op::kBroadcastInDim:
      return infer_broadcast(rule);
    case Op::kTranspose:
      return infer_transpose(rule);
    case Op::kSlice:
      return infer_slice(rule);
    case Op::kConcatenate:
      return infer_concatenate(rule);
    case Op::kDotGeneral:
      return infer_dot(rule);
    case Op::kReduce:
      return infer_reduce(rule);
    case Op::kGatherRows:
    case Op::kScatterAddRows:
      return infer_rows(rule);
    case Op::kAllReduce:
    case Op::kAllGather:
    case Op::kReduceScatter:
    case Op::kPermute:
    case Op::kAxisIndex:
      return infer_collective(rule);
    default:
      return operand_types.size() == 2 ? infer_binary(rule) : infer_unary(rule);
  }
}

}  // namespace seaway::function
