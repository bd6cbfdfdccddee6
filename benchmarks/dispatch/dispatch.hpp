// What dispatching a gang costs, in each mode, beside a CAF request and a multi-controller loop.

#pragma once

#include "benchmarks/benchmarks.hpp"

namespace seaway::benchmarks {

Status run_dispatch(const BenchOptions& options, BenchReport& report);

}  // namespace seaway::benchmarks
