// run_process_seed: one world whose roles are processes that fail, and the verdict on it.

#pragma once

#include <cstdint>

#include "sim/seed_run.hpp"

namespace seaway::sim {

/// As run_seed(), of a world of processes: first faults, while clients work; then everything is
/// whole again, and all clients come to their ends in bounded time; then all that they had is gone.
SeedReport run_process_seed(std::uint64_t seed, const SeedOptions& options = {});

}  // namespace seaway::sim
