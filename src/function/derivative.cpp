// The derivative of a scalar, in reverse mode, recorded as further operations of the same function.
//
// With collectives the function that is differentiated is the sum of the loss over all shards, so
// each collective is transposed as a linear map over the whole gang (tensor.hpp, `gradients`).

#include <algorithm>
#include <numeric>
#include <optional>

#include "function/capture.hpp"
#include "seaway/tensor.hpp"

namespace seaway {
namespace {

using function::GraphBuilder;
using function::Instruction;
using function::Op;
using function::Reduce;
using function::ValueId;
using Dims = std::vector<std::int64_t>;

bool holds(const Dims& dims, std::int64_t dim) {
  return std::find(dims.begin(), dims.end(), dim) != dims.end();
}

/// The dimensions below `rank` that none of the two lists name.
Dims others(int rank, const Dims& first, const Dims& second = {}) {
  Dims free;
  for (std::int64_t dim = 0; dim < rank; ++dim) {
    if (!holds(first, dim) && !holds(second, dim)) free.push_back(dim);
  }
  return free;
}

Dims counting(std::int64_t first, std::size_t count) {
  Dims dims(count);
  std::iota(dims.begin(), dims.end(), first);
  return dims;
}

Tensor zero_like(const Tensor& x) { return zeros(x.type()); }

/// Sums away the dimensions that the broadcast made or stretched, and undoes its order.
Tensor transpose_broadcast(const Tensor& g, const Tensor& x, const Dims& dims) {
  Dims sorted = dims;
  std::sort(sorted.begin(), sorted.end());
  Dims summed = others(g.rank(), dims);
  Shape shape_sorted;
  for (const std::int64_t dim : sorted) {
    const auto i = std::find(dims.begin(), dims.end(), dim) - dims.begin();
    const std::int64_t size = x.shape()[static_cast<std::size_t>(i)];
    if (size != g.shape()[static_cast<std::size_t>(dim)]) summed.push_back(dim);
    shape_sorted.push_back(size);
  }
  const Tensor sum = summed.empty() ? g : reduce_sum(g, summed);
  Dims order;
  for (const std::int64_t dim : dims) {
    order.push_back(std::find(sorted.begin(), sorted.end(), dim) - sorted.begin());
  }
  return transpose(reshape(sum, shape_sorted), order);
}

/// A slice of `x` of `size` elements along `dim`, from `start` on.
Tensor piece(const Tensor& x, std::int64_t dim, std::int64_t start, std::int64_t size) {
  Dims starts(x.shape().size(), 0);
  Dims limits = x.shape();
  starts[static_cast<std::size_t>(dim)] = start;
  limits[static_cast<std::size_t>(dim)] = start + size;
  return slice(x, starts, limits);
}

Tensor zeros_with(const Tensor& x, std::int64_t dim, std::int64_t size) {
  TensorType type = x.type();
  type.shape[static_cast<std::size_t>(dim)] = size;
  return zeros(type);
}

/// Puts `stride - 1` zeros after each element along `dim`.
Tensor spread(const Tensor& x, std::int64_t dim, std::int64_t stride) {
  Shape apart = x.shape();
  apart.insert(apart.begin() + dim + 1, 1);
  Shape joined = x.shape();
  joined[static_cast<std::size_t>(dim)] *= stride;
  const Tensor column = reshape(x, apart);
  const Tensor gaps = zeros_with(column, dim + 1, stride - 1);
  return reshape(concatenate({column, gaps}, static_cast<int>(dim + 1)), joined);
}

/// Puts `g` back to where the slice took it from, among zeros.
Tensor transpose_slice(Tensor g, const Tensor& x, const Instruction& y) {
  for (int dim = 0; dim < x.rank(); ++dim) {
    const auto i = static_cast<std::size_t>(dim);
    const std::int64_t size = x.shape()[i];
    if (g.shape()[i] == size) continue;
    if (y.strides[i] > 1 && g.shape()[i] > 0) g = spread(g, dim, y.strides[i]);
    const std::int64_t room = size - y.starts[i];
    if (g.shape()[i] > room) g = piece(g, dim, 0, room);
    const Tensor before = zeros_with(g, dim, y.starts[i]);
    const Tensor after = zeros_with(g, dim, room - g.shape()[i]);
    g = concatenate({before, g, after}, dim);
  }
  return g;
}

/// The derivative of dot_general by its left operand; for the right one, swap the two and say in
/// `is_left` that g's dimensions come in the other order.
Tensor transpose_dot(const Tensor& g, const Tensor& x, const Tensor& other, const Dims& x_batch,
                     const Dims& other_batch, const Dims& x_contract, const Dims& other_contract,
                     bool is_left) {
  const Dims x_free = others(x.rank(), x_batch, x_contract);
  const Dims other_free = others(other.rank(), other_batch, other_contract);
  const auto batches = static_cast<std::int64_t>(x_batch.size());
  const std::int64_t first_other =
      batches + (is_left ? static_cast<std::int64_t>(x_free.size()) : 0);
  const Tensor product = dot_general(g, other,
                                     {.left_batch = counting(0, x_batch.size()),
                                      .right_batch = other_batch,
                                      .left_contract = counting(first_other, other_free.size()),
                                      .right_contract = other_free});
  // The product has batch, then x's free, then the contracted dimensions in `other`'s order.
  Dims other_sorted = other_contract;
  std::sort(other_sorted.begin(), other_sorted.end());
  const auto position = [](const Dims& dims, std::int64_t dim) {
    return static_cast<std::int64_t>(std::find(dims.begin(), dims.end(), dim) - dims.begin());
  };
  Dims order;
  for (std::int64_t dim = 0; dim < x.rank(); ++dim) {
    if (holds(x_batch, dim)) {
      order.push_back(position(x_batch, dim));
    } else if (holds(x_free, dim)) {
      order.push_back(batches + position(x_free, dim));
    } else {
      const std::int64_t paired =
          other_contract[static_cast<std::size_t>(position(x_contract, dim))];
      order.push_back(batches + static_cast<std::int64_t>(x_free.size()) +
                      position(other_sorted, paired));
    }
  }
  return transpose(product, order);
}

/// Walks the graph once from the loss back to its beginning.
class ReverseMode {
 public:
  ReverseMode(GraphBuilder& builder, ValueId loss)
      : builder_(builder), adjoints_(loss + 1), depends_(loss + 1, false) {}

