// Trial: one world in a process of its own, which may crash or go on for ever.

#pragma once

#include <cstdint>
#include <functional>

#include "campaign/outcome.hpp"
#include "sim/seed_run.hpp"

namespace seaway::campaign {

/// Runs one world. In a process that is forked: what it changes nobody sees.
using RunWorld = std::function<sim::SeedReport(const sim::SeedOptions& options)>;

/// Longer than any world takes, in seconds of a processor and in all; and more memory than any
/// needs.
struct TrialLimits {
  std::uint64_t cpu_s = 60;
  unsigned wait_s = 300;
  std::uint64_t memory_bytes = kMemoryBytes;  // 0: no limit.

#if defined(__SANITIZE_ADDRESS__)
  static constexpr std::uint64_t kMemoryBytes = 0;  // Its shadow alone is larger.
#else
  static constexpr std::uint64_t kMemoryBytes = std::uint64_t{8} << 30;
#endif
};

/// Forks, runs the world there with `edits`, and returns what came of it. A crash, or an end at one
/// of the limits, is a failure, with the last words of the process. The caller has one thread.
/// About 2 ms beside the world's own time.
Outcome run_trial(const RunWorld& run, const sim::Edits& edits, const TrialLimits& limits = {});

/// How large the world is that crashes: it is run in another process up to its first event.
sim::FailedWorld planned_world(const RunWorld& run, const sim::Edits& edits);

}  // namespace seaway::campaign
