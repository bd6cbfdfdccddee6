// Two figures that are measured in turns, so that whatever else a machine does meets both alike.

#pragma once

#include <functional>
#include <vector>

#include "seaway/status.hpp"

namespace seaway::benchmarks {

struct Pairs {
  std::vector<double> first, second, ratio;  // Of each pair; first by second.
};

using Measure = std::function<Result<double>()>;

/// `pairs` pairs, and one before them that warms up both and does not count. Errors: the first one
/// of a measurement.
Result<Pairs> measure_pairs(int pairs, const Measure& first, const Measure& second);

}  // namespace seaway::benchmarks
