// Movements, products and reductions of the reference interpreter: each element by its index.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/check.hpp"
#include "function/interpreter_ops.hpp"

namespace seaway::function {
namespace {

std::size_t at(std::int64_t dim) { return static_cast<std::size_t>(dim); }

/// result[index] = x[source(index)] for every index of the result.
template <class Source>
void move_elements(const Literal& x, Literal& result, const Source& source) {
  const std::size_t size = size_of(x.type().dtype);
  std::byte* out = result.bytes().data();
  for_each_index(result.shape(), [&](const Index& index) {
    std::memcpy(out, x.bytes().data() + position(x.shape(), source(index)) * size, size);
    out += size;
  });
}

void concatenate(const Operands& operands, std::size_t dim, Literal& result) {
  const std::size_t size = size_of(result.type().dtype);
  std::byte* out = result.bytes().data();
  for_each_index(result.shape(), [&](const Index& index) {
    Index source = index;
    std::size_t part = 0;
    while (source[dim] >= operands[part]->shape()[dim]) {
      source[dim] -= operands[part++]->shape()[dim];
    }
    const Literal& x = *operands[part];
    std::memcpy(out, x.bytes().data() + position(x.shape(), source) * size, size);
    out += size;
  });
}

/// The row of a table that element `i` of `indices` means.
std::int64_t row_at(const Literal& indices, std::size_t i, std::int64_t rows) {
  return std::clamp<std::int64_t>(indices.as<std::int32_t>()[i], 0, rows - 1);
}

void gather_rows(const Literal& table, const Literal& indices, Literal& result) {
  const std::size_t rank = indices.shape().size();
  move_elements(table, result, [&](const Index& index) {
    const Index which(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(rank));
    Index source(index.begin() + static_cast<std::ptrdiff_t>(rank), index.end());
    source.insert(source.begin(),
                  row_at(indices, position(indices.shape(), which), table.shape()[0]));
    return source;
  });
}

void scatter_add_rows(const Operands& operands, Literal& result) {
  const Literal& indices = *operands[1];
  const Literal& updates = *operands[2];
  result = *operands[0];
  const auto count = static_cast<std::size_t>(indices.type().elements());
  if (count == 0) return;
  const std::size_t row = static_cast<std::size_t>(updates.type().elements()) / count;
  const auto add_all = [&](auto out, auto added) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t start = at(row_at(indices, i, result.shape()[0])) * row;
      for (std::size_t k = 0; k < row; ++k) {
        out[start + k] = add(out[start + k], added[i * row + k]);
      }
    }
  };
  if (result.type().dtype == DType::kF32) {
    add_all(result.as<float>(), updates.as<float>());
  } else {
    add_all(result.as<std::int32_t>(), updates.as<std::int32_t>());
  }
}

float multiply(float left, float right) { return left * right; }
std::int32_t multiply(std::int32_t left, std::int32_t right) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(left) *
                                   static_cast<std::uint32_t>(right));
}

/// Dimensions that are neither batch nor contracted.
Index free_dims(std::size_t rank, const Index& batch, const Index& contract) {
  Index free;
  for (std::int64_t dim = 0; dim < static_cast<std::int64_t>(rank); ++dim) {
    if (std::find(batch.begin(), batch.end(), dim) == batch.end() &&
        std::find(contract.begin(), contract.end(), dim) == contract.end()) {
      free.push_back(dim);
    }
  }
  return free;
}

template <class T>
void dot_general(const DotDims& dot, const Literal& left, const Literal& right, Literal& result) {
  const Index left_free = free_dims(left.shape().size(), dot.lhs_batch, dot.lhs_contract);
  const Index right_free = free_dims(right.shape().size(), dot.rhs_batch, dot.rhs_contract);
  Shape contracted;
  for (const std::int64_t dim : dot.lhs_contract) contracted.push_back(left.shape()[at(dim)]);
  const auto out = result.as<T>();
  std::size_t element = 0;
  for_each_index(result.shape(), [&](const Index& index) {
    Index left_index(left.shape().size()), right_index(right.shape().size());
    std::size_t next = 0;
    for (std::size_t i = 0; i < dot.lhs_batch.size(); ++i) {
      left_index[at(dot.lhs_batch[i])] = right_index[at(dot.rhs_batch[i])] = index[next++];
    }
    for (const std::int64_t dim : left_free) left_index[at(dim)] = index[next++];
    for (const std::int64_t dim : right_free) right_index[at(dim)] = index[next++];
    T sum = 0;
    for_each_index(contracted, [&](const Index& k) {
      for (std::size_t i = 0; i < k.size(); ++i) {
        left_index[at(dot.lhs_contract[i])] = right_index[at(dot.rhs_contract[i])] = k[i];
      }
      sum = add(sum, multiply(left.as<T>()[position(left.shape(), left_index)],
                              right.as<T>()[position(right.shape(), right_index)]));
    });
    out[element++] = sum;
  });
}

