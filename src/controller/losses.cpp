// Lost devices: which slices leave them, and what the runs of those that cannot end with.

#include <algorithm>

#include "controller/records.hpp"

namespace seaway::controller {

void ControllerCore::device_lost(IslandId island, DeviceId device, const Status& cause) {
  if (!binder_.lose(island, device)) return;
  lost_devices_.emplace(std::pair(island, device), cause);
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

/// A slice that lies on a lost device is bound anew. What it has in flight comes to its end first:
/// its gangs fail there. While it moves already, its new devices are looked at when it has moved.
void ControllerCore::displace(Slice& slice) {
  if (slice.is_released || slice.moves_in_flight > 0 || !slice.failure.ok()) return;
  if (loss_of(slice.binding)) slice.is_displaced = true;
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
    return {loss.code(), "program " + program.graph.name + " uses slice " +
                             std::to_string(sequence_of(id)) + ", but " + loss.message() +
                             ", and no other device can take its place; release the slice, acquire "
                             "another and capture the program anew"};
  }
  return {};
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
