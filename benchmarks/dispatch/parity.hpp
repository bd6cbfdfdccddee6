// How long a kernel must be for its dispatch to be hidden: the paper's Figure 6, for real here.

#pragma once

#include <cstdint>

#include "benchmarks/benchmarks.hpp"

namespace seaway::benchmarks {

/// Finds by bisection the shortest kernel time at which steps of a kernel on each device and one
/// all-reduce reach 95 % of the rate of the multi-controller loop, and reports it in microseconds
/// as dispatch.parity_us. Errors: whatever a run failed with.
Status measure_parity(std::uint32_t devices, const BenchOptions& options, BenchReport& report);

}  // namespace seaway::benchmarks
