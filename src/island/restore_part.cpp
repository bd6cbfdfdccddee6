// One part of a restored scheduler: every field of it from what the host knows of the part.

#include <algorithm>
#include <string>

#include "base/probe.hpp"
#include "island/restoring.hpp"

namespace seaway::island {
namespace {

std::string text(std::uint64_t number) { return std::to_string(number); }
std::string of_part(Stamp stamp) { return "part of stamp " + text(stamp); }

/// First entry of `keyed` whose gang is not placed.
std::uint32_t cursor_at(const std::vector<Keyed>& keyed, std::uint32_t gangs_placed) {
  const auto at =
      std::lower_bound(keyed.begin(), keyed.end(), gangs_placed,
                       [](const Keyed& entry, std::uint32_t gang) { return entry.key < gang; });
  return static_cast<std::uint32_t>(at - keyed.begin());
}

}  // namespace

bool SchedulerCore::Restoring::is_done(const PartState& state, std::uint32_t gang) {
  const auto behind = std::upper_bound(
      state.gangs_done.begin(), state.gangs_done.end(), gang,
      [](std::uint32_t wanted, const GangRange& range) { return wanted < range.first; });
  return behind != state.gangs_done.begin() && gang < std::prev(behind)->last;
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
  SEAWAY_PROBE_IF(part.cancelled, "a scheduler begins anew with a cancelled part");
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
  for (const Wait& wait : part.profile->waits) {
    if (wait.gang >= part.next) break;
    if (wait.kind != Wait::Kind::kReceive || part.bit(wait.index)) continue;
    const bool is_done = std::ranges::any_of(state.gangs_done, [&wait](const GangRange& range) {
      return range.first <= wait.gang && wait.gang < range.last;
    });
    if (is_done) continue;
    for (const DeviceId device : part.profile->devices)
      core_.placed_early_[device] = {part.stamp, wait.gang};
  }
  core_.counters_.gangs_placed += part.next;
  core_.counters_.gangs_done += part.done;
}

/// It ends at once: what vanished gangs would have used may have left its devices already.
bool SchedulerCore::Restoring::is_through(const Part& part) {
  return part.done == part.end && part.next == part.end && part.sends_left == 0 && !part.fencing;
}

void SchedulerCore::Restoring::pin(std::uint32_t array) {
  ArrayRecord& record = core_.arrays_[array];
  ++record.pins;
  SEAWAY_PROBE_IF(record.place == Place::kHost, "a scheduler begins anew with a load to come");
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
    SEAWAY_PROBE_IF(is_done(state, end.key),
                    "a scheduler begins anew behind the last reader of an argument");
    if (is_through(part) || is_done(state, end.key)) {
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
    if (!is_vanished && !is_through(part) && !is_done(state, end.key)) continue;
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
      if (from.place == Place::kHost) {  // The gang has done nothing: it was never loaded for it.
        record.place = Place::kNowhere;
        if (from.spill_charged) {
          from.spill_charged = false;
          core_.counters_.spilled_bytes -=
              from.bytes_per_device * core_.arrays_.devices_of(from).size();
        }
      }
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

}  // namespace seaway::island
