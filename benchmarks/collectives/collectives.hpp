// All-reduces between the hosts of an island.

#pragma once

#include "benchmarks/benchmarks.hpp"

namespace seaway::benchmarks {

Status run_collectives(const BenchOptions& options, BenchReport& report);

}  // namespace seaway::benchmarks
