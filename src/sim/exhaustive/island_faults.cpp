// What may happen to an IslandWorld at any time: a scheduler or a device is lost.

#include <algorithm>

#include "sim/exhaustive/island_world.hpp"

namespace seaway::exhaustive {

using island::ArrayState;
using island::Launch;
using island::Snapshot;

/// Gangs that need a lost device fail when it is their turn; what they send is poison.
bool IslandWorld::is_failing(std::uint32_t at, std::uint32_t run) const {
  const program::PartPlanPtr& plan = part_spec(run, at).plan;
  if (!plan || lost_[at] == 0) return false;
  const auto& devices = plan->groups[0].devices;
  return std::any_of(devices.begin(), devices.end(),
                     [&](DeviceId device) { return has(lost_[at], device); });
}

/// The runs that need it are cancelled on all islands: now, or when they are launched.
void IslandWorld::lose_device(std::uint32_t at, DeviceId device) {
  ++devices_lost_;
  lost_[at] |= bit(device);
  for (std::uint32_t run = 0; run < kRuns; ++run) {
    if (!is_failing(at, run) || islands_[at].parts[run].finished) continue;
    for (std::uint32_t other = 0; other < kIslands; ++other)
      if (part_spec(run, other).plan && !islands_[other].parts[run].cancelled)
        cancels_pending_[other] |= bit(run);
  }
}

/// Whether later launches may name an array, as far as its controller knows.
bool IslandWorld::is_named(std::uint32_t index) const {
  const IslandSpec::Array& array = spec_->arrays[index];
  const std::uint32_t launched = islands_[array.island].launched;
  if (has(freed_, index) || (array.run != kRuns && array.run >= launched)) return false;
  for (std::uint32_t run = 0; run < launched; ++run) {
    const IslandSpec::PartSpec& part = part_spec(run, array.island);
    for (std::size_t i = 0; part.plan && i < part.args.size(); ++i)
      if (part.args[i] == array.id && part.plan->args[i].donated) return false;
  }
  return true;
}

ArrayState IslandWorld::state_of(std::uint32_t index) const {
  using Place = ArrayState::Place;
  const IslandSpec::Array& array = spec_->arrays[index];
  const Island& island = islands_[array.island];
  ArrayState state{array.id, array.devices, array.bytes, Place::kNowhere, has(is_poison_, index)};
  // One that is being freed is there until it has its turn on the last device.
  const bool is_everywhere = std::all_of(
      array.devices.begin(), array.devices.end(),
      [&](DeviceId device) { return has(present_[device], index) || has(freeing_, index); });
  const bool is_made = array.run == kRuns || island.parts[array.run].executed > array.gang;
  const bool is_coming =
      std::any_of(island.parts.begin(), island.parts.end(),
                  [index](const PartState& part) { return has(part.loads, index); });
  if (has(spill_pending_, index)) {
    state.place = Place::kSpilling;
  } else if (is_made && is_everywhere) {
    state.place = Place::kDevices;
  } else if (has(in_host_, index) || (is_coming && !is_everywhere)) {
    state.place = has(was_spilled_, index) ? Place::kSpillRoom : Place::kUploadRoom;
  }
  return state;
}

Snapshot IslandWorld::snapshot(std::uint32_t at) const {
  const Island& island = islands_[at];
  Snapshot made;
  made.last_stamp = island.launched;
  for (std::uint32_t run = 0; run < island.launched; ++run) {
    const PartState& part = island.parts[run];
    if (part.finished) continue;
    island::PartState& state = made.parts.emplace_back();
    state.stamp = run + 1;
    state.admitted = part.admitted;
    state.overtakes = part.overtakes;
    state.beside = part.beside;
    state.cancelled = part.cancelled;
    state.moved = part.moved;
    state.moving = part.moved || has(moves_pending_[at], run);
    state.gangs_placed = part.placed;
    if (part.executed > 0) state.gangs_done.push_back({0, part.executed});
    for (std::uint32_t e = 0; e < spec_->edges.size(); ++e) {
      const IslandSpec::Edge& edge = spec_->edges[e];
      if (edge.run != run || !has(transferred_, e)) continue;
      (edge.source_island == at ? state.sends_closed : state.values_here).push_back(edge.number);
    }
  }
  for (std::uint32_t i = 0; i < spec_->arrays.size(); ++i)
    if (spec_->arrays[i].island == at && has(known_, i)) made.arrays.push_back(state_of(i));
  return made;
}

/// Another scheduler learns the state from the host, the controller and the peers, and goes on.
void IslandWorld::lose_scheduler(std::uint32_t at) {
  ++schedulers_lost_;
  Island& island = islands_[at];
  std::vector<Launch> launches;
  for (std::uint32_t run = 0; run < island.launched; ++run) {
    const IslandSpec::PartSpec& part = part_spec(run, at);
    if (!part.plan || island.parts[run].finished) continue;
    launches.push_back({run + 1, run + 1, run, part.plan, part.args, part.outputs});
  }
  std::vector<ArrayId> named;
  for (std::uint32_t i = 0; i < spec_->arrays.size(); ++i)
    if (spec_->arrays[i].island == at && is_named(i)) named.push_back(spec_->arrays[i].id);
  const Snapshot known = snapshot(at);
  island.core = SchedulerCore(spec_->options[at]);
  if (const Status status = island.core.restore(known, launches, named); !status.ok())
    violation_ = status.to_string();
  if (spec_->weakening == HostWeakening::kNothingSaidAgain) return;
  for (std::uint32_t e = 0; e < spec_->edges.size(); ++e) {
    const IslandSpec::Edge& edge = spec_->edges[e];
    if (edge.source_island != at && has(exists_heard_, e) && !island.parts[edge.run].finished)
      island.core.exists(edge.run + 1, edge.number);
  }
  for (std::uint32_t run = 0; run < island.launched; ++run)
    if (island.parts[run].cancelled && !island.parts[run].finished) island.core.cancel(run + 1);
}

}  // namespace seaway::exhaustive
