// A chain of stages, each on an island whose roles are processes of their own.

#pragma once

#include "benchmarks/benchmarks.hpp"

namespace seaway::benchmarks {

/// Reports `stages.chain_us`, the time from a call to its value, of 1 to 16 stages dispatched in
/// parallel and one by one, and `stages.parallel_over_sequential`; the same with time added to each
/// link between processes; and how many frames have to follow one another, `stages.hops`. Errors:
/// whatever the cluster fails with; a value that is not the right one.
Status run_stages(const BenchOptions& options, BenchReport& report);

}  // namespace seaway::benchmarks
