// How long a blocking caller waits for the value of a run of one gang.

#pragma once

#include "benchmarks/benchmarks.hpp"

namespace seaway::benchmarks {

Status run_run(const BenchOptions& options, BenchReport& report);

}  // namespace seaway::benchmarks
