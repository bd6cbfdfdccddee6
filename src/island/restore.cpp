// SchedulerCore::restore: every field of a part and of an array from what host and controller know.
//
// Nothing is replayed: room is counted at the end of the streams, so it depends on what is placed,
// done, received and moved, and not on the order in which that came about.

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "island/scheduler_core.hpp"

namespace seaway::island {
namespace {

std::string text(std::uint64_t number) { return std::to_string(number); }
std::string of_part(Stamp stamp) { return "part of stamp " + text(stamp); }

bool is_done(const PartState& state, std::uint32_t gang) {
  const auto behind = std::upper_bound(
      state.gangs_done.begin(), state.gangs_done.end(), gang,
      [](std::uint32_t wanted, const GangRange& range) { return wanted < range.first; });
  return behind != state.gangs_done.begin() && gang < std::prev(behind)->last;
}

/// First entry of `keyed` whose gang is not placed.
std::uint32_t cursor_at(const std::vector<Keyed>& keyed, std::uint32_t gangs_placed) {
  const auto at =
      std::lower_bound(keyed.begin(), keyed.end(), gangs_placed,
                       [](const Keyed& entry, std::uint32_t gang) { return entry.key < gang; });
  return static_cast<std::uint32_t>(at - keyed.begin());
}

}  // namespace

class SchedulerCore::Restoring {
 public:
  Restoring(SchedulerCore& core, const Snapshot& snapshot) : core_(core), snapshot_(snapshot) {}

  Status read_snapshot();
  Status sort_out(std::span<const Launch> launches);
  void add_finished_arrays();
  Status add_parts(std::span<const Launch> launches);
  Status settle_arrays(std::span<const ArrayId> named);
  void go_on(std::span<const Launch> launches);

 private:
  using Place = ArrayRecord::Place;

  const PartState* state_of(Stamp stamp) const {
    const auto found = parts_.find(stamp);
    return found == parts_.end() ? nullptr : found->second;
  }
  const ArrayState* state_of_array(ArrayId array) const {
    const auto found = arrays_.find(array);
    return found == arrays_.end() ? nullptr : found->second;
  }
  /// The host is through with it, and the controller has not heard so.
  bool is_over(const Launch& launch) const {
    return launch.stamp <= snapshot_.last_stamp && state_of(launch.stamp) == nullptr;
  }
  Status check(const PartState& state, const PartProfile& profile) const;
  void add_missing_args(const Launch& launch);
  void set_place(std::uint32_t array, const ArrayState& state);
  void pin(std::uint32_t array);
  void begin(std::uint32_t slot, const PartState& state);
  void count_room(const Part& part);
  void count_gangs(Part& part, const PartState& state);
  void read_edges(Part& part, const PartState& state);
  Status use_args(Part& part, const PartState& state);
  Status use_outputs(Part& part, const PartState& state);
  void make_output(Part& part, const PartState& state, std::uint32_t index);
  void use_sends(Part& part);
  void say_exists(const Launch& launch, const PartState* state);

