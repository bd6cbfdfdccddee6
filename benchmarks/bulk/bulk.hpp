// How fast values change hands between the hosts of two islands.

#pragma once

#include "benchmarks/benchmarks.hpp"
#include "seaway/host_main.hpp"

namespace seaway::benchmarks {

Status run_bulk(const BenchOptions& options, BenchReport& report);

/// What the hosts of the cluster that is measured have to know.
void register_bulk(Registry& registry);

}  // namespace seaway::benchmarks
