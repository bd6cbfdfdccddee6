// Which gangs are placed early, and whether there is another one before them.

#include "sim/delay_checker.hpp"

#include <algorithm>
#include <string>

namespace seaway::sim {

using events::Event;
using events::EventKind;

void DelayChecker::record(const Event& event) {
  newest_ = std::max(newest_, event.stamp);
  const Gang gang{event.stamp, event.position};
  switch (event.kind) {
    case EventKind::kPlace:
      return place(event);
    case EventKind::kGangNoop:
      over_.emplace(event.island, gang);
      [[fallthrough]];
    case EventKind::kGangStart:
      return end_waits(event.island, [&gang](const Gang& other) { return other == gang; });
    case EventKind::kGangEnd:
      over_.emplace(event.island, gang);
      return;
    case EventKind::kSend:
      sent_.emplace(event.stamp, event.position);
      return;
    case EventKind::kCancel:
      return end_waits(event.island,
                       [&event](const Gang& other) { return other.first == event.stamp; });
    case EventKind::kView:
      return begin_view(event.island);
    default:
      return;
  }
}

/// What was said before of edges to and from there may be lost.
void DelayChecker::begin_view(IslandId island) {
  end_waits(island, [](const Gang&) { return true; });
  lose(island);
}

template <class IsOver>
void DelayChecker::end_waits(IslandId island, const IsOver& is_over) {
  const auto begin = waiting_.lower_bound({island, 0});
  const auto end = waiting_.lower_bound({static_cast<IslandId>(island + 1), 0});
  for (auto it = begin; it != end;) it = is_over(it->second) ? waiting_.erase(it) : std::next(it);
}

bool DelayChecker::exists(IslandId island, Stamp stamp, const program::Receive& receive) const {
  for (const IslandId end : {island, static_cast<IslandId>(receive.peer)}) {
    const auto lost = lost_until_.find(end);
    if (lost != lost_until_.end() && stamp <= lost->second) return true;
  }
  if (sent_.contains({stamp, receive.edge})) return true;
  const program::PartPlan* const maker = surroundings_.part_of(receive.peer, stamp).plan;
  if (maker == nullptr) return true;  // Not heard of there yet, or over: nobody knows which.
  return std::any_of(maker->sends.begin(), maker->sends.end(), [&](const program::Send& send) {
    return send.edge == receive.edge &&
           over_.contains({receive.peer, {stamp, maker->gangs[send.gang].position}});
  });
}

void DelayChecker::place(const Event& event) {
  const program::PartPlan* const plan = surroundings_.part_of(event.island, event.stamp).plan;
  if (plan == nullptr) return;
  // An order of more gangs than the part has is I4's to say.
  const auto end = std::min<std::uint64_t>(event.value, plan->gangs.size());
  for (std::uint64_t i = event.position; i < end; ++i) {
    const Gang gang{event.stamp, plan->gangs[i].position};
    if (lacks(event.island, gang))
      place_early(event.island, gang, devices_of(*plan, static_cast<std::uint32_t>(i)));
  }
}

/// Whether something that `gang` receives does not exist.
bool DelayChecker::lacks(IslandId island, const Gang& gang) const {
  const program::PartPlan* const plan = surroundings_.part_of(island, gang.first).plan;
  if (plan == nullptr) return false;  // It is over.
  const auto found = std::ranges::find(plan->gangs, gang.second, &program::Gang::position);
  if (found == plan->gangs.end()) return false;
  return std::ranges::any_of(plan->receives, [&](const program::Receive& receive) {
    return std::ranges::find(found->operands, receive.value) != found->operands.end() &&
           !exists(island, gang.first, receive);
  });
}

void DelayChecker::place_early(IslandId island, const Gang& gang,
                               const std::vector<DeviceId>& devices) {
  ++early_;
  for (const DeviceId device : devices) {
    const auto [before, is_first] = waiting_.try_emplace({island, device}, gang);
    if (is_first) continue;
    // What it waited for may have come to exist before its turn.
    if (!lacks(island, before->second)) {
      before->second = gang;
      continue;
    }
    verdict_.report(Breach::kCorrectness, "P3",
                    gang_name(island, gang.first, gang.second) + " was placed on device " +
                        std::to_string(device) + " before its inputs exist, behind " +
                        gang_name(island, before->second.first, before->second.second) +
                        ", whose inputs do not exist either: if they are lost, what comes behind "
                        "is delayed by more than one gang");
  }
}

}  // namespace seaway::sim
