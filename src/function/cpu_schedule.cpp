// The walk over a graph: what is live, what needs room, what is only another view.

#include "function/cpu_schedule.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/check.hpp"
#include "function/cpu_scheduler.hpp"

namespace seaway::function::cpu {
namespace {

std::uint32_t bits_of(double number, DType dtype) {
  if (dtype == DType::kBool) return number != 0;
  if (dtype == DType::kF32) {
    const float value = static_cast<float>(number);
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof(bits));
    return bits;
  }
  const double low = std::numeric_limits<std::int32_t>::min();
  const double high = std::numeric_limits<std::int32_t>::max();
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(std::clamp(number, low, high)));
}

/// Positions of the dimensions whose size is not 1.
std::vector<std::int64_t> wide_dims(const Shape& shape) {
  std::vector<std::int64_t> dims;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] != 1) dims.push_back(static_cast<std::int64_t>(d));
  }
  return dims;
}

}  // namespace

bool is_elementwise(Op op) { return op >= Op::kNegate && op <= Op::kSelect; }

Schedule Scheduler::run() {
  find_live();
  for (ValueId value = 0; value < graph_.instructions.size(); ++value) {
    if (values_[value].is_live) add(value);
  }
  for (const ValueId output : graph_.outputs) schedule_.outputs.push_back(dense(output));
  return std::move(schedule_);
}

void Scheduler::find_live() {
  values_.resize(graph_.instructions.size());
  for (const ValueId output : graph_.outputs) {
    values_[output].is_live = values_[output].is_output = true;
  }
  for (ValueId value = static_cast<ValueId>(values_.size()); value-- > 0;) {
    if (!values_[value].is_live) continue;
    for (const ValueId operand : at(value).operands) {
      values_[operand].is_live = true;
      values_[operand].users.push_back(value);
    }
  }
}

void Scheduler::add(ValueId value) {
  const Instruction& instruction = at(value);
  ValueState& state = values_[value];
  switch (instruction.op) {
    case Op::kParameter:
      state.dense = new_storage(instruction.type);
      schedule_.storages[*state.dense].kind = Storage::kParameter;
      schedule_.storages[*state.dense].index = instruction.parameter;
      return;
    case Op::kConstant:
      return add_constant(value);
    case Op::kReshape:
      return add_reshape(value);
    case Op::kBroadcastInDim:
      return add_broadcast(value);
    case Op::kTranspose:
      // Laid out when somebody needs it; a matrix product does not.
      return;
    case Op::kIota:
      return add_iota(value);
    case Op::kSlice:
      return add_slice(value);
    case Op::kConcatenate:
      return add_concatenate(value);
    case Op::kDotGeneral:
      return add_dot(value);
    case Op::kReduce: {
      const ValueId operand = instruction.operands[0];
      const StorageId in = dense(operand);
      state.dense = emit(make_reduce(type(operand), instruction.dims, instruction.reduce), {in},
                         instruction.type);
      return;
    }
    case Op::kGatherRows:
    case Op::kScatterAddRows:
      return add_rows(value);
    case Op::kAllReduce:
    case Op::kAllGather:
    case Op::kReduceScatter:
    case Op::kPermute:
    case Op::kAxisIndex:
      return add_collective(value);
    default:
      return add_elementwise(value);
  }
}

void Scheduler::add_constant(ValueId value) {
  const StorageId storage =
      constant(bits_of(at(value).number, type(value).dtype), type(value).dtype);
  values_[value].view = View{storage, Access::kScalar, 1};
  if (type(value).elements() == 1) values_[value].dense = storage;
}

void Scheduler::add_reshape(ValueId value) {
  const ValueId operand = at(value).operands[0];
  const ValueState& source = values_[operand];
  const bool is_scalar = source.view && source.view->access == Access::kScalar;
  if (source.dense) {
    values_[value].dense = source.dense;
  } else if (is_scalar) {
    values_[value].view = source.view;
  } else {
    values_[value].dense = dense(operand);
  }
}

