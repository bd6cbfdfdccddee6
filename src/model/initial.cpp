// Initial values: seeded, and the same on every machine.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/random.hpp"
#include "seaway/model.hpp"

namespace seaway::model {
namespace {

std::size_t size_of(const Shape& shape) {
  const bool is_shape = std::all_of(shape.begin(), shape.end(), [](auto n) { return n >= 0; });
  return is_shape ? static_cast<std::size_t>(element_count(shape)) : 0;
}

/// In [0, 1): 24 bits, so that each value is exact in a float.
float unit(RandomStream& random) {
  return static_cast<float>(random.next() >> 40) * (1.0f / static_cast<float>(1 << 24));
}

}  // namespace

std::vector<float> uniform(const Shape& shape, float low, float high, std::uint64_t seed,
                           std::uint64_t name) {
  RandomStream random(seed, name);
  std::vector<float> values(size_of(shape));
  for (float& value : values) value = low + (high - low) * unit(random);
  return values;
}

std::vector<float> normal(const Shape& shape, float deviation, std::uint64_t seed,
                          std::uint64_t name) {
  RandomStream random(seed, name);
  std::vector<float> values(size_of(shape));
  for (float& value : values) {
    // Twelve uniform numbers have variance 1. Logarithms and cosines would differ in their last
    // bit between mathematical libraries; sums do not.
    float sum = -6.0f;
    for (int i = 0; i < 12; ++i) sum += unit(random);
    value = deviation * sum;
  }
  return values;
}

std::vector<float> he_normal(std::int64_t inputs, std::int64_t outputs, std::uint64_t seed,
                             std::uint64_t name) {
  const auto rows = static_cast<float>(std::max<std::int64_t>(inputs, 1));
  return normal({inputs, outputs}, std::sqrt(2.0f / rows), seed, name);
}

std::vector<float> glorot_uniform(std::int64_t inputs, std::int64_t outputs, std::uint64_t seed,
                                  std::uint64_t name) {
  const auto both = static_cast<float>(std::max<std::int64_t>(inputs + outputs, 1));
  const float limit = std::sqrt(6.0f / both);
  return uniform({inputs, outputs}, -limit, limit, seed, name);
}

std::vector<std::int32_t> permutation(std::int64_t count, std::uint64_t seed, std::uint64_t name) {
  RandomStream random(seed, name);
  std::vector<std::int32_t> order(static_cast<std::size_t>(std::max<std::int64_t>(count, 0)));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t left = order.size(); left > 1; --left) {
    std::swap(order[left - 1], order[random.below(left)]);
  }
  return order;
}

}  // namespace seaway::model
