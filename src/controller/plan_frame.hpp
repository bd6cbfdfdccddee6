// A part plan as the message that defines it.

#pragma once

#include "base/frame.hpp"
#include "program/part_plan.hpp"
#include "seaway/status.hpp"

namespace seaway::controller {

/// A DefinePlan of `plan`. O(gangs of the plan): about 1 us each. Errors: kResourceExhausted above
/// `bytes_max`, with the numbers.
Result<Frame> plan_frame(const program::PartPlan& plan, std::size_t bytes_max);

}  // namespace seaway::controller
