// What may follow what.

#include "sim/checkers.hpp"

#include <string>
#include <tuple>

namespace seaway::sim {
namespace {

using events::Event;
using events::EventKind;

std::string gang_name(IslandId island, Stamp stamp, std::uint32_t position) {
  return "gang " + std::to_string(position) + " of stamp " + std::to_string(stamp) + " on island " +
         std::to_string(island);
}

}  // namespace

void OutcomeChecker::record(const Event& event) {
  if (event.kind == EventKind::kSubmit) {
    if (!outcomes_.emplace(event.object, 0).second) {
      verdict_.report(Breach::kCorrectness, "I2",
                      "run " + std::to_string(event.object) + " was submitted twice");
    }
  } else if (event.kind == EventKind::kResolve) {
    const auto found = outcomes_.find(event.object);
    if (found == outcomes_.end()) {
      verdict_.report(Breach::kCorrectness, "I2",
                      "run " + std::to_string(event.object) + " has an outcome but no submission");
    } else if (++found->second > 1) {
      verdict_.report(Breach::kCorrectness, "I2",
                      "run " + std::to_string(event.object) + " has two outcomes");
    }
  }
}

void OutcomeChecker::finish() {
  for (const auto& [run, outcomes] : outcomes_) {
    if (outcomes == 0) {
      verdict_.report(Breach::kLiveness, "I2",
                      "run " + std::to_string(run) + " never had an outcome");
    }
  }
}

void GangChecker::record(const Event& event) {
  if (event.kind == EventKind::kPlace) {
    place(event);
  } else if (event.kind == EventKind::kGangStart || event.kind == EventKind::kGangNoop) {
    start(event, event.kind == EventKind::kGangStart);
  } else if (event.kind == EventKind::kGangEnd) {
    end(event);
  }
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

void GangChecker::start(const Event& event, bool runs) {
  const std::string name = gang_name(event.island, event.stamp, event.position);
  const auto* const devices = surroundings_.devices_of(event.island, event.stamp, event.place);
  if (devices == nullptr) {
    verdict_.report(Breach::kCorrectness, "I4", name + " started, but its part is not known");
    return;
  }
  const Gang gang{event.stamp, surroundings_.index_of(event.island, event.stamp, event.position)};
  if (!seen_.emplace(event.island, gang).second) {
    verdict_.report(Breach::kCorrectness, "I5", name + " took its turn twice");
    return;
  }
  const Placed& placed = placed_[event.island];
  const auto found = placed.order.find(gang);
  if (found == placed.order.end()) {
    verdict_.report(Breach::kCorrectness, "I4", name + " started, but was never placed");
    return;
  }
  for (const DeviceId device : *devices) {
    const Place where{event.island, device};
    if (found->second <= last_start_[where]) {
      verdict_.report(Breach::kCorrectness, "I4",
                      name + " started on device " + std::to_string(device) +
                          " behind one that was placed later");
    }
    last_start_[where] = found->second;
    if (running_.contains(where)) {
      const Gang& other = running_[where];
      verdict_.report(Breach::kCorrectness, "I17",
                      name + " started on device " + std::to_string(device) + " while " +
                          gang_name(event.island, other.first, other.second) + " ran there");
    }
    if (runs) running_[where] = gang;
  }
  if (runs) started_[{event.island, {event.stamp, event.position}}] = *devices;
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
  for (const DeviceId device : found->second) running_.erase({event.island, device});
  started_.erase(found);
}

void GangChecker::finish() {
  for (const auto& [key, devices] : started_) {
    verdict_.report(Breach::kLiveness, "I5",
                    gang_name(key.first, key.second.first, key.second.second) + " never ended");
  }
}

void MemoryChecker::record(const Event& event) {
  for (DeviceId device = 0; device < surroundings_.devices; ++device) {
    const auto [used, budget] = surroundings_.memory_of(event.island, device);
    if (used > budget) {
      verdict_.report(Breach::kCorrectness, "I11",
                      "device " + std::to_string(device) + " of island " +
                          std::to_string(event.island) + " holds " + std::to_string(used) +
                          " bytes of " + std::to_string(budget));
    }
  }
  const std::pair<IslandId, ArrayId> key{event.island, event.object};
  const std::string name = "array " + std::to_string(event.object);
  const auto found = arrays_.find(key);
  const auto complain = [this, &name](const char* what) {
    verdict_.report(Breach::kCorrectness, "I9", name + " " + what);
  };
  switch (event.kind) {
    case EventKind::kArrayAllocate:
      if (found != arrays_.end()) complain("was allocated twice");
      arrays_[key] = State::kOnDevice;
      break;
    case EventKind::kUpload:
      if (found != arrays_.end()) complain("was uploaded twice");
      arrays_[key] = State::kOnHost;
      break;
    case EventKind::kArrayLoad:
      if (found == arrays_.end() || found->second != State::kOnHost) {
        complain("was loaded, but was not in host room");
      }
      arrays_[key] = State::kOnDevice;
      break;
    case EventKind::kArraySpill:
      if (found == arrays_.end() || found->second != State::kOnDevice) {
        complain("was spilled, but was not on its devices");
      }
      arrays_[key] = State::kOnHost;
      break;
    case EventKind::kArrayFree:
      if (found == arrays_.end()) complain("was freed, but did not exist");
      arrays_.erase(key);
      break;
    default:
      break;
  }
}

void MemoryChecker::finish() {
  for (const auto& [key, state] : arrays_) {
    // An array that was freed while it lay in host room gives no device memory back.
    if (state != State::kOnDevice) continue;
    verdict_.report(Breach::kCorrectness, "I9",
                    "array " + std::to_string(key.second) + " on island " +
                        std::to_string(key.first) + " was never freed");
  }
}

void EdgeChecker::record(const Event& event) {
  if (event.kind == EventKind::kSend) {
    auto& [sent, received] = edges_[{event.stamp, event.position, event.place}];
    ++sent;
  } else if (event.kind == EventKind::kReceive) {
    auto& [sent, received] = edges_[{event.stamp, event.position, event.island}];
    ++received;
    if (received > 1 || sent == 0) {
      verdict_.report(Breach::kCorrectness, "I6",
                      "edge " + std::to_string(event.position) + " of stamp " +
                          std::to_string(event.stamp) + " was received " +
                          std::to_string(received) + " times and sent " + std::to_string(sent) +
                          " times");
    }
  }
}

}  // namespace seaway::sim
