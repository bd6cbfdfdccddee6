// The expressions of seaway/tensor.hpp: each records one or a few operations.

#include "seaway/tensor.hpp"

#include <algorithm>
#include <numeric>

#include "function/capture.hpp"

namespace seaway {

using function::Compare;
using function::GraphBuilder;
using function::Instruction;
using function::Op;
using function::Reduce;

namespace {

using Dims = std::vector<std::int64_t>;

Tensor record(Instruction instruction, const std::vector<Tensor>& operands, const Site& site) {
  return GraphBuilder::record(std::move(instruction), operands, site);
}

Tensor unary(Op op, const Tensor& x, const Site& site) { return record({.op = op}, {x}, site); }

/// Both as tensors: a number becomes a splat of the other's type.
std::vector<Tensor> as_tensors(const Operand& left, const Operand& right) {
  if (left.is_number() && right.is_number()) {
    GraphBuilder::fail("one of two operands needs to be a Tensor, both are numbers", left.site());
  }
  const auto as_tensor = [](const Operand& operand, const Operand& other) {
    return operand.is_number() ? splat(other.tensor().type(), operand.number(), operand.site())
                               : operand.tensor();
  };
  return {as_tensor(left, right), as_tensor(right, left)};
}

Tensor binary(Op op, const Operand& left, const Operand& right) {
  return record({.op = op}, as_tensors(left, right), left.site());
}

Tensor compare(Compare compare, const Operand& left, const Operand& right) {
  return record({.op = Op::kCompare, .compare = compare}, as_tensors(left, right), left.site());
}

/// Negative dimensions count from the end. What is out of range stays so: the shape rule says it.
std::int64_t from_end(std::int64_t dim, int rank) { return dim < 0 ? dim + rank : dim; }

Dims from_end(Dims dims, int rank) {
  for (std::int64_t& dim : dims) dim = from_end(dim, rank);
  return dims;
}

Dims range(std::int64_t count) {
  Dims dims(static_cast<std::size_t>(std::max<std::int64_t>(count, 0)));
  std::iota(dims.begin(), dims.end(), 0);
  return dims;
}

Tensor reduce(Reduce kind, const Tensor& x, Dims dims, KeepDims keep, const Site& site) {
  dims = dims.empty() ? range(x.rank()) : from_end(std::move(dims), x.rank());
  std::sort(dims.begin(), dims.end());
  const Tensor reduced = record({.op = Op::kReduce, .dims = dims, .reduce = kind}, {x}, site);
  if (keep == KeepDims::kNo) return reduced;
  Shape shape = x.shape();
  for (const std::int64_t dim : dims) {
    if (dim >= 0 && dim < x.rank()) shape[static_cast<std::size_t>(dim)] = 1;
  }
  return reshape(reduced, shape, site);
}

/// Takes the site of the user's call for everything that a composed expression records.
class Composed {
 public:
  explicit Composed(const Site& site) {
    if (GraphBuilder* builder = GraphBuilder::current()) pinned_.emplace(*builder, site);
  }

