// What does one reading of the clock cost? Events and deadlines read it on the hot path.

#pragma once

#include "benchmarks/benchmarks.hpp"

namespace seaway::benchmarks {

/// Reports `clock.ns_per_read` for RealClock, and for the standard library's clock beside it.
Status run_clock(const BenchOptions& options, BenchReport& report);

}  // namespace seaway::benchmarks
