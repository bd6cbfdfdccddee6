// SchedulePolicy: how a simulated run picks the next one among all that could run.

#pragma once

#include <cstdint>
#include <string_view>

namespace seaway::actor {

/// How the next one among all that could run is picked. All are fair in the end: time stands still
/// while anything can run.
enum class SchedulePolicy : std::uint8_t {
  kUniform,     // Each with the same probability.
  kFifo,        // Actors in the order in which they became ready; others in between.
  kStarveOne,   // Uniform, but one runs only when nothing else can.
  kPriorities,  // The highest of random priorities, with a few random changes on the way.
  kSticky,      // Mostly the same as in the step before, for as long as it can run.
};
/// "uniform".
std::string_view to_string(SchedulePolicy policy);

}  // namespace seaway::actor
