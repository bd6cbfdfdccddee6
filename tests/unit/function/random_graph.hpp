// Random functions of every operation, for comparisons with the reference.
//
// All values are small integers, also in f32, so that equality is exact whatever the order of
// additions; only the sign of zero is left open.

#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "unit/function/cpu_testing.hpp"

namespace seaway::function {

/// Grows a random graph; every value holds integers of at most a few thousand. Without axes it has
/// no collectives.
class RandomGraph {
 public:
  RandomGraph(std::uint64_t seed, AxisSizes axes) : random_(seed, 11), axes_(std::move(axes)) {
    for (int i = 0; i < 3; ++i) keep(graph_.parameter({dtype(), shape()}));
    for (int tries = 0; tries < 60; ++tries) grow();
  }

  Graph build() {
    std::vector<ValueId> outputs;
    const std::size_t count = 1 + random_.below(6);
    for (std::size_t i = 0; i < count; ++i) outputs.push_back(any());
    return graph_.build(outputs);
  }

 private:
  std::int64_t pick(std::int64_t low, std::int64_t high) { return random_.between(low, high); }
  DType dtype() { return random_.chance(60) ? DType::kF32 : DType::kI32; }
  Shape shape() {
    static const std::vector<Shape> shapes = {{},     {1},      {4},       {6, 4},
                                              {4, 6}, {40, 12}, {2, 3, 4}, {12, 1, 40},
                                              {600},  {0, 4},   {8, 128},  {4, 4}};
    return shapes[random_.below(shapes.size())];
  }
  ValueId keep(ValueId value) {
    values_.push_back(value);
    return value;
  }
  ValueId any() { return values_[random_.below(values_.size())]; }
  ValueId number() {
    for (;;) {
      const ValueId value = any();
      if (graph_.type(value).dtype != DType::kBool) return value;
    }
  }
  /// A value of exactly that type, made if there is none.
  ValueId like(const TensorType& type) {
    for (int tries = 0; tries < 6; ++tries) {
      const ValueId value = any();
      if (graph_.type(value) == type) return value;
    }
    const auto number = static_cast<double>(type.dtype == DType::kBool ? pick(0, 1) : pick(-3, 3));
    return graph_.constant(type, number);
  }
  /// Brings values back to small ones, so that no sum is ever rounded.
  ValueId tamed(ValueId value) {
    const TensorType type = graph_.type(value);
    if (type.dtype == DType::kBool) return keep(value);
    const ValueId low = graph_.constant(type, -9), high = graph_.constant(type, 9);
    return keep(graph_.same(Op::kMinimum, {graph_.same(Op::kMaximum, {value, low}), high}));
  }
  ValueId add(Instruction instruction) { return tamed(graph_.add(std::move(instruction))); }

  void grow() {
    switch (random_.below(12)) {
      case 0:
      case 1:
      case 2:
        return grow_elementwise();
      case 3:
        return grow_choice();
      case 4:
        return grow_shape();
      case 5:
        return grow_broadcast();
      case 6:
        return grow_slice();
      case 7:
        return grow_dot();
      case 8:
        return grow_reduce();
      case 9:
        return grow_rows();
      default:
        return grow_collective();
    }
  }

  void grow_elementwise() {
    const ValueId x = number();
    const TensorType type = graph_.type(x);
    static constexpr Op kBinary[] = {Op::kAdd, Op::kSubtract, Op::kMultiply, Op::kMaximum,
                                     Op::kMinimum};
    if (random_.chance(20)) {
      tamed(graph_.same(random_.chance(50) ? Op::kNegate : Op::kAbs, {x}));
    } else if (random_.chance(10) && type.dtype == DType::kI32) {
      tamed(graph_.same(Op::kDivide, {x, like(type)}));
    } else if (random_.chance(15)) {
      const TensorType other{type.dtype == DType::kF32 ? DType::kI32 : DType::kF32, type.shape};
      tamed(graph_.op(Op::kConvert, other, {x}));
    } else {
      const Op op = kBinary[random_.below(5)];
      const ValueId y = like(type);
      tamed(random_.chance(50) ? graph_.same(op, {x, y}) : graph_.same(op, {y, x}));
    }
  }

  void grow_choice() {
    const ValueId x = number();
    const TensorType type = graph_.type(x);
    const TensorType truth{DType::kBool, type.shape};
    const ValueId y = like(type);
    const ValueId less = keep(graph_.add({.op = Op::kCompare,
                                          .type = truth,
                                          .operands = {x, y},
                                          .compare = static_cast<Compare>(random_.below(6))}));
    const ValueId both = keep(graph_.same(Op::kAnd, {less, like(truth)}));
    keep(graph_.same(Op::kNot, {both}));
    keep(graph_.op(Op::kSelect, type, {both, like(type), x}));
    keep(graph_.op(Op::kConvert, type, {less}));
  }

