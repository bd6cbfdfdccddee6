// Plan: a schedule with a place for every value.

#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "function/cpu_schedule.hpp"

namespace seaway::function::cpu {

/// Steps ready to run, and what they need.
struct Plan {
  std::vector<Step> steps;
  std::size_t scratch_bytes = 0;
  /// (output, operand) pairs that must not be the same memory: the output is written before the
  /// operand is read for the last time.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> hazards;
};

/// Places values: outputs where they can be written at once, all else in scratch, packed by
/// liveness in 64-byte units, elementwise results on operands that die. Outputs marked in
/// `staged` (one flag per output; may be empty) are made in scratch and copied at the very end.
Plan make_plan(const Schedule& schedule, const std::vector<bool>& staged);

/// A plan without hazards: stages as many outputs as it takes.
Plan make_plan_for_donation(const Schedule& schedule);

}  // namespace seaway::function::cpu
