// Inner loops that the compiler vectorises; compiled once per level of vector instructions.

#pragma once

#include <cstddef>
#include <cstdint>

#include "function/cpu_step.hpp"
#include "function/graph.hpp"

namespace seaway::function::cpu {

/// Inner loops of an elementwise operation.
struct ElementFunctions {
  DenseFunction dense = nullptr;  // Null if there is no such variant.
  StridedFunction strided = nullptr;
};

/// A matrix operand: element (row, column) lies at base + row * row_step + column * column_step.
struct MatrixSteps {
  std::ptrdiff_t row = 0, column = 0;
};

/// The loops of one level. All levels give the same bits.
struct VectorKernels {
  /// `operand` is the type of the last operand. Bit i of `scalars`: operand i is one element.
  ElementFunctions (*elementwise)(Op op, Compare compare, DType operand, DType result,
                                  unsigned scalars);
  /// in [rows, length] -> out [rows], in a fixed blocked order.
  void (*reduce_rows)(Reduce reduce, DType dtype, const void* in, void* out, std::size_t rows,
                      std::size_t length);
  /// in [length, columns] -> out [columns], in order; `row_step` elements from row to row.
  void (*reduce_columns)(Reduce reduce, DType dtype, const void* in, void* out, std::size_t length,
                         std::size_t columns, std::size_t row_step);
  /// out [m, n] = lhs [m, k] * rhs [k, n], summed in order of k. out is dense.
  void (*multiply_matrices)(DType dtype, const void* lhs, MatrixSteps lhs_steps, const void* rhs,
                            MatrixSteps rhs_steps, void* out, std::size_t m, std::size_t n,
                            std::size_t k);
};

/// The best level that this machine has. Thread-safe.
const VectorKernels& vector_kernels();

}  // namespace seaway::function::cpu
