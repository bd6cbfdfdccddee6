// What a live array costs beside its data, and what a cluster costs that has nothing to do.

#pragma once

#include "benchmarks/benchmarks.hpp"

namespace seaway::benchmarks {

Status run_arrays(const BenchOptions& options, BenchReport& report);

}  // namespace seaway::benchmarks
