// Vectorised loops of reductions and of small matrix products, and the table of one level.

#include "function/cpu_vector.hpp"
#include "function/cpu_vector_math.hpp"

namespace seaway::function::cpu::SEAWAY_KERNEL_LEVEL {

ElementFunctions elementwise(Op op, Compare compare, DType operand, DType result, unsigned scalars);

namespace {

template <class F, class T>
T neutral() {
  if constexpr (__is_same(F, Add)) return T(0);
  if constexpr (__is_same(T, float)) return -std::numeric_limits<float>::infinity();
  return std::numeric_limits<T>::min();
}

/// Sixteen running values, folded at the end: a fixed order whatever the width of the machine.
template <class F, class T>
void rows(const void* in, void* out, std::size_t row_count, std::size_t length) {
  constexpr std::size_t kLanes = 16;
  const T* x = static_cast<const T*>(in);
  T* r = static_cast<T*>(out);
  for (std::size_t row = 0; row < row_count; ++row, x += length) {
    T total = neutral<F, T>();
    std::size_t i = 0;
    if (length >= 2 * kLanes) {
      T lanes[kLanes];
      for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] = x[lane];
      for (i = kLanes; i + kLanes <= length; i += kLanes) {
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
          lanes[lane] = F::apply(lanes[lane], x[i + lane]);
        }
      }
      for (std::size_t width = kLanes / 2; width > 0; width /= 2) {
        for (std::size_t lane = 0; lane < width; ++lane) {
          lanes[lane] = F::apply(lanes[lane], lanes[lane + width]);
        }
      }
      total = lanes[0];
    } else if (length > 0) {
      total = x[0];
      i = 1;
    }
    for (; i < length; ++i) total = F::apply(total, x[i]);
    r[row] = total;
  }
}

template <class F, class T>
void columns(const void* in, void* out, std::size_t length, std::size_t column_count,
             std::size_t row_step) {
  constexpr std::size_t kTile = 1024;
  for (std::size_t begin = 0; begin < column_count; begin += kTile) {
    const std::size_t width = column_count - begin < kTile ? column_count - begin : kTile;
    const T* __restrict x = static_cast<const T*>(in) + begin;
    T* __restrict r = static_cast<T*>(out) + begin;
    for (std::size_t i = 0; i < width; ++i) r[i] = length > 0 ? x[i] : neutral<F, T>();
    for (std::size_t row = 1; row < length; ++row) {
      x += row_step;
      for (std::size_t i = 0; i < width; ++i) r[i] = F::apply(r[i], x[i]);
    }
  }
}

void reduce_rows(Reduce reduce, DType dtype, const void* in, void* out, std::size_t row_count,
                 std::size_t length) {
  const bool is_sum = reduce == Reduce::kSum;
  if (dtype == DType::kF32) {
    (is_sum ? rows<Add, float> : rows<Maximum, float>)(in, out, row_count, length);
  } else {
    (is_sum ? rows<Add, std::int32_t> : rows<Maximum, std::int32_t>)(in, out, row_count, length);
  }
}

void reduce_columns(Reduce reduce, DType dtype, const void* in, void* out, std::size_t length,
                    std::size_t column_count, std::size_t row_step) {
  const bool is_sum = reduce == Reduce::kSum;
  if (dtype == DType::kF32) {
    (is_sum ? columns<Add, float> : columns<Maximum, float>)(in, out, length, column_count,
                                                             row_step);
  } else {
    (is_sum ? columns<Add, std::int32_t> : columns<Maximum, std::int32_t>)(in, out, length,
                                                                           column_count, row_step);
  }
}

template <class T>
void multiply(const T* lhs, MatrixSteps lhs_steps, const T* rhs, MatrixSteps rhs_steps, T* out,
              std::size_t m, std::size_t n, std::size_t k) {
  for (std::size_t row = 0; row < m; ++row, out += n) {
    const T* x = lhs + static_cast<std::ptrdiff_t>(row) * lhs_steps.row;
    T* __restrict r = out;
    for (std::size_t column = 0; column < n; ++column) r[column] = T(0);
    for (std::size_t i = 0; i < k; ++i) {
      const T factor = x[static_cast<std::ptrdiff_t>(i) * lhs_steps.column];
      const T* __restrict y = rhs + static_cast<std::ptrdiff_t>(i) * rhs_steps.row;
      if (rhs_steps.column == 1) {
        for (std::size_t column = 0; column < n; ++column) {
          r[column] = Add::apply(r[column], Multiply::apply(factor, y[column]));
        }
      } else {
        for (std::size_t column = 0; column < n; ++column) {
          const T other = y[static_cast<std::ptrdiff_t>(column) * rhs_steps.column];
          r[column] = Add::apply(r[column], Multiply::apply(factor, other));
        }
      }
    }
  }
}

void multiply_matrices(DType dtype, const void* lhs, MatrixSteps lhs_steps, const void* rhs,
                       MatrixSteps rhs_steps, void* out, std::size_t m, std::size_t n,
                       std::size_t k) {
  if (dtype == DType::kF32) {
    multiply(static_cast<const float*>(lhs), lhs_steps, static_cast<const float*>(rhs), rhs_steps,
             static_cast<float*>(out), m, n, k);
  } else {
    multiply(static_cast<const std::int32_t*>(lhs), lhs_steps,
             static_cast<const std::int32_t*>(rhs), rhs_steps, static_cast<std::int32_t*>(out), m,
             n, k);
  }
}

}  // namespace

extern const VectorKernels kKernels;
const VectorKernels kKernels{&elementwise, &reduce_rows, &reduce_columns, &multiply_matrices};

}  // namespace seaway::function::cpu::SEAWAY_KERNEL_LEVEL
