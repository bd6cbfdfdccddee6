// How soon a death is known, and how soon what died works again.

#pragma once

#include "benchmarks/benchmarks.hpp"

namespace seaway::benchmarks {

Status run_deaths(const BenchOptions& options, BenchReport& report);

}  // namespace seaway::benchmarks