void Scheduler::add_broadcast(ValueId value) {
  const Instruction& instruction = at(value);
  const ValueId operand = instruction.operands[0];
  ValueState& state = values_[value];
  if (values_[operand].view && values_[operand].view->access == Access::kScalar) {
    state.view = values_[operand].view;
    return;
  }
  if (!values_[operand].dense) dense(operand);
  const StorageId source = *values_[operand].dense;
  if (type(operand).elements() == 1) {
    state.view = View{source, Access::kScalar, 1};
    return;
  }
  const std::vector<std::int64_t> wide = wide_dims(instruction.type.shape);
  std::vector<std::int64_t> mapped;
  for (const std::int64_t dim : wide_dims(type(operand).shape)) {
    mapped.push_back(instruction.dims[static_cast<std::size_t>(dim)]);
  }
  const std::size_t count = std::min(mapped.size(), wide.size());
  const auto difference = static_cast<std::ptrdiff_t>(count);
  if (std::equal(mapped.begin(), mapped.end(), wide.begin(), wide.begin() + difference)) {
    const std::int64_t length =
        instruction.type.elements() / std::max<std::int64_t>(1, type(operand).elements());
    if (mapped.size() == wide.size()) {
      state.dense = source;
    } else {
      state.view = View{source, Access::kRepeated, static_cast<std::size_t>(length)};
    }
  } else if (std::equal(mapped.begin(), mapped.end(), wide.end() - difference, wide.end())) {
    state.view =
        View{source, Access::kPeriodic, static_cast<std::size_t>(type(operand).elements())};
  } else {
    state.dense = emit_broadcast(value);
  }
}

StorageId Scheduler::new_storage(const TensorType& type) {
  schedule_.storages.push_back({Storage::kComputed, type.bytes(), 0});
  group_of_storage_.push_back(-1);
  return static_cast<StorageId>(schedule_.storages.size() - 1);
}

StorageId Scheduler::constant(std::uint32_t bits, DType dtype) {
  const auto found = std::find(schedule_.constants.begin(), schedule_.constants.end(), bits);
  const auto index = static_cast<std::uint32_t>(found - schedule_.constants.begin());
  if (found == schedule_.constants.end()) schedule_.constants.push_back(bits);
  const StorageId storage = new_storage({dtype, {}});
  schedule_.storages[storage].kind = Storage::kConstant;
  schedule_.storages[storage].index = index;
  return storage;
}

StorageId Scheduler::emit(Step step, std::vector<StorageId> in, const TensorType& type) {
  const StorageId out = new_storage(type);
  emit_into(std::move(step), std::move(in), out);
  return out;
}

void Scheduler::emit_into(Step step, std::vector<StorageId> in, StorageId out) {
  if (schedule_.storages[out].bytes == 0) return;
  schedule_.steps.push_back({std::move(step), std::move(in), {out}});
}

StorageId Scheduler::dense(ValueId value) {
  ValueState& state = values_[value];
  if (!state.dense) state.dense = materialise(value);
  settle(*state.dense);
  return *state.dense;
}

StorageId Scheduler::materialise(ValueId value) {
  const Instruction& instruction = at(value);
  const TensorType& result = instruction.type;
  const std::size_t element_bytes = size_of(result.dtype);
  if (values_[value].view && values_[value].view->access == Access::kScalar) {
    const StorageId source = values_[value].view->storage;
    const auto elements = static_cast<std::size_t>(result.elements());
    if (schedule_.storages[source].kind == Storage::kConstant) {
      const std::uint32_t bits = schedule_.constants[schedule_.storages[source].index];
      return emit(make_fill(elements, element_bytes, bits), {}, result);
    }
    settle(source);
    return emit(make_copy({.sizes = {result.elements()},
                           .in_steps = {0},
                           .out_steps = {1},
                           .element_bytes = element_bytes}),
                {source}, result);
  }
  if (instruction.op == Op::kBroadcastInDim) return emit_broadcast(value);
  SEAWAY_CHECK(instruction.op == Op::kTranspose, static_cast<int>(instruction.op));
  const StorageId source = dense(instruction.operands[0]);
  return emit(make_copy(transposition(value)), {source}, result);
}

StorageId Scheduler::emit_broadcast(ValueId value) {
  const Instruction& instruction = at(value);
  const ValueId operand = instruction.operands[0];
  const StorageId source = dense(operand);
  const Shape& from = type(operand).shape;
  const std::vector<std::int64_t> from_steps = dense_steps(from);
  StridedCopy copy{.sizes = instruction.type.shape,
                   .in_steps = std::vector<std::int64_t>(instruction.type.shape.size(), 0),
                   .out_steps = dense_steps(instruction.type.shape),
                   .element_bytes = size_of(instruction.type.dtype)};
  for (std::size_t d = 0; d < from.size(); ++d) {
    if (from[d] != 1) copy.in_steps[static_cast<std::size_t>(instruction.dims[d])] = from_steps[d];
  }
  return emit(make_copy(std::move(copy)), {source}, instruction.type);
}

Schedule make_schedule(const Graph& graph, const AxisSizes& axes, const Collectives& collectives) {
  return Scheduler(graph, axes, collectives).run();
}

}  // namespace seaway::function::cpu
