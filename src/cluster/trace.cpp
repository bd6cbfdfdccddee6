// Names of gangs, looked up in the plans of their parts.

#include "cluster/trace.hpp"

#include <algorithm>

namespace seaway::cluster {

using events::Event;
using events::EventKind;
using events::GangKey;

namespace {

const program::Gang* find_gang(const program::PartPlan& part, std::uint32_t position) {
  const auto found = std::lower_bound(
      part.gangs.begin(), part.gangs.end(), position,
      [](const program::Gang& gang, std::uint32_t wanted) { return gang.position < wanted; });
  return found != part.gangs.end() && found->position == position ? &*found : nullptr;
}

}  // namespace

PlanNames::PlanNames(Embedded& embedded, const std::vector<Event>& events) : embedded_(embedded) {
  for (const Event& event : events) {
    if (event.kind == EventKind::kStamp) runs_[event.stamp] = event.object;
    if (event.kind == EventKind::kPrepare) {
      plans_[{event.island, event.stamp}] = embedded.host(event.island).find_plan(event.object);
    }
  }
}

const program::PartPlan* PlanNames::part_of(const GangKey& key) const {
  const auto found = plans_.find({key.island, key.stamp});
  return found == plans_.end() ? nullptr : found->second;
}

RunId PlanNames::run_of(Stamp stamp) const {
  const auto found = runs_.find(stamp);
  return found == runs_.end() ? 0 : found->second;
}

events::GangLabel PlanNames::label(const Event& event) const {
  const GangKey key = {event.island, event.stamp, event.position};
  events::GangLabel label;
  const program::PartPlan* part = part_of(key);
  const program::Gang* gang = part ? find_gang(*part, event.position) : nullptr;
  if (!gang) return label;
  const controller::ControllerCore& controller = embedded_.controller();
  switch (gang->kind) {
    case program::Gang::Kind::kCompute:
      label.name = controller.function_name(gang->function);
      break;
    case program::Gang::Kind::kReshard:
      label.name = "reshard";
      break;
    case program::Gang::Kind::kSend:
      label.name = "send";
      break;
  }
  label.program = controller.program_name(part->program);
  label.node = gang->node;
  label.devices = part->groups[gang->group].devices;
  if (gang->source_group != program::kNone) {
    for (const DeviceId device : part->groups[gang->source_group].devices) {
      if (std::find(label.devices.begin(), label.devices.end(), device) == label.devices.end()) {
        label.devices.push_back(device);
      }
    }
  }
  for (const std::uint32_t operand : gang->operands) {
    add_producer(key, *part, operand, label.producers);
  }
  return label;
}

/// The gang that made `value` for the gang of `key`: in this part, or in another island's part of
/// the same run. What an argument's producer was, only the client knows.
void PlanNames::add_producer(const GangKey& key, const program::PartPlan& part, std::uint32_t value,
                             std::vector<GangKey>& producers) const {
  for (const program::Receive& receive : part.receives) {
    if (receive.value != value) continue;
    const program::PartPlan* peer = part_of({receive.peer, key.stamp, 0});
    if (!peer) return;
    for (const program::Send& send : peer->sends) {
      if (send.edge != receive.edge) continue;
      producers.push_back({receive.peer, key.stamp, peer->gangs[send.gang].position});
    }
    return;
  }
  const program::Gang* producer = nullptr;
  for (const program::Gang& gang : part.gangs) {
    if (gang.position >= key.position) break;
    if (std::find(gang.results.begin(), gang.results.end(), value) != gang.results.end()) {
      producer = &gang;
    }
  }
  if (producer) producers.push_back({key.island, key.stamp, producer->position});
}

std::vector<Event> PlanNames::gang_by_gang(const std::vector<Event>& events) const {
  std::vector<Event> all;
  all.reserve(events.size());
  for (const Event& event : events) {
    if (event.kind != EventKind::kGangsEnd) {
      all.push_back(event);
      continue;
    }
    const program::PartPlan* part = part_of({event.island, event.stamp, 0});
    if (!part) continue;
    const std::uint64_t count = event.object - event.position;
    const std::uint64_t time_ns = event.time_ns - std::min(event.value, event.time_ns);
    for (std::uint64_t i = 0; i < count; ++i) {
      Event gang = event;
      gang.kind = EventKind::kGangEnd;
      gang.object = run_of(event.stamp);
      gang.position = part->gangs[event.position + i].position;
      gang.value = event.value + time_ns * i / count;
      gang.time_ns = event.value + time_ns * (i + 1) / count;
      all.push_back(gang);
    }
  }
  return all;
}

std::string trace_of(Embedded& embedded) {
  const std::vector<Event> events = embedded.events().ring().snapshot();
  const PlanNames plans(embedded, events);
  events::TraceNames names;
  names.tenant = [&embedded](TenantId tenant) { return embedded.controller().tenant_name(tenant); };
  names.gang = [&plans](const Event& event) { return plans.label(event); };
  return events::trace_to_string(plans.gang_by_gang(events), names);
}

}  // namespace seaway::cluster
