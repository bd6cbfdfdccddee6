// The reference interpreter: evaluates a graph over all shards of a gang, slowly and plainly.
//
// It is the oracle that executables are tested against, so it fixes what the words leave open:
// reductions add in row-major order of the reduced elements, one by one, in f32; dot_general
// likewise; all_reduce and reduce_scatter combine neighbours pairwise by coordinate,
// ((0+1)+(2+3))+..., an odd one out passing up. NaN goes through maximum and minimum; argmax takes
// NaN as the largest; i32 wraps, and x / 0 is -1. Which zero the maximum of 0 and -0 is stays open.

#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "function/graph.hpp"
#include "seaway/status.hpp"
#include "seaway/types.hpp"

namespace seaway::function {

/// A tensor with its elements, dense and row-major. A value.
class Literal {
 public:
  Literal() = default;
  /// All zeros.
  explicit Literal(TensorType type) : type_(std::move(type)), bytes_(type_.bytes()) {}

  /// Elements in row-major order; requires as many as `shape` has.
  template <class T>
  static Literal of(const Shape& shape, const std::vector<T>& elements) {
    Literal literal({dtype_of<T>(), shape});
    for (std::size_t i = 0; i < elements.size(); ++i) literal.as<T>()[i] = elements[i];
    return literal;
  }

  const TensorType& type() const { return type_; }
  const Shape& shape() const { return type_.shape; }
  std::span<std::byte> bytes() { return bytes_; }
  std::span<const std::byte> bytes() const { return bytes_; }
  /// T must be the element type.
  template <class T>
  std::span<T> as() {
    return {reinterpret_cast<T*>(bytes_.data()), static_cast<std::size_t>(type_.elements())};
  }
  template <class T>
  std::span<const T> as() const {
    return {reinterpret_cast<const T*>(bytes_.data()), static_cast<std::size_t>(type_.elements())};
  }

  friend bool operator==(const Literal&, const Literal&) = default;

 private:
  TensorType type_;
  std::vector<std::byte> bytes_;
};

/// One value on all shards of a gang.
using ShardLiterals = std::vector<Literal>;

/// Evaluates `graph`: arguments[parameter][shard] to results[output][shard]. `shards` is the
/// product of the axis sizes, or anything when there are no axes.
/// Errors: kInvalidArgument if the graph does not validate, or an argument is missing or has
/// another type than its parameter.
Result<std::vector<ShardLiterals>> interpret(const Graph& graph, const AxisSizes& axes,
                                             std::size_t shards,
                                             const std::vector<ShardLiterals>& arguments);

}  // namespace seaway::function