  void grow_shape() {
    const ValueId x = any();
    TensorType type = graph_.type(x);
    if (random_.chance(30)) {
      const auto size = type.elements();
      type.shape = random_.chance(50) ? Shape{size} : Shape{1, size, 1};
      keep(graph_.op(Op::kReshape, type, {x}));
    } else if (random_.chance(20) && !type.shape.empty() && type.dtype != DType::kBool) {
      keep(graph_.add({.op = Op::kIota,
                       .type = type,
                       .dims = {pick(0, static_cast<std::int64_t>(type.shape.size()) - 1)}}));
      values_.push_back(tamed(values_.back()));
    } else {
      std::vector<std::int64_t> dims;
      for (std::size_t d = 0; d < type.shape.size(); ++d) {
        dims.insert(dims.begin() + pick(0, static_cast<std::int64_t>(d)),
                    static_cast<std::int64_t>(d));
      }
      Shape turned;
      for (const std::int64_t d : dims) turned.push_back(type.shape[static_cast<std::size_t>(d)]);
      type.shape = turned;
      keep(graph_.add(
          {.op = Op::kTranspose, .type = type, .operands = {x}, .dims = std::move(dims)}));
    }
  }

  void grow_broadcast() {
    const ValueId x = any();
    TensorType type = graph_.type(x);
    if (type.elements() > 700 || type.shape.size() > 6) return;
    std::vector<std::int64_t> dims;
    Shape wide;
    for (const std::int64_t size : type.shape) {
      if (random_.chance(30)) wide.push_back(pick(1, 3));
      dims.push_back(static_cast<std::int64_t>(wide.size()));
      wide.push_back(size == 1 && random_.chance(50) ? pick(1, 5) : size);
    }
    if (random_.chance(60)) wide.push_back(pick(1, 4));
    type.shape = wide;
    const ValueId spread = keep(graph_.add(
        {.op = Op::kBroadcastInDim, .type = type, .operands = {x}, .dims = std::move(dims)}));
    if (type.dtype != DType::kBool) tamed(graph_.same(Op::kAdd, {spread, like(type)}));
  }

  void grow_slice() {
    const ValueId x = any();
    TensorType type = graph_.type(x);
    Instruction slice{.op = Op::kSlice, .operands = {x}};
    for (std::int64_t& size : type.shape) {
      const std::int64_t start = pick(0, size), limit = pick(start, size), stride = pick(1, 3);
      slice.starts.push_back(start);
      slice.limits.push_back(limit);
      slice.strides.push_back(stride);
      size = (limit - start + stride - 1) / stride;
    }
    slice.type = type;
    const ValueId part = keep(graph_.add(std::move(slice)));
    if (type.shape.empty()) return;
    const std::int64_t dim = pick(0, static_cast<std::int64_t>(type.shape.size()) - 1);
    TensorType joined = type;
    joined.shape[static_cast<std::size_t>(dim)] *= 2;
    const ValueId other = like(type);
    keep(graph_.add(
        {.op = Op::kConcatenate, .type = joined, .operands = {part, other}, .dims = {dim}}));
  }

  void grow_dot() {
    const ValueId x = number();
    const TensorType type = graph_.type(x);
    if (type.shape.empty() || type.elements() > 2000) return;
    const std::int64_t rank = static_cast<std::int64_t>(type.shape.size());
    const std::int64_t contract = pick(0, rank - 1);
    const std::int64_t width = type.shape[static_cast<std::size_t>(contract)];
    DotDims dot;
    dot.lhs_contract = {contract};
    Shape left, right;
    std::vector<std::int64_t> batch;
    const std::int64_t other = (contract + 1) % rank;
    if (rank > 1 && random_.chance(40)) {
      dot.lhs_batch = {other};
      batch = {type.shape[static_cast<std::size_t>(other)]};
    }
    const std::int64_t columns = pick(1, 20);
    const bool is_turned = random_.chance(50);
    right = is_turned ? Shape{columns, width} : Shape{width, columns};
    dot.rhs_contract = {is_turned ? 1 : 0};
    if (!batch.empty()) {
      right.insert(right.begin(), batch[0]);
      dot.rhs_batch = {0};
      ++dot.rhs_contract[0];
    }
    Shape result = batch;
    for (std::int64_t d = 0; d < rank; ++d) {
      if (d != contract && (batch.empty() || d != other)) {
        result.push_back(type.shape[static_cast<std::size_t>(d)]);
      }
    }
    result.push_back(columns);
    ValueId y = like({type.dtype, right});
    if (random_.chance(50) && element_count(right) > 0) {
      // Something that is not a splat.
      const ValueId count = graph_.add({.op = Op::kIota,
                                        .type = {type.dtype, right},
                                        .dims = {static_cast<std::int64_t>(right.size()) - 1}});
      y = tamed(graph_.same(Op::kSubtract, {count, graph_.constant({type.dtype, right}, 3)}));
    }
    add({.op = Op::kDotGeneral,
         .type = {type.dtype, result},
         .operands = {x, y},
         .dot = std::move(dot)});
  }

