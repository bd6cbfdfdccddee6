// A part plan as the message that defines it at schedulers and hosts.

#pragma once

#include "base/frame.hpp"
#include "program/part_plan.hpp"
#include "seaway/status.hpp"

namespace seaway::program {

/// A DefinePlan of `plan`. O(gangs of the plan): about 1 us each. Any thread. Errors:
/// kResourceExhausted above `bytes_max`, with the numbers.
Result<Frame> encode_plan_frame(const PartPlan& plan, std::size_t bytes_max);

/// The plan of a DefinePlan, validated. O(gangs of the plan); any thread. Errors: kProtocolError.
Result<PartPlanPtr> decode_plan_frame(const Frame& frame);

}  // namespace seaway::program