  std::vector<Tensor> run(const std::vector<ValueId>& wrt) {
    const auto loss = static_cast<ValueId>(adjoints_.size() - 1);
    mark_dependents(wrt);
    adjoints_[loss] = ones(builder_.instruction(loss).type);
    for (ValueId id = loss + 1; id-- > 0;) {
      if (depends_[id] && adjoints_[id]) pass_on(id, *adjoints_[id]);
    }
    std::vector<Tensor> results;
    for (const ValueId id : wrt) {
      const bool is_reached = id <= loss && adjoints_[id];
      results.push_back(is_reached ? *adjoints_[id] : zeros(builder_.instruction(id).type));
    }
    return results;
  }

 private:
  /// Whether a derivative flows from `id` to one of `wrt`.
  void mark_dependents(const std::vector<ValueId>& wrt) {
    for (const ValueId id : wrt) {
      if (id < depends_.size()) depends_[id] = true;
    }
    for (ValueId id = 0; id < depends_.size(); ++id) {
      const Instruction& y = builder_.instruction(id);
      if (y.type.dtype != DType::kF32 || builder_.stops_gradient(id)) continue;
      for (const ValueId operand : y.operands) {
        if (depends_[operand]) depends_[id] = true;
      }
    }
  }

  Tensor operand(const Instruction& y, std::size_t i) { return builder_.tensor(y.operands[i]); }
  bool wants(const Instruction& y, std::size_t i) const {
    return depends_[y.operands[i]] && builder_.instruction(y.operands[i]).type.dtype == DType::kF32;
  }
  void give(const Instruction& y, std::size_t i, const Tensor& contribution) {
    std::optional<Tensor>& adjoint = adjoints_[y.operands[i]];
    adjoint = adjoint ? *adjoint + contribution : contribution;
  }

