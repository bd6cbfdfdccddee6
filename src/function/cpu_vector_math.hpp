// Scalar formulas of the elementwise operations, free of branches so that loops vectorise.
//
// Included only by the files that are compiled per level of vector instructions; everything lies
// in a namespace of that level, so that no two levels share a function.

#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace seaway::function::cpu::SEAWAY_KERNEL_LEVEL {

template <class To, class From>
inline To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, from);
}

/// e^x to 2 ulp: x = n ln 2 + r, a polynomial in r (Cephes' expf), scaled by 2^n in two steps so
/// that subnormal results and infinity come out right. NaN passes through.
inline float exponential(float x) {
  x = x > 89.0f ? 89.0f : x;
  x = x < -104.5f ? -104.5f : x;
  constexpr float kRound =
      12582912.0f;  // 1.5 * 2^23: adding it leaves the integer in the low bits.
  const float rounded = x * 1.44269504088896341f + kRound;
  const float n = rounded - kRound;
  const float r = (x - n * 0.693359375f) - n * -2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  const std::int32_t exponent =
      static_cast<std::int32_t>(bits_as<std::uint32_t>(rounded) - bits_as<std::uint32_t>(kRound));
  const std::int32_t half = exponent >> 1;
  const auto power = [](std::int32_t e) {
    return bits_as<float>((static_cast<std::uint32_t>(e) + 127u) << 23);
  };
  return p * power(half) * power(exponent - half);
}

/// Natural logarithm to 2 ulp (Cephes' logf): x = m 2^e with m in [sqrt(1/2), sqrt(2)).
inline float logarithm(float x) {
  const bool is_tiny = x < 1.17549435e-38f;
  const float scaled = is_tiny ? x * 8388608.0f : x;
  const std::uint32_t bits = bits_as<std::uint32_t>(scaled);
  std::int32_t e = static_cast<std::int32_t>(bits >> 23) - 126;
  e = is_tiny ? e - 23 : e;
  float m = bits_as<float>((bits & 0x007fffffu) | 0x3f000000u);
  const bool is_low = m < 0.707106781186547524f;
  e = is_low ? e - 1 : e;
  m = is_low ? m + m - 1.0f : m - 1.0f;
  const float z = m * m;
  float p = 7.0376836292e-2f;
  p = p * m - 1.1514610310e-1f;
  p = p * m + 1.1676998740e-1f;
  p = p * m - 1.2420140846e-1f;
  p = p * m + 1.4249322787e-1f;
  p = p * m - 1.6668057665e-1f;
  p = p * m + 2.0000714765e-1f;
  p = p * m - 2.4999993993e-1f;
  p = p * m + 3.3333331174e-1f;
  const float ef = static_cast<float>(e);
  float y = m * z * p;
  y = y + ef * -2.12194440e-4f;
  y = y - 0.5f * z;
  float result = (m + y) + ef * 0.693359375f;
  result = x == std::numeric_limits<float>::infinity() ? x : result;
  result = x == 0.0f ? -std::numeric_limits<float>::infinity() : result;
  return x >= 0.0f ? result : std::numeric_limits<float>::quiet_NaN();
}

/// Hyperbolic tangent to 3 ulp: a polynomial near 0 (Cephes' tanhf), 1 - 2 / (e^2x + 1) beyond.
inline float hyperbolic_tangent(float x) {
  const float z = x * x;
  float p = -5.70498872745e-3f;
  p = p * z + 2.06390887954e-2f;
  p = p * z - 5.37397155531e-2f;
  p = p * z + 1.33314422036e-1f;
  p = p * z - 3.33332819422e-1f;
  const float near = p * z * x + x;
  const float magnitude = std::fabs(x);
  const float far = 1.0f - 2.0f / (exponential(magnitude + magnitude) + 1.0f);
  const float signed_far = x < 0.0f ? -far : far;
  return magnitude < 0.625f ? near : signed_far;
}

inline std::int32_t wrap(std::uint32_t x) { return static_cast<std::int32_t>(x); }
inline std::uint32_t raw(std::int32_t x) { return static_cast<std::uint32_t>(x); }