/// The index without the reduced dimensions.
Index kept(const Index& index, const Index& dims) {
  Index result;
  for (std::size_t dim = 0; dim < index.size(); ++dim) {
    if (!std::binary_search(dims.begin(), dims.end(), static_cast<std::int64_t>(dim))) {
      result.push_back(index[dim]);
    }
  }
  return result;
}

template <class T>
void reduce(const Instruction& instruction, const Literal& x, Literal& result) {
  const bool is_sum = instruction.reduce == Reduce::kSum;
  constexpr T kLowest = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                             : std::numeric_limits<T>::min();
  const auto out = result.as<T>();
  std::fill(out.begin(), out.end(), is_sum ? T{0} : kLowest);
  std::size_t element = 0;
  for_each_index(x.shape(), [&](const Index& index) {
    T& sum = out[position(result.shape(), kept(index, instruction.dims))];
    const T next = x.as<T>()[element++];
    sum = is_sum ? add(sum, next) : maximum(sum, next);
  });
}

/// Whether `x` comes before `best` among largest elements: NaN first, and never on a tie.
template <class T>
bool is_larger(T x, T best) {
  const bool x_is_nan = x != x;
  const bool best_is_nan = best != best;
  return x > best || (x_is_nan && !best_is_nan);
}

template <class T>
void argmax(const Instruction& instruction, const Literal& x, Literal& result) {
  const std::size_t dim = at(instruction.dims[0]);
  const auto out = result.as<std::int32_t>();
  std::size_t element = 0;
  for_each_index(result.shape(), [&](const Index& index) {
    Index source = index;
    source.insert(source.begin() + static_cast<std::ptrdiff_t>(dim), 0);
    std::int64_t best = 0;
    T largest = x.as<T>()[position(x.shape(), source)];
    for (std::int64_t i = 1; i < x.shape()[dim]; ++i) {
      source[dim] = i;
      const T candidate = x.as<T>()[position(x.shape(), source)];
      if (!is_larger(candidate, largest)) continue;
      largest = candidate;
      best = i;
    }
    out[element++] = static_cast<std::int32_t>(best);
  });
}

}  // namespace

Literal evaluate_movement(const Instruction& instruction, const Operands& operands) {
  SEAWAY_CHECK(!operands.empty());
  const Literal& x = *operands[0];
  Literal result(instruction.type);
  switch (instruction.op) {
    case Op::kReshape:
      std::copy(x.bytes().begin(), x.bytes().end(), result.bytes().begin());
      break;
    case Op::kBroadcastInDim:
      move_elements(x, result, [&](const Index& index) {
        Index source(x.shape().size());
        for (std::size_t i = 0; i < source.size(); ++i) {
          source[i] = x.shape()[i] == 1 ? 0 : index[at(instruction.dims[i])];
        }
        return source;
      });
      break;
    case Op::kTranspose:
      move_elements(x, result, [&](const Index& index) {
        Index source(index.size());
        for (std::size_t i = 0; i < index.size(); ++i) source[at(instruction.dims[i])] = index[i];
        return source;
      });
      break;
    case Op::kSlice:
      move_elements(x, result, [&](const Index& index) {
        Index source(index.size());
        for (std::size_t i = 0; i < index.size(); ++i) {
          source[i] = instruction.starts[i] + index[i] * instruction.strides[i];
        }
        return source;
      });
      break;
    case Op::kConcatenate:
      concatenate(operands, at(instruction.dims[0]), result);
      break;
    case Op::kGatherRows:
      gather_rows(x, *operands[1], result);
      break;
    default:
      scatter_add_rows(operands, result);
  }
  return result;
}

Literal evaluate_contraction(const Instruction& instruction, const Operands& operands) {
  SEAWAY_CHECK(!operands.empty());
  const Literal& x = *operands[0];
  const bool is_float = x.type().dtype == DType::kF32;
  Literal result(instruction.type);
  if (instruction.op == Op::kDotGeneral) {
    is_float ? dot_general<float>(instruction.dot, x, *operands[1], result)
             : dot_general<std::int32_t>(instruction.dot, x, *operands[1], result);
  } else if (instruction.reduce == Reduce::kArgmax) {
    is_float ? argmax<float>(instruction, x, result) : argmax<std::int32_t>(instruction, x, result);
  } else {
    is_float ? reduce<float>(instruction, x, result) : reduce<std::int32_t>(instruction, x, result);
  }
  return result;
}

}  // namespace seaway::function