  /// Gives each operand of `id` its share of g, the derivative of the loss by `id`.
  void pass_on(ValueId id, const Tensor& g) {
    if (builder_.stops_gradient(id)) return;
    const Instruction& y = builder_.instruction(id);
    if (y.op == Op::kConcatenate) return pass_on_concatenate(y, g);
    for (std::size_t i = 0; i < y.operands.size(); ++i) {
      if (!wants(y, i)) continue;
      if (y.operands.size() == 1) {
        give(y, i, y.axis.empty() ? unary(id, y, g) : collective(id, y, g));
      } else {
        give(y, i, y.op == Op::kDotGeneral ? dot(y, i, g) : binary(id, y, i, g));
      }
    }
  }

  void pass_on_concatenate(const Instruction& y, const Tensor& g) {
    std::int64_t start = 0;
    for (std::size_t i = 0; i < y.operands.size(); ++i) {
      const std::int64_t size = operand(y, i).shape()[static_cast<std::size_t>(y.dims[0])];
      if (wants(y, i)) give(y, i, piece(g, y.dims[0], start, size));
      start += size;
    }
  }

  Tensor unary(ValueId id, const Instruction& y, const Tensor& g) {
    const Tensor x = operand(y, 0);
    const Tensor result = builder_.tensor(id);
    switch (y.op) {
      case Op::kNegate:
        return -g;
      case Op::kExponential:
        return g * result;
      case Op::kLog:
        return g / x;
      case Op::kSqrt:
        return g * 0.5 / result;
      case Op::kRsqrt:
        return g * -0.5 * result / x;
      case Op::kTanh:
        return g * (1 - result * result);
      case Op::kAbs:
        return select(greater(x, 0), g, select(less(x, 0), -g, zero_like(g)));
      case Op::kReshape:
        return reshape(g, x.shape());
      case Op::kBroadcastInDim:
        return transpose_broadcast(g, x, y.dims);
      case Op::kTranspose: {
        Dims inverse(y.dims.size());
        for (std::size_t i = 0; i < y.dims.size(); ++i) {
          inverse[static_cast<std::size_t>(y.dims[i])] = static_cast<std::int64_t>(i);
        }
        return transpose(g, inverse);
      }
      case Op::kSlice:
        return transpose_slice(g, x, y);
      case Op::kReduce:
        return reduction(y, x, result, g);
      default:
        return zero_like(x);
    }
  }

  static Tensor reduction(const Instruction& y, const Tensor& x, const Tensor& result,
                          const Tensor& g) {
    const Dims kept = others(x.rank(), y.dims);
    if (y.reduce == Reduce::kSum) return broadcast_in_dim(g, x.shape(), kept);
    const Tensor is_largest =
        convert(equal(x, broadcast_in_dim(result, x.shape(), kept)), DType::kF32);
    const Tensor count = y.dims.empty() ? is_largest : reduce_sum(is_largest, y.dims);
    return broadcast_in_dim(g / count, x.shape(), kept) * is_largest;
  }

  Tensor collective(ValueId id, const Instruction& y, const Tensor& g) {
    const Tensor x = operand(y, 0);
    switch (y.op) {
      case Op::kAllReduce: {
        if (y.reduce == Reduce::kSum) return all_reduce(g, y.axis);
        const Tensor is_largest = convert(equal(x, builder_.tensor(id)), DType::kF32);
        return all_reduce(g, y.axis) / all_reduce(is_largest, y.axis) * is_largest;
      }
      case Op::kAllGather:
        return reduce_scatter(g, y.axis, static_cast<int>(y.dims[0]));
      case Op::kReduceScatter:
        return all_gather(g, y.axis, static_cast<int>(y.dims[0]));
      default: {
        std::vector<std::pair<std::int64_t, std::int64_t>> back;
        for (const auto& [source, target] : y.pairs) back.emplace_back(target, source);
        return permute(g, y.axis, back);
      }
    }
  }

