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
  if (event.kind == EventKind::kView) {
    finished_[event.island].clear();
    return;
  }
  const auto found = parts_.find(key);
  const auto view = finished_.find(event.island);
  switch (event.kind) {
    case EventKind::kFinished:
      if (view != finished_.end() && view->second.insert(event.stamp).second) {
        parts_.erase(key);
        return;
      }
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

std::set<RunId> ProgressChecker::open_runs(IslandId island) const {
  std::set<RunId> runs;
  for (const auto& [key, part] : parts_) {
    if (key.first == island) runs.insert(part.run);
  }
  return runs;
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
