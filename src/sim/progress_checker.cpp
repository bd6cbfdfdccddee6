// Parts, from their launch to their end.

#include "sim/progress_checker.hpp"

#include <string>

namespace seaway::sim {
namespace {

std::string part_name(IslandId island, Stamp stamp) {
  return "the part of stamp " + std::to_string(stamp) + " on island " + std::to_string(island);
}

}  // namespace

using events::Event;
using events::EventKind;

void ProgressChecker::record(const Event& event) {
  const std::pair<IslandId, Stamp> key{event.island, event.stamp};
  if (event.kind == EventKind::kLaunch) {
    parts_[key].run = event.object;
    return;
  }
  const auto found = parts_.find(key);
  switch (event.kind) {
    case EventKind::kFinished:
      if (found == parts_.end()) {
        verdict_.report(Breach::kCorrectness, "I12",
                        part_name(event.island, event.stamp) +
                            " finished, but was not launched, or had finished before");
        return;
      }
      parts_.erase(found);
      return;
    case EventKind::kAdmit:
      if (found != parts_.end()) found->second.is_admitted = true;
      return;
    case EventKind::kPlace:
      if (found != parts_.end()) found->second.placed = event.value;
      return;
    case EventKind::kGangEnd:
    case EventKind::kGangNoop:
      if (found != parts_.end()) ++found->second.ended;
      return;
    default:
      return;
  }
}

void ProgressChecker::finish() {
  for (const auto& [key, part] : parts_) {
    verdict_.report(Breach::kLiveness, "I12",
                    part_name(key.first, key.second) + ", of run " + std::to_string(part.run) +
                        ", never finished: it was " + (part.is_admitted ? "" : "not ") +
                        "admitted, " + std::to_string(part.placed) + " gangs were placed and " +
                        std::to_string(part.ended) + " ended");
  }
}

}  // namespace seaway::sim
