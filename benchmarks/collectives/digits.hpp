// How fast a model learns whose islands are several processes, beside one process.

#pragma once

#include "benchmarks/benchmarks.hpp"

namespace seaway::benchmarks {

/// The demo `digits` on two islands of two hosts each, and embedded, in turns. An error: the one is
/// too slow beside the other, or one of them fails.
Status run_digits(const BenchOptions& options, BenchReport& report);

}  // namespace seaway::benchmarks
