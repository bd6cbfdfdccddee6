// SchedulerCore::restore: what host and controller know becomes a scheduler's state.

#include <algorithm>
#include <string>
#include <unordered_set>

#include "island/restoring.hpp"

namespace seaway::island {
namespace {

std::string text(std::uint64_t number) { return std::to_string(number); }
std::string of_part(Stamp stamp) { return "part of stamp " + text(stamp); }

}  // namespace

Status SchedulerCore::restore(const Snapshot& snapshot, std::span<const Launch> launches,
                              std::span<const ArrayId> named) {
  if (last_stamp_ != 0 || arrays_.count() > 0)
    return invalid_argument("restore of a scheduler that has launched up to stamp " +
                            text(last_stamp_) + " and knows " + text(arrays_.count()) +
                            " arrays: restore a new one, before its first launch and put");
  Restoring restoring(*this, snapshot);
  if (Status status = restoring.read_snapshot(); !status.ok()) return status;
  if (Status status = restoring.sort_out(launches); !status.ok()) return status;
  restoring.add_finished_arrays();
  if (Status status = restoring.add_parts(launches); !status.ok()) return status;
  if (Status status = restoring.settle_arrays(named); !status.ok()) return status;
  restoring.go_on(launches);
  return {};
}

// ---- What fits together ---------------------------------------------------------------------

Status SchedulerCore::Restoring::read_snapshot() {
  for (const PartState& state : snapshot_.parts) {
    if (state.stamp > snapshot_.last_stamp)
      return protocol_error("the host has " + of_part(state.stamp) +
                            ", but has seen stamps up to " + text(snapshot_.last_stamp) + " only");
    if (!parts_.emplace(state.stamp, &state).second)
      return protocol_error("the host has " + of_part(state.stamp) + " twice");
  }
  for (const ArrayState& state : snapshot_.arrays) {
    if (!arrays_.emplace(state.id, &state).second)
      return protocol_error("the host has array " + text(state.id) + " twice");
    for (const DeviceId device : state.devices)
      if (device >= core_.options_.devices)
        return protocol_error("array " + text(state.id) + " lies on device " + text(device) +
                              "; the island has " + text(core_.options_.devices));
  }
  return {};
}

Status SchedulerCore::Restoring::sort_out(std::span<const Launch> launches) {
  std::unordered_set<Stamp> launched;
  Stamp before = 0;
  for (const Launch& launch : launches) {
    if (launch.stamp <= before)
      return invalid_argument("launch of stamp " + text(launch.stamp) + " after stamp " +
                              text(before) + ": stamps rise (rule 1)");
    before = launch.stamp;
    launched.insert(launch.stamp);
    if (!launch.plan) return invalid_argument(of_part(launch.stamp) + " has no plan");
    if (!is_over(launch)) to_be_bound_.insert(launch.outputs.begin(), launch.outputs.end());
  }
  for (const PartState& state : snapshot_.parts) {
    if (launched.contains(state.stamp)) continue;
    std::uint32_t done = 0;
    for (const GangRange& range : state.gangs_done) done += range.last - range.first;
    if (done != state.gangs_placed)
      return protocol_error("the controller takes " + of_part(state.stamp) +
                            " for finished; the host has " + text(state.gangs_placed) +
                            " gangs of it placed and " + text(done) + " done");
    orphans_.push_back(state.stamp);
  }
  for (const ArrayState& state : snapshot_.arrays)
    if (state.place == ArrayState::Place::kNowhere && !state.poison && orphans_.empty() &&
        !to_be_bound_.contains(state.id))
      return protocol_error("array " + text(state.id) +
                            " is not made, and no unfinished part makes it");
  return {};
}

// ---- Arrays that exist without a part -------------------------------------------------------

void SchedulerCore::Restoring::add_finished_arrays() {
  for (const ArrayState& state : snapshot_.arrays) {
    if (to_be_bound_.contains(state.id)) continue;
    const std::uint32_t array =
        core_.arrays_.insert(state.id, core_.arrays_.intern(state.devices), state.bytes_per_device);
    core_.arrays_[array].made = true;
    core_.arrays_[array].finished = true;
    set_place(array, state);
  }
}

void SchedulerCore::Restoring::set_place(std::uint32_t array, const ArrayState& state) {
  ArrayRecord& record = core_.arrays_[array];
  switch (state.place) {
    case ArrayState::Place::kNowhere:
      record.place = Place::kNowhere;
      return;
    case ArrayState::Place::kUploadRoom:
      record.place = Place::kHost;
      return;
    case ArrayState::Place::kSpillRoom:
      record.place = Place::kHost;
      record.spill_charged = true;
      break;
    case ArrayState::Place::kDevices:
      record.place = Place::kDevice;
      record.spill_charged = state.spill_copy;
      core_.charge(record);
      break;
    case ArrayState::Place::kSpilling:
      record.place = Place::kDevice;
      record.spilling = true;
      record.spill_charged = true;
      core_.charge(record);
      for (const DeviceId device : core_.arrays_.devices_of(record)) {
        core_.spillable_[device] += record.bytes_per_device;
        core_.spilling_[device] += record.bytes_per_device;
      }
      break;
  }
  if (record.spill_charged)
    core_.counters_.spilled_bytes +=
        record.bytes_per_device * core_.arrays_.devices_of(record).size();
}

// ---- Parts ----------------------------------------------------------------------------------

Status SchedulerCore::Restoring::add_parts(std::span<const Launch> launches) {
  for (const Launch& launch : launches) {
    if (is_over(launch)) continue;
    const Result<std::uint32_t> plan = core_.plan_slot(launch.plan);
    if (!plan.ok()) return plan.status();
    const PartProfile& profile = *core_.plans_[*plan].profile;
    const PartState* const state = state_of(launch.stamp);
    if (state) {
      if (Status status = check(*state, profile); !status.ok()) return status;
      add_missing_args(launch);
    }
    if (Status status = core_.check_launch(launch, profile); !status.ok()) return status;
    const std::uint32_t slot = core_.make_part(launch, *plan);
    if (!state) continue;
    begin(slot, *state);
    Part& part = core_.parts_[slot];
    read_edges(part, *state);
    count_gangs(part, *state);
    if (Status status = use_args(part, *state); !status.ok()) return status;
    if (Status status = use_outputs(part, *state); !status.ok()) return status;
    use_sends(part);
    count_room(part);
  }
  return {};
}

// ---- The end --------------------------------------------------------------------------------

Status SchedulerCore::Restoring::settle_arrays(std::span<const ArrayId> named) {
  const std::unordered_set<ArrayId> names(named.begin(), named.end());
  for (const std::uint32_t array : core_.arrays_.by_id()) {
    ArrayRecord& record = core_.arrays_[array];
    if (record.gone && record.readers > 0)
      return protocol_error("the host has not array " + text(record.id) + ", which " +
                            text(record.readers) + " uses by unfinished parts will read");
    if (record.pins > 0 && (record.spilling || (record.place == Place::kHost && record.made)))
      return protocol_error("array " + text(record.id) +
                            " is in host room or on its way there, and in use on its devices");
    if (!record.consumed && !names.contains(record.id)) record.dropped = true;
    if (record.spill_charged && record.place != Place::kHost && record.pins == 0 &&
        !record.spilling) {
      record.spill_charged = false;
      core_.counters_.spilled_bytes -=
          record.bytes_per_device * core_.arrays_.devices_of(record).size();
    }
    if (!record.gone && record.finished && record.place == Place::kDevice && record.pins == 0 &&
        !record.spilling)
      core_.note_spillable(array);
  }
  // Behind kCancel for parts that may still make some of them.
  for (const Stamp stamp : orphans_)
    if (!state_of(stamp)->cancelled)
      core_.actions_.push_back({.kind = Action::Kind::kCancel, .stamp = stamp});
  for (const std::uint32_t array : core_.arrays_.by_id()) {
    core_.release_if_unread(array);
    core_.erase_if_over(array);
  }
  return {};
}

void SchedulerCore::Restoring::say_exists(const Launch& launch, const PartState* state) {
  for (const program::Send& send : launch.plan->sends)
    if (!state || is_done(*state, send.gang))
      core_.actions_.push_back({.kind = Action::Kind::kExists,
                                .stamp = launch.stamp,
                                .first = 0,
                                .last = 0,
                                .array = 0,
                                .edge = send.edge,
                                .peer = send.peer});
}

void SchedulerCore::Restoring::go_on(std::span<const Launch> launches) {
  for (const Launch& launch : launches) {
    const std::uint32_t slot = core_.find(launch.stamp);
    if (slot == kNoSlot) {
      // A peer may not have heard what was said last, though its host has the value.
      say_exists(launch, nullptr);
      core_.actions_.push_back({.kind = Action::Kind::kFinished,
                                .stamp = launch.stamp,
                                .run = launch.run,
                                .tenant = launch.tenant});
      ++core_.counters_.launched;
      ++core_.counters_.finished;
      continue;
    }
    const bool is_cancelled = core_.parts_[slot].cancelled;
    if (const PartState* state = state_of(launch.stamp); state && !is_cancelled)
      say_exists(launch, state);
    if (!is_cancelled) core_.update_wait(slot);
    core_.finish_if_over(slot);
  }
  core_.last_stamp_ = std::max(snapshot_.last_stamp, launches.empty() ? 0 : launches.back().stamp);
  std::erase_if(core_.early_,
                [this](const Early& early) { return early.stamp <= core_.last_stamp_; });
  core_.try_admission_ = true;
  core_.advance();
}

}  // namespace seaway::island
