// Looking gangs up in their plans.

#include "sim/surroundings.hpp"

#include <algorithm>

namespace seaway::sim {

std::uint32_t index_of(const program::PartPlan& plan, std::uint32_t position) {
  const auto found = std::lower_bound(
      plan.gangs.begin(), plan.gangs.end(), position,
      [](const program::Gang& gang, std::uint32_t wanted) { return gang.position < wanted; });
  if (found == plan.gangs.end() || found->position != position) return program::kNone;
  return static_cast<std::uint32_t>(found - plan.gangs.begin());
}

std::vector<DeviceId> devices_of(const program::PartPlan& plan, std::uint32_t index) {
  const program::Gang& gang = plan.gangs[index];
  std::vector<DeviceId> devices = plan.groups[gang.group].devices;
  if (gang.source_group == program::kNone) return devices;
  for (const DeviceId device : plan.groups[gang.source_group].devices) {
    if (std::find(devices.begin(), devices.end(), device) == devices.end()) {
      devices.push_back(device);
    }
  }
  return devices;
}

std::string gang_name(IslandId island, Stamp stamp, std::uint32_t position) {
  return "gang " + std::to_string(position) + " of stamp " + std::to_string(stamp) + " on island " +
         std::to_string(island);
}

}  // namespace seaway::sim
