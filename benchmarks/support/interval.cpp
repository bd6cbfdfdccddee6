// Ranks of the interval, and on which side of a bound it is.

#include "benchmarks/support/interval.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

namespace seaway::benchmarks {
namespace {

constexpr double kNormalQuantile = 1.96;  // Of 97.5 %.

}  // namespace

Interval interval_of(std::vector<double> samples) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  if (samples.empty()) return {kNan, kNan, kNan};
  std::sort(samples.begin(), samples.end());
  const std::size_t count = samples.size();
  const double half = static_cast<double>(count) / 2;
  const double reach = kNormalQuantile * std::sqrt(static_cast<double>(count)) / 2;
  const auto low = static_cast<std::size_t>(std::max(0.0, std::floor(half - reach)));
  const double middle =
      count % 2 == 1 ? samples[count / 2] : (samples[count / 2 - 1] + samples[count / 2]) / 2;
  return {samples[low], middle, samples[count - 1 - low]};
}

bool Bound::is_missed_by(const Interval& interval) const {
  if (side == Side::kNone) return false;
  return side == Side::kAtMost ? !(interval.low <= limit) : !(interval.high >= limit);
}

std::string Bound::to_string() const {
  if (side == Side::kNone) return "";
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%s %g", side == Side::kAtMost ? "<=" : ">=", limit);
  return text.data();
}

}  // namespace seaway::benchmarks
