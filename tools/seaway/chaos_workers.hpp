// Chaos in several processes: each runs every so-many-th seed, and one puts the outcomes in order.

#pragma once

#include <cstdint>

#include "base/clock.hpp"
#include "sim/chaos.hpp"

namespace seaway::tools {

/// Runs the seeds of `options` in `jobs` processes of this program, and prints what one process
/// would print: outcomes are reported in the order of the seeds. A process that crashes is its
/// seed's verdict. Processes end with this one. Returns an exit code.
int run_chaos_workers(const sim::ChaosOptions& options, std::uint32_t jobs, const Clock& clock);

/// Runs each seed in two processes, and compares what they came to: 130 when two differ. `jobs`
/// pairs at once. A process has its own addresses, so that none of them can be what the seeds agree
/// on.
int run_chaos_twice(const sim::ChaosOptions& options, std::uint32_t jobs, const Clock& clock);

/// What such a process does: seeds first, first + stride, .. up to last; one record each to
/// standard output. Ends with its parent.
int run_chaos_worker(const sim::ChaosOptions& options, std::uint64_t stride);

}  // namespace seaway::tools
