// Tensor: writing a function of tensors as C++ expressions, for one shard of a gang.
//
// A body such as
//
//   [](std::span<const Tensor> in) -> std::vector<Tensor> {
//     const Tensor logits = matmul(in[0], in[1]) + broadcast_to(in[2], {32, 10});
//     return {softmax(logits)};
//   }
//
// computes nothing when it is called: it records a typed graph. Shapes and element types are
// checked at once, without exceptions: the first mistake is kept with its source line and is what
// the capture returns; every later expression yields a placeholder. Names and semantics are
// StableHLO's. Nothing broadcasts by itself, except a C++ number beside a tensor.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "seaway/types.hpp"

namespace seaway {

namespace function {
class GraphBuilder;
}

/// Where an expression stands in the user's code; always left to its default.
using Site = std::source_location;

/// One value of the function that is being captured. A handle: copying it copies no data. Use it
/// in the body that it was made for, on that thread; an empty Tensor or one of another capture is
/// a recorded mistake, not a crash.
class Tensor {
 public:
  Tensor() = default;

  const TensorType& type() const;
  DType dtype() const { return type().dtype; }
  const Shape& shape() const { return type().shape; }
  int rank() const { return static_cast<int>(shape().size()); }
  /// Size of dimension `i`; negative counts from the end. 1, and a recorded mistake, when there is
  /// no such dimension.
  std::int64_t dim(int i, Site site = Site::current()) const;
  /// False for a Tensor that no operation made.
  bool empty() const { return builder_ == nullptr; }

  /// "tensor %2 = add %0, %1 : f32[2,3]": the operation that makes it, and from which others.
  std::string to_string() const;

 private:
  friend class function::GraphBuilder;
  Tensor(std::shared_ptr<function::GraphBuilder> builder, std::uint32_t id)
      : builder_(std::move(builder)), id_(id) {}

  std::shared_ptr<function::GraphBuilder> builder_;
  std::uint32_t id_ = 0;
};

/// The body of a function: parameters in, results out.
using TensorBody = std::function<std::vector<Tensor>(std::span<const Tensor>)>;

/// A tensor, or a C++ number that takes the type of the tensor beside it (x * 2, 1 / x); knows its
/// source line. A number must be exact in that type when the tensor is i32 or bool.
class Operand {
 public:
  Operand(const Tensor& tensor, Site site = Site::current())  // NOLINT: implicit on purpose
      : tensor_(tensor), site_(site) {}
  Operand(double number, Site site = Site::current())  // NOLINT: implicit on purpose
      : number_(number), is_number_(true), site_(site) {}

  bool is_number() const { return is_number_; }
  double number() const { return number_; }
  const Tensor& tensor() const { return tensor_; }
  const Site& site() const { return site_; }

  /// "number 0.5", or the tensor's text.
  std::string to_string() const;

