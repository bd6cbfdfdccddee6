// Gangs and outcomes behind the loss of a device.

#include "sim/loss_checker.hpp"

#include <algorithm>
#include <string>

namespace seaway::sim {

using events::Event;
using events::EventKind;

void LossChecker::record(const Event& event) {
  switch (event.kind) {
    case EventKind::kStamp:
      run_of_[event.stamp] = event.object;
      return;
    case EventKind::kPrepare:
      return prepare(event);
    case EventKind::kDeviceLost:
      return lose(event);
    case EventKind::kGangStart:
      return start(event);
    case EventKind::kGangEnd:
      if (!lost_.empty() && writes_where_lost(event)) doom(event);
      return;
    case EventKind::kRerun:
      return run_again(event);
    case EventKind::kHostJoined:
      may_lose_hosts_ = true;
      return;
    case EventKind::kResolve:
      return resolve(event);
    default:
      return;
  }
}

void LossChecker::forget(IslandId island) {
  std::erase_if(lost_, [island](const Place& place) { return place.first == island; });
}

void LossChecker::lose(const Event& event) {
  lost_.emplace(event.island, event.place);
  ever_lost_.emplace(event.island, event.place);
  if (surroundings_.may_be_lost(event.island, event.place, event.time_ns)) return;
  verdict_.report(Breach::kCorrectness, "I3",
                  "device " + std::to_string(event.place) + " of island " +
                      std::to_string(event.island) +
                      " was lost, but nothing that was done to it takes it away");
}

void LossChecker::prepare(const Event& event) {
  const program::PartPlan* const plan = surroundings_.part_of(event.island, event.stamp).plan;
  if (plan == nullptr) return;  // For GangChecker.
  const auto before = stamp_before_.find(run_of_[event.stamp]);
  if (before != stamp_before_.end() && event.stamp <= before->second) return;  // It is over.
  const Stamp first = first_stamp_.emplace(run_of_[event.stamp], event.stamp).first->second;
  if (first != event.stamp) in_segments_.insert(run_of_[event.stamp]);
  std::set<Place>& used = used_by_[run_of_[event.stamp]];
  for (const program::DeviceGroup& group : plan->groups) {
    for (const DeviceId device : group.devices) used.emplace(event.island, device);
  }
  for (const program::Gang& gang : plan->gangs) {
    const bool computes = gang.kind == program::Gang::Kind::kCompute;
    if (computes && surroundings_.has_effects(gang.function)) {
      with_effects_.insert(run_of_[event.stamp]);
    }
  }
}

/// What a copy only reads may lie in host room.
bool LossChecker::writes_where_lost(const Event& event) const {
  const program::PartPlan* const plan = surroundings_.part_of(event.island, event.stamp).plan;
  const std::uint32_t index = plan == nullptr ? program::kNone : index_of(*plan, event.position);
  if (index == program::kNone) return false;
  const program::Gang& gang = plan->gangs[index];
  if (gang.kind == program::Gang::Kind::kSend) return false;
  const auto& devices = plan->groups[gang.group].devices;
  return std::any_of(devices.begin(), devices.end(), [this, &event](DeviceId device) {
    return lost_.contains({event.island, device});
  });
}

void LossChecker::start(const Event& event) {
  if (lost_.empty() || !writes_where_lost(event)) return;
  verdict_.report(Breach::kCorrectness, "I5",
                  gang_name(event.island, event.stamp, event.position) +
                      " started, but one of its devices was lost");
}

bool LossChecker::has_lost_device(RunId run) const {
  const auto used = used_by_.find(run);
  return used != used_by_.end() &&
         std::any_of(ever_lost_.begin(), ever_lost_.end(),
                     [used](const Place& place) { return used->second.contains(place); });
}

/// What a run did with its stamps before the last rerun counts no more.
void LossChecker::doom(const Event& event) {
  const auto before = stamp_before_.find(event.object);
  if (before == stamp_before_.end() || event.stamp > before->second) doomed_.insert(event.object);
}

void LossChecker::run_again(const Event& event) {
  if (with_effects_.contains(event.object)) {
    verdict_.report(Breach::kCorrectness, "I7",
                    "run " + std::to_string(event.object) +
                        " is run again, but a function of it has effects and may have run");
  }
  doomed_.erase(event.object);
  first_stamp_.erase(event.object);
  in_segments_.erase(event.object);
  stamp_before_[event.object] = event.value;
  const bool has_lost = has_lost_device(event.object);
  used_by_.erase(event.object);  // Without a new stamp it uses nothing, and may be refused.
  if (may_lose_hosts_) return;
  const bool is_of_input = event.code == StatusCode::kInputLost;
  if (is_of_input ? !ever_lost_.empty() : has_lost) return;
  verdict_.report(Breach::kCorrectness, "I3",
                  "run " + std::to_string(event.object) + " is run again, but no device" +
                      (is_of_input ? "" : " that it used") + " was lost");
}

void LossChecker::resolve(const Event& event) {
  const std::string name = "run " + std::to_string(event.object);
  if (event.code == StatusCode::kOk && doomed_.contains(event.object)) {
    verdict_.report(Breach::kCorrectness, "I5",
                    name + " succeeded, but a device was lost while a gang of it ran there");
  }
  if (event.code != StatusCode::kDeviceLost) return;
  // Of one in segments, that with the effects may have been over, or not have begun.
  if (with_effects_.contains(event.object) && !in_segments_.contains(event.object)) {
    verdict_.report(Breach::kCorrectness, "I7",
                    name +
                        " failed of a lost device, and is not told that a function of it with "
                        "effects may have run");
  }
  // One that never had a stamp may have been refused: its slice has nowhere to go.
  if (used_by_.contains(event.object) ? has_lost_device(event.object) : !ever_lost_.empty()) return;
  verdict_.report(Breach::kCorrectness, "I3",
                  name + " failed of a lost device, but none that it used was lost");
}

}  // namespace seaway::sim