  SchedulerCore& core_;
  const Snapshot& snapshot_;
  std::unordered_map<Stamp, const PartState*> parts_;
  std::unordered_map<ArrayId, const ArrayState*> arrays_;
  std::unordered_set<ArrayId> to_be_bound_;  // Outputs of parts that go on.
  std::unordered_set<ArrayId> given_away_;   // Donated by any of the launches.
  std::vector<Stamp> orphans_;               // At the host alone.
  std::vector<std::uint32_t> args_;          // Slots of the arguments of one part.
};

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
    for (std::size_t i = 0; i < std::min(launch.args.size(), launch.plan->args.size()); ++i)
      if (launch.plan->args[i].donated) given_away_.insert(launch.args[i]);
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

Status SchedulerCore::Restoring::check(const PartState& state, const PartProfile& profile) const {
  const std::string who = "the host says of " + of_part(state.stamp) + " that ";
  if (state.gangs_placed > profile.gangs || (state.gangs_placed > 0 && !state.admitted))
    return protocol_error(who + text(state.gangs_placed) + " gangs are placed; it has " +
                          text(profile.gangs) + ", and is " +
                          (state.admitted ? "admitted" : "not admitted"));
  if ((state.overtakes || state.moving || state.moved) && !state.admitted)
    return protocol_error(who + "it overtook or gave its sends to host room, but not that it was " +
                          "admitted");
  std::uint32_t end = 0;
  for (const GangRange& range : state.gangs_done) {
    if (range.first < end || range.last <= range.first || range.last > state.gangs_placed)
      return protocol_error(who + "gangs [" + text(range.first) + ", " + text(range.last) +
                            ") are done, behind " + text(end) + " and with " +
                            text(state.gangs_placed) + " placed");
    end = range.last;
  }
  const auto knows = [](const std::vector<Keyed>& edges, std::uint32_t edge) {
    const auto at = edges.begin() + cursor_at(edges, edge);
    return at != edges.end() && at->key == edge;
  };
  for (const std::uint32_t edge : state.values_here)
    if (!knows(profile.receives_by_edge, edge))
      return protocol_error(who + "it received edge " + text(edge) + ", which its plan has not");
  for (const std::uint32_t edge : state.sends_closed)
    if (!knows(profile.sends_by_edge, edge))
      return protocol_error(who + "edge " + text(edge) + " was received, which its plan has not");
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

/// What a part has read or taken over may be gone from the host, while it lives on.
void SchedulerCore::Restoring::add_missing_args(const Launch& launch) {
  const program::PartPlan& plan = *launch.plan;
  for (std::size_t i = 0; i < std::min(launch.args.size(), plan.args.size()); ++i) {
    if (core_.arrays_.find(launch.args[i]) != kNoSlot) continue;
    const program::Value& value = plan.values[plan.args[i].value];
    const std::uint32_t array = core_.arrays_.insert(
        launch.args[i], core_.arrays_.intern(plan.groups[value.group].devices), value.shard_bytes);
    core_.arrays_[array].made = true;
    core_.arrays_[array].finished = true;
    core_.arrays_[array].gone = true;
  }
}

/// Lists and flags.
void SchedulerCore::Restoring::begin(std::uint32_t slot, const PartState& state) {
  Part& part = core_.parts_[slot];
  const PartProfile& profile = *part.profile;
  const program::PartPlan& plan = *profile.plan;
  part.next = state.gangs_placed;
  part.admitted = state.admitted;
  part.cancelled = state.cancelled;
  part.end = state.cancelled ? part.next : profile.gangs;
  part.fencing = state.cancelled && state.fencing && state.admitted &&
                 plan.sends.size() + plan.receives.size() > 0;
  part.moving = state.moving || state.moved;
  part.moved = state.moved;
  const std::uint32_t until = state.cancelled ? profile.gangs : part.next;
  part.arg_cursor = cursor_at(profile.arg_ends, until);
  part.output_cursor = cursor_at(profile.outputs_made, until);
  part.output_end_cursor = cursor_at(profile.output_ends, until);
  if (part.next == part.end) core_.unplaced_.remove(core_.parts_, slot);
  if (part.admitted || part.cancelled) {
    core_.waiting_.remove(core_.parts_, slot);
    --core_.counters_.parts_waiting;
  }
  if (part.admitted) ++core_.counters_.admitted;
  if (part.cancelled) ++core_.counters_.cancelled;
  if (!state.overtakes) return;
  part.overtaker = true;
  part.beside = state.beside;
  part.send_room = plan.send_bytes;
  core_.counters_.send_room_used_bytes += part.send_room;
  core_.overtakers_.insert(core_.parts_, slot);
  ++core_.counters_.overtakes;
}

void SchedulerCore::Restoring::read_edges(Part& part, const PartState& state) {
  const PartProfile& profile = *part.profile;
  const program::PartPlan& plan = *profile.plan;
  for (const std::uint32_t edge : state.values_here)
    part.set_bit(profile.receives_by_edge[cursor_at(profile.receives_by_edge, edge)].index);
  for (const std::uint32_t edge : state.sends_closed) {
    const std::uint32_t index = profile.sends_by_edge[cursor_at(profile.sends_by_edge, edge)].index;
    if (part.bit(plan.receives.size() + index)) continue;
    part.set_bit(plan.receives.size() + index);
    --part.sends_left;
    part.block_sends_left -=
        plan.values[plan.sends[index].value].place == program::Value::Place::kBlock;
  }
  part.held = part.block_sends_left > 0 && !part.moved && (!part.cancelled || part.fencing);
  if (part.cancelled) part.sends_left = 0;  // No received() is awaited any more.
}

void SchedulerCore::Restoring::count_gangs(Part& part, const PartState& state) {
  const std::vector<std::uint64_t>& cost = part.profile->cost_before;
  std::uint64_t unfinished = cost[part.next];
  for (const GangRange& range : state.gangs_done) {
    part.done += range.last - range.first;
    unfinished -= cost[range.last] - cost[range.first];
  }
  for (const DeviceId device : part.profile->devices) {
    core_.unfinished_[device] += unfinished;
    core_.gangs_[device] += part.next - part.done;
  }
  core_.counters_.gangs_placed += part.next;
  core_.counters_.gangs_done += part.done;
}

void SchedulerCore::Restoring::pin(std::uint32_t array) {
  ArrayRecord& record = core_.arrays_[array];
  ++record.pins;
  if (record.place != Place::kHost) return;
  record.place = Place::kDevice;  // The host loads it when the room of the part begins.
  core_.charge(record);
}

/// Arguments are read until their last gang is placed, and pinned until it is done.
Status SchedulerCore::Restoring::use_args(Part& part, const PartState& state) {
  args_.assign(part.arrays.begin(), part.arrays.begin() + part.output_at(0));
  for (const Keyed& end : part.profile->arg_ends) {
    const std::uint32_t array = part.arrays[end.index];
    ArrayRecord& record = core_.arrays_[array];
    const program::Arg& arg = part.profile->plan->args[end.index];
    if (part.cancelled || end.key < part.next) --record.readers;
    const bool is_given =
        arg.donated_to != program::kNone &&
        (part.cancelled || part.profile->plan->outputs[arg.donated_to].gang < part.next);
    if (arg.donated_to != program::kNone && part.cancelled &&
        part.profile->plan->outputs[arg.donated_to].gang >= part.next) {
      // The donation does not happen, but the client has given the array away.
      record.consumed = false;
      record.dropped = true;
    }
    if (!part.admitted) continue;
    if (is_done(state, end.key)) {
      part.arrays[end.index] = kNoSlot;
      continue;
    }
    if (record.gone && !part.cancelled && !is_given)
      return protocol_error("the host has not array " + text(record.id) + ", which gang " +
                            text(end.key) + " of " + of_part(part.stamp) +
                            " needs; it is not done");
    pin(array);
  }
  return {};
}

/// Outputs are read until the last gang of the part that needs them is placed, and pinned until it
/// is done.
Status SchedulerCore::Restoring::use_outputs(Part& part, const PartState& state) {
  for (const Keyed& made : part.profile->outputs_made) {
    ArrayRecord& record = core_.arrays_[part.arrays[part.output_at(made.index)]];
    const ArrayState* const at_host = state_of_array(record.id);
    if (at_host && at_host->bytes_per_device != record.bytes_per_device)
      return protocol_error("array " + text(record.id) + " has " + text(at_host->bytes_per_device) +
                            " bytes a device at the host; " + of_part(part.stamp) + " makes " +
                            text(record.bytes_per_device));
    if (made.key < part.next) {
      make_output(part, state, made.index);
      continue;
    }
    if (at_host && at_host->place != ArrayState::Place::kNowhere)
      return protocol_error("the host holds array " + text(record.id) + ", but gang " +
                            text(made.key) + " of " + of_part(part.stamp) +
                            ", which makes it, is not placed");
    if (!part.cancelled) continue;
    record.made = true;  // Poison, without room.
    record.finished = true;
  }
  for (const Keyed& end : part.profile->output_ends) {
    const std::uint32_t at = part.output_at(end.index);
    ArrayRecord& record = core_.arrays_[part.arrays[at]];
    if (part.cancelled || end.key < part.next) --record.readers;
    const bool is_vanished =
        part.cancelled && part.profile->plan->outputs[end.index].gang >= part.next;
    if (!is_vanished && !is_done(state, end.key)) continue;
    --record.pins;
    part.arrays[at] = kNoSlot;
  }
  return {};
}

/// Its gang is placed. Until it is done, the room is there whether the host has begun it or not.
void SchedulerCore::Restoring::make_output(Part& part, const PartState& state,
                                           std::uint32_t index) {
  ArrayRecord& record = core_.arrays_[part.arrays[part.output_at(index)]];
  record.made = true;
  record.finished = is_done(state, part.profile->plan->outputs[index].gang);
  if (const std::uint32_t donor = part.profile->donated_from[index]; donor != program::kNone) {
    ArrayRecord& from = core_.arrays_[args_[donor]];
    if (!from.gone) {  // Else it was taken over at the host already.
      record.place = from.place;
      from.place = Place::kNowhere;
      from.gone = true;
      return;
    }
  }
  const ArrayState* const at_host = state_of_array(record.id);
  if (record.finished) {
    record.gone = at_host == nullptr;  // Freed, or given on.
    if (at_host) set_place(part.arrays[part.output_at(index)], *at_host);
    return;
  }
  const bool is_poison = at_host && at_host->poison;
  record.place =
      is_poison && at_host->place == ArrayState::Place::kNowhere ? Place::kNowhere : Place::kDevice;
  if (record.place == Place::kDevice) core_.charge(record);
}

/// Arrays that are sent are read, and pinned from admission on, until they are received or moved.
void SchedulerCore::Restoring::use_sends(Part& part) {
  const program::PartPlan& plan = *part.profile->plan;
  for (std::uint32_t i = 0; i < plan.sends.size(); ++i) {
    std::uint32_t& array = part.arrays[part.send_at(i)];
    if (array == kNoSlot) continue;
    const bool is_over =
        part.bit(plan.receives.size() + i) || part.moved || (part.cancelled && !part.fencing);
    if (!is_over) {
      if (part.admitted) pin(array);
      continue;
    }
    --core_.arrays_[array].readers;
    array = kNoSlot;
  }
}

/// What a part holds beside its arrays: blocks, and outputs whose gangs are not placed.
void SchedulerCore::Restoring::count_room(const Part& part) {
  if (part.admitted) core_.add_unplaced(part, core_.used_);
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
    if (!record.consumed && (!names.contains(record.id) || given_away_.contains(record.id)))
      record.dropped = true;
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