 private:
  Tensor tensor_;
  double number_ = 0;
  bool is_number_ = false;
  Site site_;
};

// Elementwise, two operands of one type, f32 or i32. i32 wraps; x / 0 is -1 for i32.
Tensor operator+(const Operand& left, const Operand& right);
Tensor operator-(const Operand& left, const Operand& right);
Tensor operator*(const Operand& left, const Operand& right);
Tensor operator/(const Operand& left, const Operand& right);
Tensor operator-(const Operand& x);
/// NaN if either is. The derivative of equal operands goes to `right`.
Tensor maximum(const Operand& left, const Operand& right);
Tensor minimum(const Operand& left, const Operand& right);
/// f32 only.
Tensor pow(const Operand& base, const Operand& exponent);

// Comparisons give bool. They are functions, since Tensor is no number.
Tensor equal(const Operand& left, const Operand& right);
Tensor not_equal(const Operand& left, const Operand& right);
Tensor less(const Operand& left, const Operand& right);
Tensor less_equal(const Operand& left, const Operand& right);
Tensor greater(const Operand& left, const Operand& right);
Tensor greater_equal(const Operand& left, const Operand& right);

// Logical for bool, bitwise for i32.
Tensor logical_and(const Operand& left, const Operand& right);
Tensor logical_or(const Operand& left, const Operand& right);
Tensor logical_not(const Tensor& x, Site site = Site::current());

/// on_true where `predicate` (bool, same shape), else on_false. A number takes the other's type.
Tensor select(const Tensor& predicate, const Operand& on_true, const Operand& on_false);

// Elementwise, one operand. f32 only, but for negate and abs.
Tensor negate(const Tensor& x, Site site = Site::current());
Tensor abs(const Tensor& x, Site site = Site::current());
Tensor exp(const Tensor& x, Site site = Site::current());
Tensor log(const Tensor& x, Site site = Site::current());
Tensor sqrt(const Tensor& x, Site site = Site::current());
Tensor rsqrt(const Tensor& x, Site site = Site::current());
Tensor tanh(const Tensor& x, Site site = Site::current());
/// maximum(x, 0); its derivative at 0 is 0.
Tensor relu(const Tensor& x, Site site = Site::current());
/// f32 to i32 cuts towards zero (out of range: the nearest i32, NaN: 0); to bool is `!= 0`.
Tensor convert(const Tensor& x, DType dtype, Site site = Site::current());

// Values from nothing; they belong to the function that this thread is capturing.
/// A tensor of `type` whose every element is `number`.
Tensor splat(const TensorType& type, double number, Site site = Site::current());
Tensor zeros(const TensorType& type, Site site = Site::current());
Tensor ones(const TensorType& type, Site site = Site::current());
/// A scalar.
Tensor constant(float number, Site site = Site::current());
Tensor constant(std::int32_t number, Site site = Site::current());
Tensor constant(bool value, Site site = Site::current());
/// Element [i0, i1, ...] is i_dim. f32 or i32.
Tensor iota(const TensorType& type, int dim, Site site = Site::current());

// Shapes. `dims` count from 0; negative ones count from the end.
Tensor reshape(const Tensor& x, const Shape& shape, Site site = Site::current());
/// Result dimension i is dimension dims[i] of `x`.
Tensor transpose(const Tensor& x, const std::vector<std::int64_t>& dims,
                 Site site = Site::current());
/// Swaps the last two dimensions.
Tensor transpose(const Tensor& x, Site site = Site::current());
/// Dimension i of `x` becomes dimension dims[i] of the result; its size is that of the result or 1.
Tensor broadcast_in_dim(const Tensor& x, const Shape& shape, const std::vector<std::int64_t>& dims,
                        Site site = Site::current());
/// As numpy: dimensions are aligned at their ends; sizes of 1 stretch.
Tensor broadcast_to(const Tensor& x, const Shape& shape, Site site = Site::current());
/// Elements start, start + stride, ... below limit of each dimension; no strides: all 1.
Tensor slice(const Tensor& x, const std::vector<std::int64_t>& starts,
             const std::vector<std::int64_t>& limits, const std::vector<std::int64_t>& strides = {},
             Site site = Site::current());
Tensor concatenate(const std::vector<Tensor>& parts, int dim, Site site = Site::current());

// Products, f32 or i32.
/// [..., m, k] x [..., k, n] with equal leading dimensions, or [..., k] x [k, n].
Tensor matmul(const Tensor& left, const Tensor& right, Site site = Site::current());
/// Dimension numbers of dot_general; pairs of one length.
struct DotDimensions {
  std::vector<std::int64_t> left_batch = {}, right_batch = {}, left_contract = {},
                            right_contract = {};

