// Steps of the operations that are not elementwise.

#include <algorithm>

#include "base/check.hpp"
#include "function/cpu_scheduler.hpp"

namespace seaway::function::cpu {
namespace {

std::size_t product(const std::vector<std::int64_t>& sizes, std::size_t begin, std::size_t end) {
  std::size_t result = 1;
  for (std::size_t d = begin; d < end; ++d) result *= static_cast<std::size_t>(sizes[d]);
  return result;
}

/// Several dimensions as one: its size and step, if one step describes them.
struct JoinedDims {
  std::size_t size = 1;
  std::ptrdiff_t step = 1;
  bool is_one = true;
};
JoinedDims join(const std::vector<std::int64_t>& dims, const Shape& sizes,
                const std::vector<std::int64_t>& steps) {
  JoinedDims joined;
  bool is_first = true;
  for (std::size_t i = dims.size(); i-- > 0;) {
    const auto d = static_cast<std::size_t>(dims[i]);
    if (sizes[d] == 1) continue;
    const auto size = static_cast<std::ptrdiff_t>(joined.size);
    if (is_first) joined.step = steps[d];
    if (!is_first && steps[d] != joined.step * size) joined.is_one = false;
    is_first = false;
    joined.size *= static_cast<std::size_t>(sizes[d]);
  }
  return joined;
}

std::vector<std::int64_t> dims_without(std::size_t rank, const std::vector<std::int64_t>& a,
                                       const std::vector<std::int64_t>& b) {
  std::vector<std::int64_t> rest;
  for (std::int64_t d = 0; d < static_cast<std::int64_t>(rank); ++d) {
    if (std::find(a.begin(), a.end(), d) == a.end() &&
        std::find(b.begin(), b.end(), d) == b.end()) {
      rest.push_back(d);
    }
  }
  return rest;
}

}  // namespace

void Scheduler::add_slice(ValueId value) {
  const Instruction& instruction = at(value);
  const ValueId operand = instruction.operands[0];
  const StorageId source = dense(operand);
  const std::vector<std::int64_t> steps = dense_steps(type(operand).shape);
  StridedCopy copy{.sizes = instruction.type.shape,
                   .in_steps = steps,
                   .out_steps = dense_steps(instruction.type.shape),
                   .element_bytes = size_of(instruction.type.dtype)};
  for (std::size_t d = 0; d < steps.size(); ++d) {
    copy.in_offset += instruction.starts[d] * steps[d];
    if (!instruction.strides.empty()) copy.in_steps[d] *= instruction.strides[d];
  }
  values_[value].dense = emit(make_copy(std::move(copy)), {source}, instruction.type);
}

void Scheduler::add_concatenate(ValueId value) {
  const Instruction& instruction = at(value);
  const auto dim = static_cast<std::size_t>(instruction.dims[0]);
  const std::vector<std::int64_t> steps = dense_steps(instruction.type.shape);
  const StorageId out = new_storage(instruction.type);
  std::vector<StorageId> sources;
  for (const ValueId operand : instruction.operands) sources.push_back(dense(operand));
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const Shape& shape = type(instruction.operands[i]).shape;
    if (element_count(shape) > 0) {
      emit_into(make_copy({.sizes = shape,
                           .in_steps = dense_steps(shape),
                           .out_steps = steps,
                           .out_offset = offset * steps[dim],
                           .element_bytes = size_of(instruction.type.dtype)}),
                {sources[i]}, out);
    }
    offset += shape[dim];
  }
  values_[value].dense = out;
}

void Scheduler::add_iota(ValueId value) {
  const Instruction& instruction = at(value);
  const Shape& shape = instruction.type.shape;
  const auto dim = static_cast<std::size_t>(instruction.dims[0]);
  values_[value].dense =
      emit(make_iota(instruction.type.dtype, product(shape, 0, dim),
                     static_cast<std::size_t>(shape[dim]), product(shape, dim + 1, shape.size())),
           {}, instruction.type);
}

void Scheduler::add_rows(ValueId value) {
  const Instruction& instruction = at(value);
  const TensorType& table = type(instruction.operands[0]);
  const auto rows = static_cast<std::size_t>(table.shape[0]);
  const std::size_t row_elements = product(table.shape, 1, table.shape.size());
  const auto indices = static_cast<std::size_t>(type(instruction.operands[1]).elements());
  std::vector<StorageId> in;
  for (const ValueId operand : instruction.operands) in.push_back(dense(operand));
  if (instruction.op == Op::kScatterAddRows) {
    values_[value].dense = emit(make_scatter_add_rows(table.dtype, rows, row_elements, indices),
                                std::move(in), instruction.type);
  } else if (rows == 0) {
    // There is no row to clamp to; the rows read as zeros.
    values_[value].dense =
        emit(make_fill(indices * row_elements, size_of(table.dtype), 0), {}, instruction.type);
  } else {
    values_[value].dense =
        emit(make_gather_rows(rows, row_elements * size_of(table.dtype), indices), std::move(in),
             instruction.type);
  }
}

