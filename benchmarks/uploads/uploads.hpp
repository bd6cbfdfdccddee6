// Whether fresh input in each step keeps a device waiting.

#pragma once

#include "benchmarks/benchmarks.hpp"

namespace seaway::benchmarks {

Status run_uploads(const BenchOptions& options, BenchReport& report);

}  // namespace seaway::benchmarks
