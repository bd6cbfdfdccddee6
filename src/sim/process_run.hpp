// run_process_seed: one world whose roles are processes that fail, and the verdict on it.

#pragma once

#include <cstdint>

#include "sim/process_faults.hpp"
#include "sim/seed_run.hpp"
#include "sim/world.hpp"

namespace seaway::sim {

/// As run_seed(), of a world of processes: first faults, while clients work; then everything is
/// whole again, and all clients come to their ends in bounded time; then all that they had is gone.
SeedReport run_process_seed(std::uint64_t seed, const SeedOptions& options = {});

/// Its parts: the world of a seed, and a run of it with faults of one's own.
World make_process_world(std::uint64_t seed, bool is_wild = false);
SeedReport run_process_world(const World& world, ProcessFaults faults,
                             const SeedOptions& options = {});

}  // namespace seaway::sim
