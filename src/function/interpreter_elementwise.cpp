// Elementwise operations of the reference interpreter, with the exact rules for i32 and NaN.

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "base/check.hpp"
#include "function/interpreter_ops.hpp"

namespace seaway::function {
namespace {

constexpr std::int32_t kLowest = std::numeric_limits<std::int32_t>::min();

std::uint32_t bits(std::int32_t x) { return static_cast<std::uint32_t>(x); }
std::int32_t wrapped(std::uint32_t x) { return static_cast<std::int32_t>(x); }

float unary(Op op, float x) {
  switch (op) {
    case Op::kNegate:
      return -x;
    case Op::kExponential:
      return std::exp(x);
    case Op::kLog:
      return std::log(x);
    case Op::kSqrt:
      return std::sqrt(x);
    case Op::kRsqrt:
      return 1.0f / std::sqrt(x);
    case Op::kTanh:
      return std::tanh(x);
    default:
      return std::fabs(x);
  }
}
std::int32_t unary(Op op, std::int32_t x) {
  if (op == Op::kNot) return ~x;
  if (op == Op::kAbs && x >= 0) return x;
  return wrapped(0u - bits(x));
}
bool unary(Op, bool x) { return !x; }

float binary(Op op, float left, float right) {
  switch (op) {
    case Op::kAdd:
      return left + right;
    case Op::kSubtract:
      return left - right;
    case Op::kMultiply:
      return left * right;
    case Op::kDivide:
      return left / right;
    case Op::kMaximum:
      return maximum(left, right);
    case Op::kMinimum:
      return -maximum(-left, -right);
    default:
      return std::pow(left, right);
  }
}
std::int32_t binary(Op op, std::int32_t left, std::int32_t right) {
  switch (op) {
    case Op::kAdd:
      return add(left, right);
    case Op::kSubtract:
      return wrapped(bits(left) - bits(right));
    case Op::kMultiply:
      return wrapped(bits(left) * bits(right));
    case Op::kDivide:
      if (right == 0) return -1;
      return left == kLowest && right == -1 ? kLowest : left / right;
    case Op::kMaximum:
      return maximum(left, right);
    case Op::kMinimum:
      return left < right ? left : right;
    case Op::kAnd:
      return left & right;
    default:
      return left | right;
  }
}
bool binary(Op op, bool left, bool right) { return op == Op::kAnd ? left && right : left || right; }

template <class T>
bool holds(Compare compare, T left, T right) {
  switch (compare) {
    case Compare::kEq:
      return left == right;
    case Compare::kNe:
      return left != right;
    case Compare::kLt:
      return left < right;
    case Compare::kLe:
      return left <= right;
    case Compare::kGt:
      return left > right;
    case Compare::kGe:
      return left >= right;
  }
  return false;
}

/// f32 to i32 cuts towards zero, keeps to the range of i32, and takes NaN to 0.
template <class Target, class Source>
Target converted(Source x) {
  if constexpr (std::is_same_v<Target, bool>) {
    return x != Source{};
  } else if constexpr (std::is_same_v<Target, std::int32_t> && std::is_same_v<Source, float>) {
    if (std::isnan(x)) return 0;
    if (x >= 2147483648.0f) return std::numeric_limits<std::int32_t>::max();
    if (x < -2147483648.0f) return kLowest;
    return static_cast<std::int32_t>(x);
  } else {
    return static_cast<Target>(x);
  }
}

void convert(const Literal& x, Literal& result) {
  with_type(x.type().dtype, [&]<class Source>() {
    with_type(result.type().dtype, [&]<class Target>() {
      const auto in = x.as<Source>();
      const auto out = result.as<Target>();
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = converted<Target>(in[i]);
    });
  });
}

void fill_source(const Instruction& instruction, Literal& result) {
  with_type(result.type().dtype, [&]<class T>() {
    const auto out = result.as<T>();
    std::size_t i = 0;
    for_each_index(result.shape(), [&](const Index& index) {
      if (instruction.op == Op::kConstant) {
        out[i++] = static_cast<T>(instruction.number);
      } else {
        out[i++] = static_cast<T>(index[static_cast<std::size_t>(instruction.dims[0])]);
      }
    });
  });
}

void compare(const Instruction& instruction, const Operands& operands, Literal& result) {
  with_type(operands[0]->type().dtype, [&]<class T>() {
    const auto left = operands[0]->as<T>();
    const auto right = operands[1]->as<T>();
    const auto out = result.as<bool>();
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] = holds(instruction.compare, left[i], right[i]);
    }
  });
}

void select(const Operands& operands, Literal& result) {
  with_type(result.type().dtype, [&]<class T>() {
    const auto predicate = operands[0]->as<bool>();
    const auto on_true = operands[1]->as<T>();
    const auto on_false = operands[2]->as<T>();
    const auto out = result.as<T>();
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] = predicate[i] ? on_true[i] : on_false[i];
    }
  });
}

void arithmetic(const Instruction& instruction, const Operands& operands, Literal& result) {
  with_type(result.type().dtype, [&]<class T>() {
    const auto left = operands[0]->as<T>();
    const auto out = result.as<T>();
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] = operands.size() == 1 ? unary(instruction.op, left[i])
                                    : binary(instruction.op, left[i], operands[1]->as<T>()[i]);
    }
  });
}

}  // namespace

float add(float left, float right) { return left + right; }
std::int32_t add(std::int32_t left, std::int32_t right) {
  return wrapped(bits(left) + bits(right));
}
float maximum(float left, float right) {
  if (std::isnan(left)) return left;
  if (std::isnan(right)) return right;
  return left > right ? left : right;
}
std::int32_t maximum(std::int32_t left, std::int32_t right) { return left > right ? left : right; }

Literal evaluate_elementwise(const Instruction& instruction, const Operands& operands) {
  SEAWAY_CHECK(operands.size() <= 3, operands.size());
  Literal result(instruction.type);
  switch (instruction.op) {
    case Op::kConstant:
    case Op::kIota:
      fill_source(instruction, result);
      break;
    case Op::kConvert:
      convert(*operands[0], result);
      break;
    case Op::kCompare:
      compare(instruction, operands, result);
      break;
    case Op::kSelect:
      select(operands, result);
      break;
    default:
      arithmetic(instruction, operands, result);
  }
  return result;
}

}  // namespace seaway::function
