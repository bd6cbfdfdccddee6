// Medians with their intervals, and bounds that are missed by a whole interval only.

#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace seaway::benchmarks {

/// So many pairs are measured at least before a ratio is held to a bound.
constexpr std::size_t kPairsMin = 30;

/// A median, and where that of all samples that could be taken lies with 95 % confidence.
struct Interval {
  double low = 0, median = 0, high = 0;
};

/// From the ranks of the samples, whatever their distribution: the interval between two of them has
/// the median in it with the probability that a binomial variable of half the samples is between
/// their ranks (Hahn and Meeker, Statistical Intervals, section 5.2, in its normal approximation).
/// Of fewer than 6 samples it is from the smallest to the largest; of none all is NaN.
Interval interval_of(std::vector<double> samples);

/// What a figure is held to.
struct Bound {
  enum class Side { kNone, kAtMost, kAtLeast };
  Side side = Side::kNone;
  double limit = 0;

  static Bound at_most(double limit) { return {Side::kAtMost, limit}; }
  static Bound at_least(double limit) { return {Side::kAtLeast, limit}; }
  /// The whole interval is on the wrong side; so is one that is not a number.
  bool is_missed_by(const Interval& interval) const;
  /// "<= 2"; "" of none.
  std::string to_string() const;
};

}  // namespace seaway::benchmarks
