// `seaway chaos real`: faults of real processes, as a seed has planned them, and what came of it.

#pragma once

#include "campaign/real_plan.hpp"

namespace seaway::tools {

struct ChaosRealOptions {
  campaign::RealPlanOptions plan;
  bool is_json = false, is_quiet = false;
};

/// Starts a cluster and clients, harms them for as long as the plan says, and judges what clients
/// got. Returns 0, or kChaosUsage, kChaosLiveness or kChaosCorrectness of the simulator's codes (1,
/// 128, 129).
int run_chaos_real(const ChaosRealOptions& options);

}  // namespace seaway::tools
