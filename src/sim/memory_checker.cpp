// Arrays as they come and go, and the sums over each device.

#include "sim/memory_checker.hpp"

namespace seaway::sim {

using events::Event;
using events::EventKind;

void MemoryChecker::complain(const char* invariant, const Key& key, const std::string& text) {
  verdict_.report(Breach::kCorrectness, invariant,
                  "array " + std::to_string(key.second) + " on island " +
                      std::to_string(key.first) + " " + text);
}

void MemoryChecker::record(const Event& event) {
  follow(event);
  check_budgets(event.island);
}

void MemoryChecker::follow(const Event& event) {
  const Key key{event.island, event.object};
  const auto found = arrays_.find(key);
  const bool is_known = found != arrays_.end();
  switch (event.kind) {
    case EventKind::kArrayAllocate:
      if (is_known) return complain("I9", key, "was allocated twice");
      return enter(key, event.value);
    case EventKind::kUpload:
      if (is_known) complain("I9", key, "was uploaded twice");
      arrays_[key] = {};
      return;
    case EventKind::kArrayLoad:
      if (!is_known || found->second.is_on_device) {
        return complain("I9", key, "was loaded, but was not in host room");
      }
      return enter(key, event.value);
    case EventKind::kArraySpill:
      if (!is_known || !found->second.is_on_device) {
        return complain("I9", key, "was spilled, but was not on its devices");
      }
      return leave(key, event.value);
    case EventKind::kArrayFree:
      if (!is_known) return complain("I9", key, "was freed, but did not exist");
      if (found->second.is_on_device) leave(key, event.value);
      arrays_.erase(key);
      return;
    default:
      return;
  }
}

void MemoryChecker::enter(const Key& key, std::uint64_t bytes) {
  Array& array = arrays_[key];
  array.is_on_device = true;
  array.bytes = bytes;
  const std::vector<DeviceId>* const devices =
      surroundings_.devices_of_array(key.first, key.second);
  if (devices == nullptr) return complain("I9", key, "has memory, but its host does not know it");
  array.devices = *devices;
  for (const DeviceId device : array.devices) bytes_[{key.first, device}] += bytes;
}

void MemoryChecker::leave(const Key& key, std::uint64_t bytes) {
  Array& array = arrays_[key];
  array.is_on_device = false;
  if (bytes != array.bytes) {
    complain("I10", key,
             "gave back " + std::to_string(bytes) + " bytes on each device, but took " +
                 std::to_string(array.bytes));
  }
  for (const DeviceId device : array.devices) bytes_[{key.first, device}] -= array.bytes;
}

void MemoryChecker::check_budgets(IslandId island) {
  for (DeviceId device = 0; device < surroundings_.devices; ++device) {
    const auto [used, budget] = surroundings_.memory_of(island, device);
    const std::uint64_t reserved = surroundings_.reserved_of(island, device);
    const std::string name =
        "device " + std::to_string(device) + " of island " + std::to_string(island);
    const std::string of_budget = " bytes of " + std::to_string(budget);
    const auto found = bytes_.find({island, device});
    const std::uint64_t arrays = found == bytes_.end() ? 0 : found->second;
    if (used > budget) {
      verdict_.report(Breach::kCorrectness, "I11",
                      name + " holds " + std::to_string(used) + of_budget);
    } else if (reserved > budget) {
      verdict_.report(Breach::kCorrectness, "I11",
                      name + " has reserved " + std::to_string(reserved) + of_budget);
    } else if (arrays > used) {
      verdict_.report(Breach::kCorrectness, "I11",
                      name + " holds arrays of " + std::to_string(arrays) + " bytes, but counts " +
                          std::to_string(used) + of_budget);
    }
  }
}

void MemoryChecker::finish() {
  for (const auto& [key, array] : arrays_) {
    // An array that was freed while it lay in host room gives no device memory back.
    if (array.is_on_device) complain("I9", key, "was never freed");
  }
}

}  // namespace seaway::sim
