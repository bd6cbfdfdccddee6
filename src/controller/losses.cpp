// Lost devices: which slices leave them, and what runs end with that a loss fails.

#include <algorithm>

#include "base/probe.hpp"
#include "controller/records.hpp"

namespace seaway::controller {

void ControllerCore::device_lost(IslandId island, DeviceId device, const Status& cause) {
  if (!lost_devices_.emplace(std::pair(island, device), cause).second) return;
  binder_.lose(island, device);  // Which it may have been before, as its island is drained.
  for (const auto& [id, slice] : slices_) displace(*slice);
}

/// What became of the first device of `binding` that is lost; null when all of them are there.
const Status* ControllerCore::loss_of(const program::Binding& binding) const {
  if (lost_devices_.empty()) return nullptr;
  for (const DeviceId device : binding.devices) {
    const auto found = lost_devices_.find({binding.island, device});
    if (found != lost_devices_.end()) return &found->second;
  }
  return nullptr;
}

/// A slice that lies on a lost device, or on an island that is drained, is bound anew. What it has
/// in flight comes to its end first: its gangs fail there. While it moves already, its new devices
/// are looked at when it has moved.
void ControllerCore::displace(Slice& slice) {
  SEAWAY_PROBE_IF(slice.moves_in_flight > 0, "a device is lost while a slice moves");
  if (slice.is_released || slice.moves_in_flight > 0 || !slice.failure.ok()) return;
  SEAWAY_PROBE_IF(loss_of(slice.binding), "a slice lies on a lost device");
  if (loss_of(slice.binding)) slice.is_displaced = true;
  if (is_draining(slice.binding.island)) slice.is_displaced = true;
}

/// Why no run of `program` can succeed any more; OK as long as all its slices have their devices.
Status ControllerCore::lost_slice(const Program& program) const {
  if (lost_devices_.empty()) return {};
  for (const auto& [id, generation] : program.generations) {
    const auto slice = slices_.find(id);
    if (slice == slices_.end()) continue;
    // One that was released is not bound anew.
    const Status* const released =
        slice->second->is_released ? loss_of(slice->second->binding) : nullptr;
    if (!released && slice->second->failure.ok()) continue;
    const Status& loss = released ? *released : slice->second->failure;
    SEAWAY_PROBE("a run wants a slice that has no devices any more");
    return {loss.code(), "program " + program.graph.name + " uses slice " +
                             std::to_string(sequence_of(id)) + ", but " + loss.message() +
                             ", and no other device can take its place; release the slice, acquire "
                             "another and capture the program anew"};
  }
  return {};
}

/// What a run that a loss fails ends with. A function with effects may have run on `island`, and
/// nobody is left who could say; without an island: anywhere, which is also what lost devices use.
Status ControllerCore::loss_of_run(const Run& run, std::size_t open, std::optional<IslandId> island,
                                   const Status& cause) const {
  for (const program::PartPlanPtr& plan : run.program->plans[run.open_segments[open]]) {
    if (island && plan->island != *island) continue;
    for (const program::Gang& gang : plan->gangs) {
      if (gang.kind != program::Gang::Kind::kCompute) continue;
      const auto function = functions_.find(gang.function);
      if (function == functions_.end() || function->second->info.idempotent) continue;
      SEAWAY_PROBE("a function with effects may have run or not");
      return {StatusCode::kMaybeExecuted,
              "function " + function->second->info.name +
                  ", which is not idempotent, may have run or not: " + cause.message() +
                  "; look at what it has an effect on before it is run again"};
    }
  }
  return cause;
}

std::vector<SliceId> ControllerCore::slices_on(IslandId island, DeviceId device) const {
  const auto has = [island, device](const program::Binding& binding) {
    return binding.island == island &&
           std::count(binding.devices.begin(), binding.devices.end(), device) > 0;
  };
  std::vector<SliceId> found;
  for (const auto& [id, slice] : slices_) {
    if (has(slice->binding) || (slice->moves_in_flight > 0 && has(slice->target))) {
      found.push_back(id);
    }
  }
  return found;
}

}  // namespace seaway::controller
