// `seaway chaos real`: faults of real processes, as a seed has planned them, and what came of it.

#pragma once

#include <cstdint>
#include <string>

#include "campaign/real_plan.hpp"

namespace seaway::tools {

struct ChaosRealOptions {
  campaign::RealPlanOptions plan;
  /// P1, of a hang or a partition; of a kill half of it. Two seconds more are for a busy machine.
  std::uint64_t bound_ns = 10'000'000'000;
  std::string add_file;  // To whose counts those of this run are added; empty: to none.
  bool is_json = false, is_quiet = false;
};

/// Starts a cluster and clients, harms them for as long as the plan says, and judges what clients
/// got and what is left. Returns 0, or kChaosUsage, kChaosCrash, kChaosLiveness or
/// kChaosCorrectness of the simulator's codes (1, 127, 128, 129). A signal that ends this process
/// ends it when all of the campaign is gone.
int run_chaos_real(const ChaosRealOptions& options);

}  // namespace seaway::tools
