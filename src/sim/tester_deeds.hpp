// What was done to a world, as the history checker is told: when, and which errors may come of it.

#pragma once

#include "sim/history.hpp"
#include "sim/process_faults.hpp"
#include "sim/world.hpp"

namespace seaway::sim {

/// Devices, memory and room.
TesterDeeds deeds_of(const World& world);
/// The same, and processes and wires. `is_point_struck`: fault points have cut connections or
/// killed.
TesterDeeds deeds_of(const World& world, const ProcessFaults& faults, bool is_point_struck);

}  // namespace seaway::sim