struct Add {
  static float apply(float a, float b) { return a + b; }
  static std::int32_t apply(std::int32_t a, std::int32_t b) { return wrap(raw(a) + raw(b)); }
};
struct Subtract {
  static float apply(float a, float b) { return a - b; }
  static std::int32_t apply(std::int32_t a, std::int32_t b) { return wrap(raw(a) - raw(b)); }
};
struct Multiply {
  static float apply(float a, float b) { return a * b; }
  static std::int32_t apply(std::int32_t a, std::int32_t b) { return wrap(raw(a) * raw(b)); }
};
struct Divide {
  static float apply(float a, float b) { return a / b; }
  static std::int32_t apply(std::int32_t a, std::int32_t b) {
    if (b == 0) return -1;
    if (b == -1) return wrap(0u - raw(a));
    return a / b;
  }
};
struct Maximum {
  static float apply(float a, float b) { return (a > b || a != a) ? a : b; }
  static std::int32_t apply(std::int32_t a, std::int32_t b) { return a > b ? a : b; }
};
struct Minimum {
  static float apply(float a, float b) { return (a < b || a != a) ? a : b; }
  static std::int32_t apply(std::int32_t a, std::int32_t b) { return a < b ? a : b; }
};
struct Power {
  static float apply(float a, float b) { return ::powf(a, b); }
};
struct And {
  static std::int32_t apply(std::int32_t a, std::int32_t b) { return a & b; }
  static std::uint8_t apply(std::uint8_t a, std::uint8_t b) { return a & b; }
};
struct Or {
  static std::int32_t apply(std::int32_t a, std::int32_t b) { return a | b; }
  static std::uint8_t apply(std::uint8_t a, std::uint8_t b) { return a | b; }
};

struct Equal {
  template <class T>
  static std::uint8_t apply(T a, T b) {
    return a == b;
  }
};
struct NotEqual {
  template <class T>
  static std::uint8_t apply(T a, T b) {
    return a != b;
  }
};
struct Less {
  template <class T>
  static std::uint8_t apply(T a, T b) {
    return a < b;
  }
};
struct LessEqual {
  template <class T>
  static std::uint8_t apply(T a, T b) {
    return a <= b;
  }
};
struct Greater {
  template <class T>
  static std::uint8_t apply(T a, T b) {
    return a > b;
  }
};
struct GreaterEqual {
  template <class T>
  static std::uint8_t apply(T a, T b) {
    return a >= b;
  }
};

struct Negate {
  static float apply(float a) { return -a; }
  static std::int32_t apply(std::int32_t a) { return wrap(0u - raw(a)); }
};
struct Abs {
  static float apply(float a) { return std::fabs(a); }
  static std::int32_t apply(std::int32_t a) { return a < 0 ? wrap(0u - raw(a)) : a; }
};
struct Not {
  static std::int32_t apply(std::int32_t a) { return ~a; }
  static std::uint8_t apply(std::uint8_t a) { return a ^ 1; }
};
struct Exponential {
  static float apply(float a) { return exponential(a); }
};
struct Logarithm {
  static float apply(float a) { return logarithm(a); }
};
struct SquareRoot {
  static float apply(float a) { return __builtin_sqrtf(a); }
};
struct ReciprocalSquareRoot {
  static float apply(float a) { return 1.0f / __builtin_sqrtf(a); }
};
struct HyperbolicTangent {
  static float apply(float a) { return hyperbolic_tangent(a); }
};

/// Conversions: floats are cut towards zero and saturate, NaN becomes 0; anything but 0 is true.
template <class To>
struct ConvertTo {
  template <class From>
  static To apply(From a) {
    return static_cast<To>(a);
  }
};
template <>
struct ConvertTo<std::int32_t> {
  static std::int32_t apply(std::int32_t a) { return a; }
  static std::int32_t apply(std::uint8_t a) { return a; }
  static std::int32_t apply(float a) {
    const float low = a < -2147483648.0f ? -2147483648.0f : a;
    const bool is_high = low >= 2147483648.0f;
    const bool is_number = a == a;
    const std::int32_t cut = static_cast<std::int32_t>(is_number && !is_high ? low : 0.0f);
    return is_high ? std::numeric_limits<std::int32_t>::max() : cut;
  }
};
template <>
struct ConvertTo<std::uint8_t> {
  template <class From>
  static std::uint8_t apply(From a) {
    return a != From(0);
  }
};

}  // namespace seaway::function::cpu::SEAWAY_KERNEL_LEVEL
