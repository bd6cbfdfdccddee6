// What users' actors cost: calls, sends, spawns, beside CAF's own actors with the same frames.

#pragma once

#include "benchmarks/benchmarks.hpp"

namespace seaway::benchmarks {

Status run_actors(const BenchOptions& options, BenchReport& report);

}  // namespace seaway::benchmarks