  /// Operations of two or three operands, by operand i.
  Tensor binary(ValueId id, const Instruction& y, std::size_t i, const Tensor& g) {
    const Tensor left = operand(y, 0);
    const Tensor right = operand(y, 1);
    const Tensor zero = zero_like(g);
    switch (y.op) {
      case Op::kAdd:
        return g;
      case Op::kSubtract:
        return i == 0 ? g : -g;
      case Op::kMultiply:
        return g * (i == 0 ? right : left);
      case Op::kDivide:
        return i == 0 ? g / right : -(g * builder_.tensor(id) / right);
      case Op::kMaximum:
        return i == 0 ? select(greater(left, right), g, zero)
                      : select(greater(left, right), zero, g);
      case Op::kMinimum:
        return i == 0 ? select(less(left, right), g, zero) : select(less(left, right), zero, g);
      case Op::kPower:
        // x^0 is flat also at 0, and 0^x is flat for x > 0; the plain rules would say NaN there.
        if (i == 0) return g * select(equal(right, 0), zero, right * pow(left, right - 1));
        return g * select(equal(left, 0), zero, builder_.tensor(id) * log(left));
      case Op::kSelect:
        return i == 1 ? select(left, g, zero) : select(left, zero, g);
      case Op::kGatherRows:
        return scatter_add_rows(zero_like(left), right, g);
      case Op::kScatterAddRows:
        return i == 0 ? g : gather_rows(g, right);
      default:
        return zero_like(operand(y, i));
    }
  }

  Tensor dot(const Instruction& y, std::size_t i, const Tensor& g) {
    const Tensor left = operand(y, 0);
    const Tensor right = operand(y, 1);
    const function::DotDims& dot = y.dot;
    if (i == 0) {
      return transpose_dot(g, left, right, dot.lhs_batch, dot.rhs_batch, dot.lhs_contract,
                           dot.rhs_contract, true);
    }
    return transpose_dot(g, right, left, dot.rhs_batch, dot.lhs_batch, dot.rhs_contract,
                         dot.lhs_contract, false);
  }

  GraphBuilder& builder_;
  std::vector<std::optional<Tensor>> adjoints_;
  std::vector<bool> depends_;
};

}  // namespace

std::vector<Tensor> gradients(const Tensor& loss, const std::vector<Tensor>& wrt, Site site) {
  GraphBuilder* builder = GraphBuilder::current();
  if (!builder) return std::vector<Tensor>(wrt.size());
  const GraphBuilder::PinnedSite pinned(*builder, site);
  const std::optional<ValueId> loss_id = builder->id_of(loss);
  if (!loss_id || loss.type() != f32({})) {
    GraphBuilder::fail("gradients: the loss needs to be an f32 scalar of this function, it is " +
                           (loss.empty() ? "empty" : to_string(loss.type())),
                       site);
    return wrt;
  }
  std::vector<ValueId> ids;
  for (std::size_t i = 0; i < wrt.size(); ++i) {
    const std::optional<ValueId> id = builder->id_of(wrt[i]);
    if (!id || wrt[i].dtype() != DType::kF32) {
      GraphBuilder::fail("gradients: value " + std::to_string(i) +
                             " needs to be an f32 tensor of this function, it is " +
                             (wrt[i].empty() ? "empty" : to_string(wrt[i].type())),
                         site);
      return wrt;
    }
    ids.push_back(*id);
  }
  return ReverseMode(*builder, *loss_id).run(ids);
}

}  // namespace seaway