  /// "dot dimensions: batch [0] with [0], contract [2] with [1]".
  std::string to_string() const;
};
/// Result: batch dimensions, then free ones of `left`, then free ones of `right`.
Tensor dot_general(const Tensor& left, const Tensor& right, const DotDimensions& dims,
                   Site site = Site::current());

// Reductions. The dimensions vanish; `keep` leaves them with size 1. No dims: over all.
enum class KeepDims : bool { kNo, kYes };
/// "drop dimensions", "keep dimensions".
std::string_view to_string(KeepDims keep);
Tensor reduce_sum(const Tensor& x, std::vector<std::int64_t> dims = {},
                  KeepDims keep = KeepDims::kNo, Site site = Site::current());
/// NaN if any is; the lowest value of the type when there is nothing to reduce (f32: -inf).
Tensor reduce_max(const Tensor& x, std::vector<std::int64_t> dims = {},
                  KeepDims keep = KeepDims::kNo, Site site = Site::current());
/// f32 only.
Tensor mean(const Tensor& x, std::vector<std::int64_t> dims = {}, KeepDims keep = KeepDims::kNo,
            Site site = Site::current());
/// i32 index of the largest element along `dim`: the lowest of equal ones; NaN counts as largest.
Tensor argmax(const Tensor& x, int dim, Site site = Site::current());

// Rows. Indices outside the table are clamped into it.
/// table [n, ...], indices i32 [...] -> [indices..., table's further dimensions...].
Tensor gather_rows(const Tensor& table, const Tensor& indices, Site site = Site::current());
/// `base` plus each row of `updates` [indices..., ...] added at its index, in index order.
Tensor scatter_add_rows(const Tensor& base, const Tensor& indices, const Tensor& updates,
                        Site site = Site::current());
/// indices i32 [...] -> [..., classes]: 1 at the index, else 0; a row of zeros for one outside.
Tensor one_hot(const Tensor& indices, std::int64_t classes, DType dtype = DType::kF32,
               Site site = Site::current());

/// Along `dim`, stable for large values.
Tensor softmax(const Tensor& x, int dim = -1, Site site = Site::current());
Tensor log_softmax(const Tensor& x, int dim = -1, Site site = Site::current());

// Collectives over the mesh axis called `axis`: every shard of the gang takes part.
enum class Reduction : std::uint8_t { kSum, kMax };
/// "sum", "max".
std::string_view to_string(Reduction reduction);
Tensor all_reduce(const Tensor& x, std::string_view axis, Reduction reduction = Reduction::kSum,
                  Site site = Site::current());
/// Concatenates the shards' values along `dim` in the order of their coordinates.
Tensor all_gather(const Tensor& x, std::string_view axis, int dim, Site site = Site::current());
/// Sums the shards' values and keeps the own piece of `dim`, which the axis size must divide.
Tensor reduce_scatter(const Tensor& x, std::string_view axis, int dim, Site site = Site::current());
/// Sends from coordinate `first` to coordinate `second`, for each pair; no coordinate sends or
/// receives twice. A shard that receives nothing gets zeros.
Tensor permute(const Tensor& x, std::string_view axis,
               const std::vector<std::pair<std::int64_t, std::int64_t>>& pairs,
               Site site = Site::current());
/// The shard's own coordinate, an i32 scalar.
Tensor axis_index(std::string_view axis, Site site = Site::current());
/// Size of a mesh axis; 1, and a recorded mistake, for an unknown one.
std::int64_t axis_size(std::string_view axis, Site site = Site::current());

/// The same value, through which `gradients` does not flow.
Tensor stop_gradient(const Tensor& x, Site site = Site::current());

/// The derivative of the f32 scalar `loss` by each of `wrt` (f32), in reverse mode, recorded in the
/// same function. A tensor that the loss does not depend on gets zeros.
///
/// With collectives, what is differentiated is **the sum of `loss` over all shards of the gang**,
/// by the shard's own copy of `wrt`: each collective is transposed as the linear map that it is, as
/// JAX transposes psum under shard_map without replication checks. So all_reduce(sum) transposes to
/// all_reduce(sum), all_gather to reduce_scatter and back, permute to the reverse permute. In
/// practice: take the gradients of each shard's *own* loss, then all_reduce the gradients of
/// parameters that are replicated. A loss that was itself all-reduced counts once per shard, so
/// divide it by the axis size first.
///
/// Equal largest elements of reduce_max and all_reduce(max) share the derivative evenly.
/// Comparisons, argmax, indices and conversions to or from i32 and bool pass none on.
std::vector<Tensor> gradients(const Tensor& loss, const std::vector<Tensor>& wrt,
                              Site site = Site::current());

}  // namespace seaway