  void grow_reduce() {
    const ValueId x = number();
    const TensorType type = graph_.type(x);
    std::vector<std::int64_t> dims;
    Shape result;
    for (std::size_t d = 0; d < type.shape.size(); ++d) {
      if (random_.chance(50)) {
        dims.push_back(static_cast<std::int64_t>(d));
      } else {
        result.push_back(type.shape[d]);
      }
    }
    Instruction reduce{
        .op = Op::kReduce, .type = {type.dtype, result}, .operands = {x}, .dims = dims};
    if (random_.chance(50)) reduce.reduce = Reduce::kMax;
    const bool has_width = dims.size() == 1 && type.shape[static_cast<std::size_t>(dims[0])] > 0;
    if (has_width && random_.chance(40)) {
      reduce.reduce = Reduce::kArgmax;
      reduce.type.dtype = DType::kI32;
    }
    add(std::move(reduce));
  }

  void grow_rows() {
    const ValueId table = number();
    const TensorType type = graph_.type(table);
    if (type.shape.empty() || type.shape[0] == 0) return;
    const std::int64_t count = pick(0, 5);
    const ValueId indices = like(i32({count}));
    Shape rows = type.shape;
    rows[0] = count;
    const ValueId picked = keep(graph_.op(Op::kGatherRows, {type.dtype, rows}, {table, indices}));
    tamed(graph_.op(Op::kScatterAddRows, type, {table, indices, picked}));
  }

  void grow_collective() {
    if (axes_.empty()) return;
    const ValueId x = number();
    TensorType type = graph_.type(x);
    const auto& [axis, size] = axes_[random_.below(axes_.size())];
    const std::int64_t rank = static_cast<std::int64_t>(type.shape.size());
    const std::int64_t dim = rank > 0 ? pick(0, rank - 1) : 0;
    Instruction instruction{.op = Op::kAllReduce, .type = type, .operands = {x}, .axis = axis};
    const std::uint64_t kind = random_.below(5);
    if (kind == 0 && rank > 0 && type.elements() < 2000) {
      instruction.op = Op::kAllGather;
      instruction.dims = {dim};
      instruction.type.shape[static_cast<std::size_t>(dim)] *= size;
    } else if (kind == 1 && rank > 0 && type.shape[static_cast<std::size_t>(dim)] % size == 0) {
      instruction.op = Op::kReduceScatter;
      instruction.dims = {dim};
      instruction.type.shape[static_cast<std::size_t>(dim)] /= size;
    } else if (kind == 2) {
      instruction.op = Op::kPermute;
      for (std::int64_t c = 0; c < size; ++c) {
        if (random_.chance(80)) instruction.pairs.emplace_back(c, (c + 1) % size);
      }
    } else if (kind == 3) {
      keep(graph_.add({.op = Op::kAxisIndex, .type = i32({}), .axis = axis}));
      return;
    } else if (random_.chance(40)) {
      instruction.reduce = Reduce::kMax;
    }
    add(std::move(instruction));
  }

  RandomStream random_;
  AxisSizes axes_;
  TestGraph graph_;
  std::vector<ValueId> values_;
};

/// Element by element, since 0 and -0 are equal.
inline void expect_equal(TestBuffer& actual, TestBuffer& expected, const TensorType& type,
                         std::size_t shard, const std::string& where) {
  if (type.dtype == DType::kF32) {
    ASSERT_EQ(actual.get<float>(shard), expected.get<float>(shard)) << where;
  } else if (type.dtype == DType::kI32) {
    ASSERT_EQ(actual.get<std::int32_t>(shard), expected.get<std::int32_t>(shard)) << where;
  } else {
    ASSERT_EQ(actual.get<std::uint8_t>(shard), expected.get<std::uint8_t>(shard)) << where;
  }
}

inline void fill(TestRun& run, std::uint64_t seed, std::size_t shards) {
  RandomStream random(seed, 12);
  const std::vector<TensorType>& types = run.executable().parameter_types();
  for (std::size_t i = 0; i < types.size(); ++i) {
    const auto count = static_cast<std::size_t>(types[i].elements());
    for (std::size_t s = 0; s < shards; ++s) {
      std::vector<std::int32_t> integers(count);
      for (std::int32_t& value : integers) {
        value = static_cast<std::int32_t>(random.between(-9, 9));
      }
      if (count == 0) continue;
      if (types[i].dtype == DType::kF32) {
        run.operand(i).set(s, std::vector<float>(integers.begin(), integers.end()));
      } else {
        run.operand(i).set(s, integers);
      }
    }
  }
}

}  // namespace seaway::function
