// Kinds of faults, and the errors that users are promised for them.

#include "sim/tester_deeds.hpp"

#include <algorithm>

namespace seaway::sim {
namespace {

template <class Faults>
void add(TesterDeeds& deeds, const Faults& faults, CodeSet codes) {
  for (const auto& fault : faults) {
    deeds.first_fault_ns = std::min(deeds.first_fault_ns, fault.at_ns);
    deeds.last_fault_ns = std::max(deeds.last_fault_ns, fault.at_ns);
  }
  if (!faults.empty()) deeds.faults_cause |= codes;
}

}  // namespace

TesterDeeds deeds_of(const World& world) {
  constexpr CodeSet kLoss = {StatusCode::kDeviceLost, StatusCode::kInputLost,
                             StatusCode::kMaybeExecuted};
  TesterDeeds deeds;
  const DeviceFaults& faults = world.faults;
  add(deeds, faults.losses, kLoss);
  add(deeds, faults.hangs, kLoss);
  if (!faults.hangs.empty()) deeds.faults_cause |= {StatusCode::kDeadlineExceeded};
  // Up to three launches that fail are tried again.
  add(deeds, faults.stutters, kLoss);
  add(deeds, faults.shortages, {StatusCode::kResourceExhausted, StatusCode::kInputLost});
  constexpr CodeSet kWrongBits = {StatusCode::kDataCorruption, StatusCode::kInputLost,
                                  StatusCode::kDeviceLost, StatusCode::kMaybeExecuted};
  add(deeds, faults.flips, kWrongBits);
  add(deeds, faults.rots, kWrongBits);
  if (world.spill.read_error + world.spill.flip > 0) {
    deeds.first_fault_ns = 0;
    deeds.faults_cause |= {StatusCode::kDataCorruption, StatusCode::kInputLost};
  }
  deeds.flips_unseen = !faults.flips.empty() && world.cluster.integrity.replay_per_mille < 1000;
  // Devices that hang are given up one after the other.
  deeds.settle_ns += faults.hangs.size() * 2 * world.cluster.gang_timeout_ns;
  if (world.is_memory_tight || world.is_flooded) {
    deeds.waits_for_room = true;
    deeds.room_causes = {StatusCode::kResourceExhausted};
  }
  if (world.is_memory_tight) {
    deeds.room_causes |= {StatusCode::kInputLost, StatusCode::kDeadlineExceeded};
  }
  return deeds;
}

TesterDeeds deeds_of(const World& world, const ProcessFaults& faults, bool is_point_struck) {
  constexpr CodeSet kLoss = {
      StatusCode::kHostLost,      StatusCode::kIslandUnavailable, StatusCode::kControllerRestarted,
      StatusCode::kMaybeExecuted, StatusCode::kInputLost,         StatusCode::kDeadlineExceeded,
      StatusCode::kDeviceLost};
  TesterDeeds deeds = deeds_of(world);
  add(deeds, faults.faults, kLoss);
  const auto& wires = faults.wires.faults;
  if (is_point_struck || wires.cut + wires.half_open + wires.flip + wires.repeat > 0) {
    deeds.first_fault_ns = 0;
    deeds.faults_cause |= kLoss;
  }
  deeds.last_fault_ns = std::max(deeds.last_fault_ns, faults.end_ns);
  return deeds;
}

}  // namespace seaway::sim
