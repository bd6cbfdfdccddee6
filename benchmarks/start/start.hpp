// How long a cold process takes to its first value.

#pragma once

#include "benchmarks/benchmarks.hpp"

namespace seaway::benchmarks {

Status run_start(const BenchOptions& options, BenchReport& report);

/// What the cold process does: starts an embedded cluster, runs one program, writes one byte to
/// standard output as soon as it has its value. Returns what the process exits with: 0 when the
/// value is right.
int first_result();

}  // namespace seaway::benchmarks