 private:
  std::optional<GraphBuilder::PinnedSite> pinned_;
};

}  // namespace

const TensorType& Tensor::type() const {
  static const TensorType kNothing;
  return builder_ ? builder_->instruction(id_).type : kNothing;
}

std::int64_t Tensor::dim(int i, Site site) const {
  const std::int64_t index = from_end(i, rank());
  if (index >= 0 && index < rank()) return shape()[static_cast<std::size_t>(index)];
  GraphBuilder::fail(
      "there is no dimension " + std::to_string(i) + " in " + seaway::to_string(type()), site);
  return 1;
}

Tensor operator+(const Operand& left, const Operand& right) {
  return binary(Op::kAdd, left, right);
}
Tensor operator-(const Operand& left, const Operand& right) {
  return binary(Op::kSubtract, left, right);
}
Tensor operator*(const Operand& left, const Operand& right) {
  return binary(Op::kMultiply, left, right);
}
Tensor operator/(const Operand& left, const Operand& right) {
  return binary(Op::kDivide, left, right);
}
Tensor operator-(const Operand& x) { return unary(Op::kNegate, x.tensor(), x.site()); }
Tensor maximum(const Operand& left, const Operand& right) {
  return binary(Op::kMaximum, left, right);
}
Tensor minimum(const Operand& left, const Operand& right) {
  return binary(Op::kMinimum, left, right);
}
Tensor pow(const Operand& base, const Operand& exponent) {
  return binary(Op::kPower, base, exponent);
}

Tensor equal(const Operand& left, const Operand& right) {
  return compare(Compare::kEq, left, right);
}
Tensor not_equal(const Operand& left, const Operand& right) {
  return compare(Compare::kNe, left, right);
}
Tensor less(const Operand& left, const Operand& right) {
  return compare(Compare::kLt, left, right);
}
Tensor less_equal(const Operand& left, const Operand& right) {
  return compare(Compare::kLe, left, right);
}
Tensor greater(const Operand& left, const Operand& right) {
  return compare(Compare::kGt, left, right);
}
Tensor greater_equal(const Operand& left, const Operand& right) {
  return compare(Compare::kGe, left, right);
}

Tensor logical_and(const Operand& left, const Operand& right) {
  return binary(Op::kAnd, left, right);
}
Tensor logical_or(const Operand& left, const Operand& right) {
  return binary(Op::kOr, left, right);
}
Tensor logical_not(const Tensor& x, Site site) { return unary(Op::kNot, x, site); }

Tensor select(const Tensor& predicate, const Operand& on_true, const Operand& on_false) {
  const std::vector<Tensor> branches = as_tensors(on_true, on_false);
  return record({.op = Op::kSelect}, {predicate, branches[0], branches[1]}, on_true.site());
}

Tensor negate(const Tensor& x, Site site) { return unary(Op::kNegate, x, site); }
Tensor abs(const Tensor& x, Site site) { return unary(Op::kAbs, x, site); }
Tensor exp(const Tensor& x, Site site) { return unary(Op::kExponential, x, site); }
Tensor log(const Tensor& x, Site site) { return unary(Op::kLog, x, site); }
Tensor sqrt(const Tensor& x, Site site) { return unary(Op::kSqrt, x, site); }
Tensor rsqrt(const Tensor& x, Site site) { return unary(Op::kRsqrt, x, site); }
Tensor tanh(const Tensor& x, Site site) { return unary(Op::kTanh, x, site); }
Tensor relu(const Tensor& x, Site site) { return maximum(Operand(x, site), Operand(0.0, site)); }

Tensor convert(const Tensor& x, DType dtype, Site site) {
  return record({.op = Op::kConvert, .type = {dtype, x.shape()}}, {x}, site);
}

Tensor splat(const TensorType& type, double number, Site site) {
  const bool is_float = type.dtype == DType::kF32;
  // What f32 cannot hold is rounded here, so that the graph says what is computed.
  const double held = is_float ? static_cast<double>(static_cast<float>(number)) : number;
  return record({.op = Op::kConstant, .type = type, .number = held}, {}, site);
}
Tensor zeros(const TensorType& type, Site site) { return splat(type, 0, site); }
Tensor ones(const TensorType& type, Site site) { return splat(type, 1, site); }
Tensor constant(float number, Site site) {
  return splat(f32({}), static_cast<double>(number), site);
}
Tensor constant(std::int32_t number, Site site) { return splat(i32({}), number, site); }
Tensor constant(bool value, Site site) { return splat(boolean({}), value ? 1 : 0, site); }

Tensor iota(const TensorType& type, int dim, Site site) {
  const auto rank = static_cast<int>(type.shape.size());
  return record({.op = Op::kIota, .type = type, .dims = {from_end(dim, rank)}}, {}, site);
}

Tensor reshape(const Tensor& x, const Shape& shape, Site site) {
  if (!x.empty() && x.shape() == shape) return x;
  return record({.op = Op::kReshape, .type = {x.dtype(), shape}}, {x}, site);
}

Tensor transpose(const Tensor& x, const std::vector<std::int64_t>& dims, Site site) {
  return record({.op = Op::kTranspose, .dims = from_end(dims, x.rank())}, {x}, site);
}

Tensor transpose(const Tensor& x, Site site) {
  Dims dims = range(x.rank());
  if (dims.size() < 2) {
    GraphBuilder::fail("transpose(" + to_string(x.type()) + "): needs two dimensions to swap",
                       site);
    return x;
  }
  std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
  return record({.op = Op::kTranspose, .dims = dims}, {x}, site);
}

Tensor broadcast_in_dim(const Tensor& x, const Shape& shape, const std::vector<std::int64_t>& dims,
                        Site site) {
  const Dims normal = from_end(dims, static_cast<int>(shape.size()));
  return record({.op = Op::kBroadcastInDim, .type = {x.dtype(), shape}, .dims = normal}, {x}, site);
}

Tensor broadcast_to(const Tensor& x, const Shape& shape, Site site) {
  Dims dims = range(x.rank());
  for (std::int64_t& dim : dims) dim += static_cast<std::int64_t>(shape.size()) - x.rank();
  return record({.op = Op::kBroadcastInDim, .type = {x.dtype(), shape}, .dims = dims}, {x}, site);
}

Tensor slice(const Tensor& x, const std::vector<std::int64_t>& starts,
             const std::vector<std::int64_t>& limits, const std::vector<std::int64_t>& strides,
             Site site) {
  const Dims steps = strides.empty() ? Dims(x.shape().size(), 1) : strides;
  return record({.op = Op::kSlice, .starts = starts, .limits = limits, .strides = steps}, {x},
                site);
}

Tensor concatenate(const std::vector<Tensor>& parts, int dim, Site site) {
  const int rank = parts.empty() ? 0 : parts[0].rank();
  return record({.op = Op::kConcatenate, .dims = {from_end(dim, rank)}}, parts, site);
}

Tensor dot_general(const Tensor& left, const Tensor& right, const DotDimensions& dims, Site site) {
  return record({.op = Op::kDotGeneral,
                 .dot = {.lhs_batch = from_end(dims.left_batch, left.rank()),
                         .rhs_batch = from_end(dims.right_batch, right.rank()),
                         .lhs_contract = from_end(dims.left_contract, left.rank()),
                         .rhs_contract = from_end(dims.right_contract, right.rank())}},
                {left, right}, site);
}

Tensor matmul(const Tensor& left, const Tensor& right, Site site) {
  const int rank = left.rank();
  if (rank < 1 || right.rank() < 2 || (right.rank() != 2 && right.rank() != rank)) {
    GraphBuilder::fail("matmul(" + to_string(left.type()) + ", " + to_string(right.type()) +
                           "): needs [..., m, k] x [..., k, n] or [..., k] x [k, n]",
                       site);
    return left;
  }
  const Dims batch = right.rank() == 2 ? Dims{} : range(rank - 2);
  return dot_general(
      left, right,
      {.left_batch = batch, .right_batch = batch, .left_contract = {-1}, .right_contract = {-2}},
      site);
}

Tensor reduce_sum(const Tensor& x, std::vector<std::int64_t> dims, KeepDims keep, Site site) {
  return reduce(Reduce::kSum, x, std::move(dims), keep, site);
}
Tensor reduce_max(const Tensor& x, std::vector<std::int64_t> dims, KeepDims keep, Site site) {
  return reduce(Reduce::kMax, x, std::move(dims), keep, site);
}
Tensor mean(const Tensor& x, std::vector<std::int64_t> dims, KeepDims keep, Site site) {
  if (x.dtype() != DType::kF32) {
    GraphBuilder::fail("mean(" + to_string(x.type()) + "): needs f32; convert it first", site);
  }
  const Composed composed(site);
  const Tensor sum = reduce_sum(x, std::move(dims), keep);
  const std::int64_t outputs = sum.type().elements();
  const double count =
      outputs == 0 ? 1.0 : static_cast<double>(x.type().elements()) / static_cast<double>(outputs);
  return sum / count;
}
Tensor argmax(const Tensor& x, int dim, Site site) {
  return record({.op = Op::kReduce, .dims = {from_end(dim, x.rank())}, .reduce = Reduce::kArgmax},
                {x}, site);
}

Tensor gather_rows(const Tensor& table, const Tensor& indices, Site site) {
  return record({.op = Op::kGatherRows}, {table, indices}, site);
}
Tensor scatter_add_rows(const Tensor& base, const Tensor& indices, const Tensor& updates,
                        Site site) {
  return record({.op = Op::kScatterAddRows}, {base, indices, updates}, site);
}

Tensor one_hot(const Tensor& indices, std::int64_t classes, DType dtype, Site site) {
  const Composed composed(site);
  Shape shape = indices.shape();
  shape.push_back(classes);
  const Tensor positions = iota({DType::kI32, shape}, -1);
  return convert(equal(broadcast_in_dim(indices, shape, range(indices.rank())), positions), dtype);
}

Tensor softmax(const Tensor& x, int dim, Site site) {
  const Composed composed(site);
  const Tensor largest = stop_gradient(reduce_max(x, {dim}, KeepDims::kYes));
  const Tensor powers = exp(x - broadcast_to(largest, x.shape()));
  return powers / broadcast_to(reduce_sum(powers, {dim}, KeepDims::kYes), x.shape());
}

Tensor log_softmax(const Tensor& x, int dim, Site site) {
  const Composed composed(site);
  const Tensor largest = stop_gradient(reduce_max(x, {dim}, KeepDims::kYes));
  const Tensor shifted = x - broadcast_to(largest, x.shape());
  const Tensor sum = reduce_sum(exp(shifted), {dim}, KeepDims::kYes);
  return shifted - broadcast_to(log(sum), x.shape());
}

Tensor all_reduce(const Tensor& x, std::string_view axis, Reduction reduction, Site site) {
  const Reduce kind = reduction == Reduction::kMax ? Reduce::kMax : Reduce::kSum;
  return record({.op = Op::kAllReduce, .reduce = kind, .axis = std::string(axis)}, {x}, site);
}
Tensor all_gather(const Tensor& x, std::string_view axis, int dim, Site site) {
  return record(
      {.op = Op::kAllGather, .dims = {from_end(dim, x.rank())}, .axis = std::string(axis)}, {x},
      site);
}
Tensor reduce_scatter(const Tensor& x, std::string_view axis, int dim, Site site) {
  return record(
      {.op = Op::kReduceScatter, .dims = {from_end(dim, x.rank())}, .axis = std::string(axis)}, {x},
      site);
}
Tensor permute(const Tensor& x, std::string_view axis,
               const std::vector<std::pair<std::int64_t, std::int64_t>>& pairs, Site site) {
  return record({.op = Op::kPermute, .axis = std::string(axis), .pairs = pairs}, {x}, site);
}
Tensor axis_index(std::string_view axis, Site site) {
  return record({.op = Op::kAxisIndex, .axis = std::string(axis)}, {}, site);
}

std::int64_t axis_size(std::string_view axis, Site site) {
  const GraphBuilder* builder = GraphBuilder::current();
  if (!builder) return 1;
  for (const auto& [name, size] : builder->axes()) {
    if (name == axis) return size;
  }
  GraphBuilder::fail("axis_size: no mesh axis '" + std::string(axis) + "'", site);
  return 1;
}

Tensor stop_gradient(const Tensor& x, Site site) {
  const Tensor same = record({.op = Op::kReshape, .type = x.type()}, {x}, site);
  GraphBuilder* builder = GraphBuilder::current();
  if (builder && builder->id_of(same)) builder->stop_gradient_at(*builder->id_of(same));
  return same;
}

}  // namespace seaway
