// Kernels: makes the steps of a compiled CPU function, all but where their values lie.
//
// Each function chooses kernel, pieces and cost from types and sizes. Preconditions are those of
// validate(); Step::in and Step::out are filled in by the layout.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "function/cpu_step.hpp"
#include "function/cpu_vector.hpp"
#include "function/graph.hpp"

namespace seaway::function::cpu {

// -- Elementwise ---

/// How an elementwise operation sees an operand of its step.
enum class Access : std::uint8_t {
  kDense,     // Element i.
  kScalar,    // The one element.
  kPeriodic,  // Element i % length.
  kRepeated,  // Element i / length.
};
struct ProgramInput {
  std::size_t element_bytes = 4;
  Access access = Access::kDense;
  std::size_t length = 1;
};
/// One operation of a program. A source is an input (index) or an earlier operation (inputs.size()
/// plus index).
struct ProgramOperation {
  Op op = Op::kAdd;
  Compare compare = Compare::kEq;
  DType operand = DType::kF32;  // Of the last source.
  DType result = DType::kF32;
  std::vector<std::size_t> sources;
  int output = -1;  // Which output of the step the result is written to, or -1.
};
/// Elementwise operations over `elements` elements each, run tile by tile so that what flows
/// between them stays in the first-level cache.
struct ElementProgram {
  std::size_t elements = 0;
  std::vector<ProgramInput> inputs;
  std::vector<ProgramOperation> operations;
};
/// How many operations one program may have.
constexpr std::size_t kProgramOperationsMax = 16;
constexpr std::size_t kProgramInputsMax = 16;
/// At most this many elements run shard by shard in the inner loop.
constexpr std::size_t kTinyElementsMax = 8;
/// Requires the limits above, and one operation if elements <= kTinyElementsMax.
Step make_elementwise(const ElementProgram& program);

// -- Shape ---

/// Copies element (i...) from in_offset + i * in_steps to out_offset + i * out_steps, in elements.
struct StridedCopy {
  std::vector<std::int64_t> sizes{}, in_steps{}, out_steps{};
  std::int64_t in_offset = 0, out_offset = 0;
  std::size_t element_bytes = 4;
};
Step make_copy(StridedCopy copy);
/// Fills with one value, given by its bits (the low byte for one-byte elements).
Step make_fill(std::size_t elements, std::size_t element_bytes, std::uint32_t bits);
/// Counts along the middle one of [outer, count, inner].
Step make_iota(DType dtype, std::size_t outer, std::size_t count, std::size_t inner);
/// in: table [rows, row], indices; out: [indices, row].
Step make_gather_rows(std::size_t rows, std::size_t row_bytes, std::size_t indices);
/// in: base [rows, row], indices, updates [indices, row]; out: [rows, row].
Step make_scatter_add_rows(DType dtype, std::size_t rows, std::size_t row_elements,
                           std::size_t indices);
/// The steps of a dense row-major array.
std::vector<std::int64_t> dense_steps(const std::vector<std::int64_t>& sizes);

// -- Dot and reduce ---

/// out [batch, m, n] = lhs [batch, m, k] * rhs [batch, k, n].
struct MatrixProduct {
  DType dtype = DType::kF32;
  std::size_t batch = 1, m = 1, n = 1, k = 1;
  MatrixSteps lhs, rhs;  // rhs: row is k, column is n.
  std::ptrdiff_t lhs_batch = 0, rhs_batch = 0;
};
Step make_dot(const MatrixProduct& product);

Step make_reduce(const TensorType& operand, const std::vector<std::int64_t>& dims, Reduce reduce);

// -- Collectives ---

/// `instruction` is a collective whose operand has type `operand`. `collectives` outlives the step.
Step make_collective(const Instruction& instruction, const TensorType& operand,
                     const CollectiveGroups& groups, const Collectives& collectives);
/// The coordinate of each shard along an axis.
Step make_axis_index(const CollectiveGroups& groups);

}  // namespace seaway::function::cpu
