// One after the other.

#include "benchmarks/support/pairs.hpp"

namespace seaway::benchmarks {

Result<Pairs> measure_pairs(int pairs, const Measure& first, const Measure& second) {
  Pairs measured;
  for (int i = -1; i < pairs; ++i) {
    const auto one = first();
    if (!one.ok()) return one.status();
    const auto other = second();
    if (!other.ok()) return other.status();
    if (i < 0) continue;
    measured.first.push_back(*one);
    measured.second.push_back(*other);
    measured.ratio.push_back(*one / *other);
  }
  return measured;
}

}  // namespace seaway::benchmarks
