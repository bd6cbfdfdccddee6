// Vectorised loops of the elementwise operations, one instance per operation, type and variant.

#include "function/cpu_vector.hpp"
#include "function/cpu_vector_math.hpp"

namespace seaway::function::cpu::SEAWAY_KERNEL_LEVEL {
namespace {

// In every loop below, output i depends on operands i alone, so an output that lies exactly on an
// operand is safe; `ivdep` tells the compiler.

template <class F, class A, class R>
void unary_dense(void* out, const void* a, const void*, const void*, std::size_t count) {
  R* r = static_cast<R*>(out);
  const A* x = static_cast<const A*>(a);
#pragma GCC ivdep
  for (std::size_t i = 0; i < count; ++i) r[i] = F::apply(x[i]);
}

template <class F, class A, class R>
void unary_strided(std::byte* out, const std::byte* a, const std::byte*, const std::byte*,
                   const std::size_t* strides, std::size_t count) {
  const std::size_t out_stride = strides[0], a_stride = strides[1];
  for (std::size_t s = 0; s < count; ++s) {
    *reinterpret_cast<R*>(out) = F::apply(*reinterpret_cast<const A*>(a));
    out += out_stride;
    a += a_stride;
  }
}

template <class F, class A, class R, bool kScalarA, bool kScalarB>
void binary_dense(void* out, const void* a, const void* b, const void*, std::size_t count) {
  R* r = static_cast<R*>(out);
  const A* x = static_cast<const A*>(a);
  const A* y = static_cast<const A*>(b);
  if constexpr (kScalarA) {
    const A constant = *x;
#pragma GCC ivdep
    for (std::size_t i = 0; i < count; ++i) r[i] = F::apply(constant, y[i]);
  } else if constexpr (kScalarB) {
    const A constant = *y;
#pragma GCC ivdep
    for (std::size_t i = 0; i < count; ++i) r[i] = F::apply(x[i], constant);
  } else {
#pragma GCC ivdep
    for (std::size_t i = 0; i < count; ++i) r[i] = F::apply(x[i], y[i]);
  }
}

template <class F, class A, class R>
void binary_strided(std::byte* out, const std::byte* a, const std::byte* b, const std::byte*,
                    const std::size_t* strides, std::size_t count) {
  const std::size_t out_stride = strides[0], a_stride = strides[1], b_stride = strides[2];
  for (std::size_t s = 0; s < count; ++s) {
    *reinterpret_cast<R*>(out) =
        F::apply(*reinterpret_cast<const A*>(a), *reinterpret_cast<const A*>(b));
    out += out_stride;
    a += a_stride;
    b += b_stride;
  }
}

template <class T, bool kScalarB, bool kScalarC>
void select_dense(void* out, const void* a, const void* b, const void* c, std::size_t count) {
  T* r = static_cast<T*>(out);
  const std::uint8_t* p = static_cast<const std::uint8_t*>(a);
  const T* x = static_cast<const T*>(b);
  const T* y = static_cast<const T*>(c);
  const T x0 = *x, y0 = *y;
#pragma GCC ivdep
  for (std::size_t i = 0; i < count; ++i) {
    const T on_true = kScalarB ? x0 : x[i];
    const T on_false = kScalarC ? y0 : y[i];
    r[i] = p[i] ? on_true : on_false;
  }
}

template <class T>
void select_strided(std::byte* out, const std::byte* a, const std::byte* b, const std::byte* c,
                    const std::size_t* strides, std::size_t count) {
  for (std::size_t s = 0; s < count; ++s) {
    *reinterpret_cast<T*>(out + s * strides[0]) =
        *reinterpret_cast<const std::uint8_t*>(a + s * strides[1])
            ? *reinterpret_cast<const T*>(b + s * strides[2])
            : *reinterpret_cast<const T*>(c + s * strides[3]);
  }
}

template <class F, class A, class R>
ElementFunctions unary(unsigned scalars) {
  return {scalars == 0 ? &unary_dense<F, A, R> : nullptr, &unary_strided<F, A, R>};
}

template <class F, class A, class R>
ElementFunctions binary(unsigned scalars) {
  ElementFunctions functions{nullptr, &binary_strided<F, A, R>};
  if (scalars == 0) functions.dense = &binary_dense<F, A, R, false, false>;
  if (scalars == 1) functions.dense = &binary_dense<F, A, R, true, false>;
  if (scalars == 2) functions.dense = &binary_dense<F, A, R, false, true>;
  return functions;
}

template <class T>
ElementFunctions select(unsigned scalars) {
  ElementFunctions functions{nullptr, &select_strided<T>};
  if (scalars == 0) functions.dense = &select_dense<T, false, false>;
  if (scalars == 2) functions.dense = &select_dense<T, true, false>;
  if (scalars == 4) functions.dense = &select_dense<T, false, true>;
  if (scalars == 6) functions.dense = &select_dense<T, true, true>;
  return functions;
}

template <class F>
ElementFunctions arithmetic(DType dtype, unsigned scalars) {
  if (dtype == DType::kF32) return binary<F, float, float>(scalars);
  if (dtype == DType::kI32) return binary<F, std::int32_t, std::int32_t>(scalars);
  return {};
}

template <class F>
ElementFunctions logical(DType dtype, unsigned scalars) {
  if (dtype == DType::kI32) return binary<F, std::int32_t, std::int32_t>(scalars);
  if (dtype == DType::kBool) return binary<F, std::uint8_t, std::uint8_t>(scalars);
  return {};
}

template <class F>
ElementFunctions comparison(DType dtype, unsigned scalars) {
  if (dtype == DType::kF32) return binary<F, float, std::uint8_t>(scalars);
  if (dtype == DType::kI32) return binary<F, std::int32_t, std::uint8_t>(scalars);
  return binary<F, std::uint8_t, std::uint8_t>(scalars);
}

template <class F>
ElementFunctions number_unary(DType dtype, unsigned scalars) {
  if (dtype == DType::kF32) return unary<F, float, float>(scalars);
  if (dtype == DType::kI32) return unary<F, std::int32_t, std::int32_t>(scalars);
  return {};
}

template <class F>
ElementFunctions float_unary(DType dtype, unsigned scalars) {
  if (dtype == DType::kF32) return unary<F, float, float>(scalars);
  return {};
}

template <class R>
ElementFunctions conversion(DType dtype, unsigned scalars) {
  if (dtype == DType::kF32) return unary<ConvertTo<R>, float, R>(scalars);
  if (dtype == DType::kI32) return unary<ConvertTo<R>, std::int32_t, R>(scalars);
  return unary<ConvertTo<R>, std::uint8_t, R>(scalars);
}

ElementFunctions compare_function(Compare compare, DType dtype, unsigned scalars) {
  switch (compare) {
    case Compare::kEq:
      return comparison<Equal>(dtype, scalars);
    case Compare::kNe:
      return comparison<NotEqual>(dtype, scalars);
    case Compare::kLt:
      return comparison<Less>(dtype, scalars);
    case Compare::kLe:
      return comparison<LessEqual>(dtype, scalars);
    case Compare::kGt:
      return comparison<Greater>(dtype, scalars);
    case Compare::kGe:
      return comparison<GreaterEqual>(dtype, scalars);
  }
  return {};
}

}  // namespace

ElementFunctions elementwise(Op op, Compare compare, DType operand, DType result,
                             unsigned scalars) {
  switch (op) {
    case Op::kNegate:
      return number_unary<Negate>(operand, scalars);
    case Op::kAbs:
      return number_unary<Abs>(operand, scalars);
    case Op::kExponential:
      return float_unary<Exponential>(operand, scalars);
    case Op::kLog:
      return float_unary<Logarithm>(operand, scalars);
    case Op::kSqrt:
      return float_unary<SquareRoot>(operand, scalars);
    case Op::kRsqrt:
      return float_unary<ReciprocalSquareRoot>(operand, scalars);
    case Op::kTanh:
      return float_unary<HyperbolicTangent>(operand, scalars);
    case Op::kNot:
      if (operand == DType::kI32) return unary<Not, std::int32_t, std::int32_t>(scalars);
      if (operand == DType::kBool) return unary<Not, std::uint8_t, std::uint8_t>(scalars);
      return {};
    case Op::kConvert:
      if (result == DType::kF32) return conversion<float>(operand, scalars);
      if (result == DType::kI32) return conversion<std::int32_t>(operand, scalars);
      return conversion<std::uint8_t>(operand, scalars);
    case Op::kAdd:
      return arithmetic<Add>(operand, scalars);
    case Op::kSubtract:
      return arithmetic<Subtract>(operand, scalars);
    case Op::kMultiply:
      return arithmetic<Multiply>(operand, scalars);
    case Op::kDivide:
      return arithmetic<Divide>(operand, scalars);
    case Op::kMaximum:
      return arithmetic<Maximum>(operand, scalars);
    case Op::kMinimum:
      return arithmetic<Minimum>(operand, scalars);
    case Op::kPower:
      return operand == DType::kF32 ? binary<Power, float, float>(scalars) : ElementFunctions{};
    case Op::kAnd:
      return logical<And>(operand, scalars);
    case Op::kOr:
      return logical<Or>(operand, scalars);
    case Op::kCompare:
      return compare_function(compare, operand, scalars);
    case Op::kSelect:
      return size_of(operand) == 4 ? select<std::uint32_t>(scalars) : select<std::uint8_t>(scalars);
    default:
      return {};
  }
}

}  // namespace seaway::function::cpu::SEAWAY_KERNEL_LEVEL
