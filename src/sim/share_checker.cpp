// Who competes, by the controller's events; who is served, by the hosts'.

#include "sim/share_checker.hpp"

#include <algorithm>
#include <string>

namespace seaway::sim {

using events::Event;
using events::EventKind;

void ShareChecker::record(const Event& event) {
  switch (event.kind) {
    case EventKind::kSubmit:
      if (queued_.emplace(event.object, event.tenant).second) count_queued(event.tenant, true);
      return;
    case EventKind::kStamp:
      contest_of_[event.stamp] = queue_sizes_.size() > 1 ? contest_ : 0;
      if (queued_.erase(event.object) > 0) count_queued(event.tenant, false);
      return;
    case EventKind::kResolve:
      if (queued_.erase(event.object) > 0) count_queued(event.tenant, false);
      return;
    case EventKind::kGangStart:
      return start(event);
    default:
      return follow(event);
  }
}

void ShareChecker::count_queued(TenantId tenant, bool is_more) {
  std::uint64_t& size = queue_sizes_[tenant];
  if (is_more) {
    contest_ += ++size == 1;
  } else if (--size == 0) {
    queue_sizes_.erase(tenant);
    ++contest_;
  }
}

void ShareChecker::start(const Event& event) {
  const program::PartPlan* const plan = surroundings_.part_of(event.island, event.stamp).plan;
  const std::uint32_t gang = plan == nullptr ? program::kNone : index_of(*plan, event.position);
  if (gang == program::kNone) return;  // For GangChecker.
  const std::vector<DeviceId> devices = devices_of(*plan, gang);
  pass(event, devices);
  const std::uint64_t number = contest_of_[event.stamp];
  Contest& contest = contests_[event.island];
  const std::uint64_t cost_ns = plan->gangs[gang].cost_ns;
  if (number != contest.number || cost_ns != contest.cost_ns || devices != contest.devices) {
    // What is left of an earlier contest says nothing about this one.
    if (number < contest.number) return;
    contest = {.number = number, .cost_ns = cost_ns, .devices = devices, .gangs = {}, .sum = 0};
  }
  if (number == 0) return;
  ++contest.gangs[event.tenant];
  // Once it is over, somebody has less to run than is due to him. In a flood others of his runs,
  // dearer ones or on other islands, may be what he has had.
  if (++contest.sum == kGangs && number == contest_ && !surroundings_.is_flooded) {
    measure(event.island, contest);
  }
}

void ShareChecker::measure(IslandId island, Contest& contest) {
  ++measured_;
  std::uint64_t weights = 0;
  for (const auto& [tenant, size] : queue_sizes_) weights += surroundings_.weight_of(tenant);
  for (const auto& [tenant, size] : queue_sizes_) {
    const std::uint64_t weight = surroundings_.weight_of(tenant);
    const std::uint64_t gangs = contest.gangs[tenant];
    // |gangs / kGangs - weight / weights| <= a tenth of weight / weights, in whole numbers.
    const std::uint64_t got = 10 * gangs * weights, due = 10 * weight * kGangs;
    if (std::max(got, due) - std::min(got, due) <= weight * kGangs) continue;
    verdict_.report(Breach::kCorrectness, "I13",
                    "tenant " + std::to_string(tenant) + " of weight " + std::to_string(weight) +
                        " of " + std::to_string(weights) + " started " + std::to_string(gangs) +
                        " of " + std::to_string(kGangs) + " gangs on island " +
                        std::to_string(island) + " while its runs waited; " +
                        std::to_string(weight * kGangs / weights) + " are its share");
  }
  contest.gangs.clear();
  contest.sum = 0;
}

void ShareChecker::follow(const Event& event) {
  const std::pair<IslandId, Stamp> key{event.island, event.stamp};
  if (event.kind == EventKind::kPrepare) return prepare(event);
  if (event.kind == EventKind::kAdmit) {
    waiting_[key].is_admitted = true;
    waiting_[key].tenant = event.tenant;
  } else if (event.kind == EventKind::kPlace) {
    waiting_[key].placed = event.value;
    waiting_[key].passed = 0;
  } else if (event.kind == EventKind::kFinished || event.kind == EventKind::kCancel) {
    waiting_.erase(key);
  }
}

/// Its host has heard of the part, and so its plan can be asked for.
void ShareChecker::prepare(const Event& event) {
  const program::PartPlan* const plan = surroundings_.part_of(event.island, event.stamp).plan;
  if (plan == nullptr) return;
  Waiting& part = waiting_[{event.island, event.stamp}];
  part.is_known = true;
  // In a flood also what it takes of earlier runs may wait for another island.
  part.needs_others = !plan->receives.empty() || surroundings_.is_flooded;
  part.gangs = plan->gangs.size();
  for (const program::DeviceGroup& group : plan->groups) {
    part.devices.insert(part.devices.end(), group.devices.begin(), group.devices.end());
  }
}

void ShareChecker::pass(const Event& event, const std::vector<DeviceId>& devices) {
  for (auto& [key, part] : waiting_) {
    const bool waits = part.is_admitted && part.is_known && part.placed < part.gangs;
    if (key.first != event.island || key.second >= event.stamp || !waits || part.needs_others) {
      continue;
    }
    const auto is_shared = [&part](DeviceId device) {
      return std::find(part.devices.begin(), part.devices.end(), device) != part.devices.end();
    };
    if (std::none_of(devices.begin(), devices.end(), is_shared)) continue;
    if (++part.passed != kGangs + 1) continue;
    verdict_.report(Breach::kLiveness, "I13",
                    "the part of stamp " + std::to_string(key.second) + " on island " +
                        std::to_string(key.first) + ", of tenant " + std::to_string(part.tenant) +
                        ", starves: admitted, with " + std::to_string(part.placed) + " of " +
                        std::to_string(part.gangs) + " gangs placed, it was passed by " +
                        std::to_string(part.passed) + " gangs of later stamps");
  }
}

}  // namespace seaway::sim
