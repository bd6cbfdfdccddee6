// The order of each island, followed on each of its devices.

#include "sim/gang_checker.hpp"

#include <string>

namespace seaway::sim {

using events::Event;
using events::EventKind;

void GangChecker::record(const Event& event) {
  switch (event.kind) {
    case EventKind::kLaunch:
      return launch(event);
    case EventKind::kPlace:
      return place(event);
    case EventKind::kGangStart:
      return start(event, true);
    case EventKind::kGangNoop:
      return start(event, false);
    case EventKind::kGangEnd:
      return end(event);
    case EventKind::kView:
      return begin_view(event.island);
    default:
      return;
  }
}

void GangChecker::launch(const Event& event) {
  Stamp& last = last_launch_[event.island];
  if (event.stamp <= last) {
    verdict_.report(Breach::kCorrectness, "I4",
                    "stamp " + std::to_string(event.stamp) + " was launched on island " +
                        std::to_string(event.island) + " behind stamp " + std::to_string(last));
  }
  last = event.stamp;
}

void GangChecker::place(const Event& event) {
  Placed& placed = placed_[event.island];
  for (std::uint64_t position = event.position; position < event.value; ++position) {
    const Gang gang{event.stamp, static_cast<std::uint32_t>(position)};
    if (!placed.order.emplace(gang, ++placed.size).second) {
      verdict_.report(Breach::kCorrectness, "I4",
                      gang_name(event.island, gang.first, gang.second) + " was placed twice");
    }
  }
}

/// A part that its host does not know any more has had all its turns.
void GangChecker::begin_view(IslandId island) {
  std::erase_if(placed_[island].order, [this, island](const auto& entry) {
    const Gang& gang = entry.first;
    if (seen_.contains({island, gang})) return false;
    return gang.second >= surroundings_.part_of(island, gang.first).gangs_placed;
  });
}

void GangChecker::start(const Event& event, bool runs) {
  const std::string name = gang_name(event.island, event.stamp, event.position);
  const program::PartPlan* const plan = surroundings_.part_of(event.island, event.stamp).plan;
  const std::uint32_t index = plan == nullptr ? program::kNone : index_of(*plan, event.position);
  if (index == program::kNone) {
    verdict_.report(Breach::kCorrectness, "I4", name + " took its turn, but its part is not known");
    return;
  }
  const Gang gang{event.stamp, index};
  if (!seen_.emplace(event.island, gang).second) {
    verdict_.report(Breach::kCorrectness, "I5", name + " took its turn twice");
    return;
  }
  const Placed& placed = placed_[event.island];
  const auto found = placed.order.find(gang);
  if (found == placed.order.end()) {
    verdict_.report(Breach::kCorrectness, "I4", name + " took its turn, but was never placed");
    return;
  }
  std::vector<DeviceId> devices = devices_of(*plan, index);
  for (const DeviceId device : devices) {
    turn({event.island, device}, name, found->second, gang, runs);
  }
  if (runs) started_[{event.island, {event.stamp, event.position}}] = std::move(devices);
}

void GangChecker::turn(Place where, const std::string& name, std::uint64_t order, const Gang& gang,
                       bool runs) {
  const std::string on_device = " on device " + std::to_string(where.second);
  std::uint64_t& last = last_start_[where];
  if (order <= last) {
    verdict_.report(Breach::kCorrectness, "I4",
                    name + ", number " + std::to_string(order) + " of the order, took its turn" +
                        on_device + " behind number " + std::to_string(last));
  }
  last = order;
  const auto other = running_.find(where);
  if (other != running_.end()) {
    verdict_.report(Breach::kCorrectness, "I17",
                    name + " took its turn" + on_device + " while " +
                        gang_name(where.first, other->second.first, other->second.second) +
                        " ran there");
  }
  if (runs) running_[where] = gang;
}

void GangChecker::end(const Event& event) {
  const Gang gang{event.stamp, event.position};
  const auto found = started_.find({event.island, gang});
  if (found == started_.end()) {
    verdict_.report(
        Breach::kCorrectness, "I5",
        gang_name(event.island, event.stamp, event.position) + " ended, but did not run");
    return;
  }
  for (const DeviceId device : found->second) {
    running_.erase({event.island, device});
    ++ended_[{event.island, device}];
  }
  started_.erase(found);
}

void GangChecker::finish() {
  for (const auto& [key, devices] : started_) {
    verdict_.report(Breach::kLiveness, "I5",
                    gang_name(key.first, key.second.first, key.second.second) + " never ended");
  }
  for (const auto& [island, placed] : placed_) {
    for (const auto& [gang, order] : placed.order) {
      if (seen_.contains({island, gang})) continue;
      verdict_.report(Breach::kLiveness, "I4",
                      gang_name(island, gang.first, gang.second) + ", number " +
                          std::to_string(order) + " of the order, never took its turn");
    }
    for (DeviceId device = 0; device < surroundings_.devices; ++device) {
      const std::uint64_t counted = surroundings_.gangs_of(island, device);
      const std::uint64_t ended = ended_[{island, device}];
      if (counted == ended) continue;
      verdict_.report(Breach::kCorrectness, "I20",
                      "device " + std::to_string(device) + " of island " + std::to_string(island) +
                          " ran " + std::to_string(ended) + " gangs, but its statistics say " +
                          std::to_string(counted));
    }
  }
}

}  // namespace seaway::sim
