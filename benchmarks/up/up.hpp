// How soon a cluster of processes is there, and what it costs while it does nothing.

#pragma once

#include "benchmarks/benchmarks.hpp"

namespace seaway::benchmarks {

Status run_up(const BenchOptions& options, BenchReport& report);

}  // namespace seaway::benchmarks