StridedCopy Scheduler::transposition(ValueId value) const {
  const Instruction& instruction = at(value);
  const std::vector<std::int64_t> steps = dense_steps(type(instruction.operands[0]).shape);
  StridedCopy copy{.sizes = instruction.type.shape,
                   .in_steps = {},
                   .out_steps = dense_steps(instruction.type.shape),
                   .element_bytes = size_of(instruction.type.dtype)};
  for (const std::int64_t dim : instruction.dims) {
    copy.in_steps.push_back(steps[static_cast<std::size_t>(dim)]);
  }
  return copy;
}

/// `value` as a batch of matrices with the given groups of dimensions. A transposition that is not
/// laid out is read through; what no steps describe is copied into that order.
Scheduler::MatrixOperand Scheduler::matrix_operand(ValueId value,
                                                   const std::vector<std::int64_t>& batch,
                                                   const std::vector<std::int64_t>& first,
                                                   const std::vector<std::int64_t>& second) {
  const bool is_transposed = at(value).op == Op::kTranspose && !values_[value].dense;
  const Shape& shape = type(value).shape;
  const StorageId storage = dense(is_transposed ? at(value).operands[0] : value);
  std::vector<std::int64_t> steps =
      is_transposed ? transposition(value).in_steps : dense_steps(shape);
  const JoinedDims b = join(batch, shape, steps);
  const JoinedDims r = join(first, shape, steps);
  const JoinedDims c = join(second, shape, steps);
  const bool has_unit_step = r.step == 1 || c.step == 1;
  if (b.is_one && r.is_one && c.is_one && has_unit_step) {
    return {storage, b.size, r.size, c.size, {r.step, c.step}, b.step};
  }
  StridedCopy copy{.element_bytes = size_of(type(value).dtype)};
  for (const auto* dims : {&batch, &first, &second}) {
    for (const std::int64_t d : *dims) {
      copy.sizes.push_back(shape[static_cast<std::size_t>(d)]);
      copy.in_steps.push_back(steps[static_cast<std::size_t>(d)]);
    }
  }
  copy.out_steps = dense_steps(copy.sizes);
  const StorageId copied = emit(make_copy(std::move(copy)), {storage}, type(value));
  const auto width = static_cast<std::ptrdiff_t>(c.size);
  return {copied, b.size, r.size, c.size, {width, 1}, width * static_cast<std::ptrdiff_t>(r.size)};
}

void Scheduler::add_dot(ValueId value) {
  const Instruction& instruction = at(value);
  const DotDims& dot = instruction.dot;
  const ValueId left = instruction.operands[0], right = instruction.operands[1];
  const auto left_free = dims_without(type(left).shape.size(), dot.lhs_batch, dot.lhs_contract);
  const auto right_free = dims_without(type(right).shape.size(), dot.rhs_batch, dot.rhs_contract);
  const MatrixOperand lhs = matrix_operand(left, dot.lhs_batch, left_free, dot.lhs_contract);
  const MatrixOperand rhs = matrix_operand(right, dot.rhs_batch, dot.rhs_contract, right_free);
  const MatrixProduct product{.dtype = instruction.type.dtype,
                              .batch = lhs.batch,
                              .m = lhs.first,
                              .n = rhs.second,
                              .k = lhs.second,
                              .lhs = lhs.steps,
                              .rhs = rhs.steps,
                              .lhs_batch = lhs.batch_step,
                              .rhs_batch = rhs.batch_step};
  values_[value].dense = emit(make_dot(product), {lhs.storage, rhs.storage}, instruction.type);
}

CollectiveGroups Scheduler::groups_of(const std::string& axis) const {
  CollectiveGroups groups;
  bool is_behind = false;
  for (const auto& [name, size] : axes_) {
    const auto count = static_cast<std::size_t>(size);
    if (name == axis) {
      groups.size = count;
      is_behind = true;
    } else {
      groups.groups *= count;
      if (is_behind) groups.inner *= count;
    }
  }
  return groups;
}

void Scheduler::add_collective(ValueId value) {
  const Instruction& instruction = at(value);
  const CollectiveGroups groups = groups_of(instruction.axis);
  ValueState& state = values_[value];
  if (instruction.op == Op::kAxisIndex) {
    state.dense = groups.size == 1 ? constant(0, DType::kI32)
                                   : emit(make_axis_index(groups), {}, instruction.type);
    return;
  }
  const ValueId operand = instruction.operands[0];
  if (groups.size == 1) {
    // Alone on the axis: the value itself, or zeros where nothing is sent.
    if (instruction.op == Op::kPermute && instruction.pairs.empty()) {
      state.view = View{constant(0, type(value).dtype), Access::kScalar, 1};
    } else {
      state.dense = dense(operand);
    }
    return;
  }
  const StorageId in = dense(operand);
  state.dense = emit(make_collective(instruction, type(operand), groups, collectives_), {in},
                     instruction.type);
}

}  // namespace seaway::function::cpu
