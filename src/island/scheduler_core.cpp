// SchedulerCore: events in, and what each of them changes at once. Decisions are in admission.cpp
// and order.cpp; advance() takes them.

#include "island/scheduler_core.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace seaway::island {
namespace {

/// Entries of `keyed` with first <= key < last.
std::pair<const Keyed*, const Keyed*> range_of(const std::vector<Keyed>& keyed, std::uint32_t first,
                                               std::uint32_t last) {
  const auto less = [](const Keyed& entry, std::uint32_t key) { return entry.key < key; };
  const Keyed* const begin = keyed.data();
  const Keyed* const end = begin + keyed.size();
  const Keyed* const from = first == 0 ? begin : std::lower_bound(begin, end, first, less);
  const Keyed* const to =
      end == begin || end[-1].key < last ? end : std::lower_bound(from, end, last, less);
  return {from, to};
}

}  // namespace

SchedulerCore::SchedulerCore(const CoreOptions& options)
    : options_(options),
      ready_(options.policy),
      used_(options.devices),
      spillable_(options.devices),
      spilling_(options.devices),
      unfinished_(options.devices),
      gangs_(options.devices),
      placed_early_(options.devices) {}

std::uint32_t SchedulerCore::find(Stamp stamp) const {
  return by_stamp_.find(stamp, [this](std::uint32_t slot) { return parts_[slot].stamp; });
}

// ---- Launch ---------------------------------------------------------------------------------

Status SchedulerCore::launch(const Launch& launch) {
  if (launch.stamp <= last_stamp_)
    return invalid_argument("launch of stamp " + std::to_string(launch.stamp) + " after stamp " +
                            std::to_string(last_stamp_) + ": stamps rise (rule 1)");
  if (counters_.parts >= options_.limits.launches_max)
    return resource_exhausted("part of stamp " + std::to_string(launch.stamp) +
                              " refused: " + std::to_string(counters_.parts) + " of " +
                              std::to_string(options_.limits.launches_max) +
                              " parts are unfinished; launch again after one has finished, or "
                              "raise CoreOptions::Limits::launches_max");
  const Result<std::uint32_t> plan = plan_slot(launch.plan);
  if (!plan.ok()) return plan.status();
  if (Status status = check_launch(launch, *plans_[*plan].profile); !status.ok()) return status;

  const std::uint32_t slot = make_part(launch, *plan);
  update_wait(slot);
  try_admission_ = true;
  advance();
  return {};
}

void SchedulerCore::act(Action::Kind kind, const Part& part, std::uint32_t first,
                        std::uint32_t last) {
  actions_.push_back({.kind = kind,
                      .stamp = part.stamp,
                      .first = first,
                      .last = last,
                      .run = part.run,
                      .tenant = part.tenant});
}

Result<std::uint32_t> SchedulerCore::plan_slot(const program::PartPlanPtr& plan) {
  if (plan.get() == last_plan_ && last_plan_) return last_plan_slot_;
  const auto key_at = [this](std::uint32_t at) { return plan_key(at); };
  const auto key = reinterpret_cast<std::uintptr_t>(plan.get());
  std::uint32_t slot = plan ? plan_slots_.find(key, key_at) : kNoSlot;
  if (slot == kNoSlot) {
    if (!plan) return invalid_argument("a launch without a plan");
    if (Status status = fits(*plan); !status.ok()) return status;
    if (plans_.size() - free_plans_.size() >= options_.limits.plans_max) sweep_plans();
    if (free_plans_.empty()) {
      free_plans_.push_back(static_cast<std::uint32_t>(plans_.size()));
      plans_.emplace_back();
    }
    slot = free_plans_.back();
    free_plans_.pop_back();
    plans_[slot] = {make_profile(plan, options_.devices), {}, 0};
    for (const program::DeviceGroup& group : plan->groups)
      plans_[slot].device_sets.push_back(arrays_.intern(group.devices));
    plan_slots_.insert(key, slot, key_at);
  }
  last_plan_ = plan.get();
  last_plan_slot_ = slot;
  return slot;
}

std::uint64_t SchedulerCore::plan_key(std::uint32_t slot) const {
  return reinterpret_cast<std::uintptr_t>(plans_[slot].profile->plan.get());
}

void SchedulerCore::sweep_plans() {
  for (std::uint32_t slot = 0; slot < plans_.size(); ++slot) {
    if (plans_[slot].profile && plans_[slot].parts == 0) drop_plan(slot);
  }
}

void SchedulerCore::drop_plan(std::uint32_t slot) {
  plan_slots_.erase(plan_key(slot), [this](std::uint32_t at) { return plan_key(at); });
  plans_[slot] = {};
  free_plans_.push_back(slot);
  last_plan_ = nullptr;
}

void SchedulerCore::forget_plan(const program::PartPlanPtr& plan) {
  const std::uint32_t slot = plan_slots_.find(reinterpret_cast<std::uintptr_t>(plan.get()),
                                              [this](std::uint32_t at) { return plan_key(at); });
  if (slot == kNoSlot) return;  // Never launched here, or swept.
  plans_[slot].is_forgotten = true;
  if (plans_[slot].parts == 0) return drop_plan(slot);
}

Status SchedulerCore::check_launch(const Launch& launch, const PartProfile& profile) {
  const program::PartPlan& plan = *profile.plan;
  const auto who = [&launch] { return "part of stamp " + std::to_string(launch.stamp); };
  if (launch.args.size() != plan.args.size() || launch.outputs.size() != plan.outputs.size())
    return invalid_argument(who() + " has " + std::to_string(launch.args.size()) +
                            " arguments and " + std::to_string(launch.outputs.size()) +
                            " outputs; its plan has " + std::to_string(plan.args.size()) + " and " +
                            std::to_string(plan.outputs.size()));
  bool donates = false;
  for (std::size_t i = 0; i < launch.args.size(); ++i) {
    const std::uint32_t array = arrays_.find(launch.args[i]);
    donates |= plan.args[i].donated;
    if (array != kNoSlot && (arrays_[array].dropped || arrays_[array].consumed))
      return invalid_argument(who() + " names array " + std::to_string(launch.args[i]) +
                              ", which was donated or freed before");
  }
  for (ArrayId output : launch.outputs)
    if (arrays_.find(output) != kNoSlot)
      return invalid_argument(who() + " makes array " + std::to_string(output) +
                              ", which exists already; outputs need new ids");
  if (!donates) return {};
  std::vector<ArrayId> sorted = launch.args;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < launch.args.size(); ++i) {
    const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), launch.args[i]);
    if (plan.args[i].donated && last - first > 1)
      return invalid_argument(who() + " donates array " + std::to_string(launch.args[i]) +
                              " and names it twice");
  }
  return {};
}

std::uint32_t SchedulerCore::make_part(const Launch& launch, std::uint32_t plan_slot) {
  if (free_parts_.empty()) {
    free_parts_.push_back(static_cast<std::uint32_t>(parts_.size()));
    parts_.emplace_back();
  }
  const std::uint32_t slot = free_parts_.back();
  free_parts_.pop_back();
  Part& part = parts_[slot];
  std::vector<std::uint32_t> arrays = std::move(part.arrays);
  std::vector<std::uint64_t> bits = std::move(part.bits);
  part = Part{};
  part.arrays = std::move(arrays);  // Keeps their room from run to run.
  part.bits = std::move(bits);
  part.stamp = launch.stamp;
  part.run = launch.run;
  part.tenant = launch.tenant;
  part.plan_slot = plan_slot;
  part.profile = plans_[plan_slot].profile.get();
  part.end = part.profile->gangs;
  const program::PartPlan& plan = *part.profile->plan;
  part.bits.assign((plan.receives.size() + plan.sends.size() + 63) / 64, 0);
  ++plans_[plan_slot].parts;
  last_stamp_ = launch.stamp;
  by_stamp_.insert(part.stamp, slot, [this](std::uint32_t at) { return parts_[at].stamp; });
  bind_arrays(part, launch);
  take_early(part);
  live_.insert(parts_, slot);
  waiting_.insert(parts_, slot);
  unplaced_.insert(parts_, slot);
  ready_.launched(part.tenant);
  ++counters_.launched;
  ++counters_.parts;
  ++counters_.parts_waiting;
  return slot;
}

void SchedulerCore::bind_arrays(Part& part, const Launch& launch) {
  const program::PartPlan& plan = *part.profile->plan;
  part.arrays.clear();
  const std::vector<std::uint32_t>& device_sets = plans_[part.plan_slot].device_sets;
  for (std::size_t i = 0; i < plan.args.size(); ++i) {
    std::uint32_t array = arrays_.find(launch.args[i]);
    if (array == kNoSlot) {
      // Rule 1: a stamped run waits for no upload, so this one has arrived.
      put(launch.args[i], plan.groups[plan.values[plan.args[i].value].group].devices,
          plan.values[plan.args[i].value].shard_bytes);
      array = arrays_.find(launch.args[i]);
    }
    ++arrays_[array].readers;
    if (plan.args[i].donated_to != program::kNone) arrays_[array].consumed = true;
    if (plan.args[i].donated && plan.args[i].donated_to == program::kNone)
      arrays_[array].dropped = true;
    part.arrays.push_back(array);
  }
  for (std::size_t i = 0; i < plan.outputs.size(); ++i) {
    const std::uint32_t value = plan.outputs[i].value;
    const std::uint32_t array = arrays_.insert(
        launch.outputs[i], device_sets[plan.values[value].group], plan.values[value].shard_bytes);
    arrays_[array].pins = 1;     // The gang that makes it, and those of the part that read it.
    arrays_[array].readers = 1;  // Until the last of them is placed.
    part.arrays.push_back(array);
  }
  for (const program::Send& send : plan.sends) {
    const program::Value& value = plan.values[send.value];
    std::uint32_t array = kNoSlot;
    if (value.place == program::Value::Place::kArg) array = part.arrays[value.index];
    if (value.place == program::Value::Place::kOutput)
      array = part.arrays[part.output_at(value.index)];
    if (array != kNoSlot) ++arrays_[array].readers;
    part.arrays.push_back(array);
    part.block_sends_left += array == kNoSlot;
  }
  part.sends_left = static_cast<std::uint32_t>(plan.sends.size());
  part.held = part.block_sends_left > 0;
}

// ---- Exists, received, moved ----------------------------------------------------------------

void SchedulerCore::take_early(Part& part) {
  if (early_.empty()) return;
  for (const Early& early : early_) {
    if (early.stamp != part.stamp) continue;
    const auto [first, last] = range_of(part.profile->receives_by_edge, early.edge, early.edge + 1);
    if (first != last) part.set_bit(first->index);
  }
  std::erase_if(early_, [&part](const Early& early) { return early.stamp <= part.stamp; });
}

void SchedulerCore::exists(Stamp stamp, std::uint32_t edge) {
  const std::uint32_t slot = find(stamp);
  if (slot == kNoSlot) {
    // The sender's island may be ahead of this one. A part that is over waits for nothing.
    if (stamp > last_stamp_) early_.push_back({stamp, edge});
    return;
  }
  Part& part = parts_[slot];
  const auto [first, last] = range_of(part.profile->receives_by_edge, edge, edge + 1);
  if (first == last) return;
  part.set_bit(first->index);
  update_wait(slot);
  advance();
}

void SchedulerCore::pass_on_edges(SchedulerCore& next) const {
  for (const Early& early : early_) next.exists(early.stamp, early.edge);
  for (std::uint32_t slot = live_.front(); slot != kNoSlot; slot = live_.after(parts_, slot)) {
    const Part& part = parts_[slot];
    const std::vector<program::Receive>& receives = part.profile->plan->receives;
    for (std::size_t i = 0; i < receives.size(); ++i)
      if (part.bit(i)) next.exists(part.stamp, receives[i].edge);
  }
}

void SchedulerCore::received(Stamp stamp, std::uint32_t edge) {
  const std::uint32_t slot = find(stamp);
  if (slot == kNoSlot || parts_[slot].cancelled) return;
  Part& part = parts_[slot];
  const auto [first, last] = range_of(part.profile->sends_by_edge, edge, edge + 1);
  if (first == last) return;
  const std::size_t bit = part.profile->plan->receives.size() + first->index;
  if (part.bit(bit)) return;
  part.set_bit(bit);
  end_send(part, first->index);
  --part.sends_left;
  finish_if_over(slot);
  advance();
}

/// Rule 5: the sender's device keeps the value until here, and no longer.
void SchedulerCore::end_send(Part& part, std::uint32_t index) {
  const program::Value& value = part.profile->plan->values[part.profile->plan->sends[index].value];
  if (value.place == program::Value::Place::kBlock) {
    if (--part.block_sends_left == 0) release_hold(part);
    return;
  }
  const std::uint32_t at = part.send_at(index);
  const std::uint32_t array = part.arrays[at];
  if (array == kNoSlot) return;  // It was moved before.
  if (part.admitted) {
    end_pin(part, at);
  } else {  // An edge to a host that is lost ends at once; it was not pinned yet.
    part.arrays[at] = kNoSlot;
  }
  end_reader(array);
  erase_if_over(array);
}

void SchedulerCore::release_hold(Part& part) {
  if (!part.held) return;
  part.held = false;
  if (!part.admitted) return;
  for (const DeviceClass& same : part.profile->classes) {
    const std::uint64_t bytes =
        same.block_bytes(part.next, true) - same.block_bytes(part.next, false);
    if (bytes == 0) continue;
    for (DeviceId device : same.devices) used_[device] -= bytes;
    try_admission_ = true;
  }
}

void SchedulerCore::moved(Stamp stamp) {
  const std::uint32_t slot = find(stamp);
  if (slot == kNoSlot || parts_[slot].moved || parts_[slot].cancelled) return;
  Part& part = parts_[slot];
  part.moved = true;
  release_hold(part);
  const std::size_t receives = part.profile->plan->receives.size();
  for (std::uint32_t i = 0; i < part.profile->plan->sends.size(); ++i) {
    const std::uint32_t array = part.arrays[part.send_at(i)];
    if (part.bit(receives + i) || array == kNoSlot) continue;
    end_pin(part, part.send_at(i));
    end_reader(array);
    erase_if_over(array);
  }
  advance();
}

// ---- Done, cancel, finish -------------------------------------------------------------------

Status SchedulerCore::check_done(Stamp stamp, std::uint32_t first, std::uint32_t last) const {
  const auto refuse = [=](const std::string& why) {
    return protocol_error("gangs " + std::to_string(first) + " to " + std::to_string(last) +
                          " of stamp " + std::to_string(stamp) + " are done" + why);
  };
  const std::uint32_t slot = find(stamp);
  if (slot == kNoSlot) return refuse(", and there is no such part");
  const Part& part = parts_[slot];
  if (first >= last || last > part.next || part.done + (last - first) > part.next) {
    return refuse(", after " + std::to_string(part.done) + " of " + std::to_string(part.next) +
                  " that were placed");
  }
  const auto [output, output_end] = range_of(part.profile->outputs_made, first, last);
  for (const Keyed* at = output; at != output_end; ++at) {
    const std::uint32_t array = part.arrays[part.output_at(at->index)];
    if (array == kNoSlot || arrays_[array].finished) return refuse(" twice");
  }
  return {};
}

void SchedulerCore::done(Stamp stamp, std::uint32_t first, std::uint32_t last) {
  const std::uint32_t slot = find(stamp);
  SEAWAY_CHECK(slot != kNoSlot, stamp, first, last);
  Part& part = parts_[slot];
  const PartProfile& profile = *part.profile;
  SEAWAY_CHECK(first < last && last <= part.next, stamp, first, last, part.next);
  part.done += last - first;
  counters_.gangs_done += last - first;
  const std::uint64_t cost = profile.cost_before[last] - profile.cost_before[first];
  for (DeviceId device : profile.devices) {
    unfinished_[device] -= cost;
    gangs_[device] -= last - first;
    // What it read has existed, whether that was heard or got lost on its way.
    PlacedGang& early = placed_early_[device];
    if (early.stamp == stamp && first <= early.gang && early.gang < last) early = {};
  }
  const auto [output, output_end] = range_of(profile.outputs_made, first, last);
  for (const Keyed* at = output; at != output_end; ++at) {
    arrays_[part.arrays[part.output_at(at->index)]].finished = true;
  }
  const auto [used, used_end] = range_of(profile.output_ends, first, last);
  for (const Keyed* at = used; at != used_end; ++at) end_pin(part, part.output_at(at->index));
  const auto [arg, arg_end] = range_of(profile.arg_ends, first, last);
  for (const Keyed* at = arg; at != arg_end; ++at) end_pin(part, at->index);
  if (!part.cancelled) {
    const auto [send, send_end] = range_of(profile.sends_by_gang, first, last);
    for (const Keyed* at = send; at != send_end; ++at) {
      const program::Send& edge = profile.plan->sends[at->index];
      actions_.push_back({.kind = Action::Kind::kExists,
                          .stamp = stamp,
                          .first = 0,
                          .last = 0,
                          .array = 0,
                          .edge = edge.edge,
                          .peer = edge.peer});
    }
  }
  if (!overtakers_.empty() || !waiting_.empty()) try_admission_ = true;
  finish_if_over(slot);
  advance();
}

/// Rule 6.
void SchedulerCore::cancel(Stamp stamp) {
  const std::uint32_t slot = find(stamp);
  if (slot == kNoSlot || parts_[slot].cancelled) return;
  Part& part = parts_[slot];
  const PartProfile& profile = *part.profile;
  part.cancelled = true;
  ++counters_.cancelled;
  act(Action::Kind::kCancel, part);
  stop_waiting(slot);
  if (part.ready) ready_.remove(part.tenant, slot);
  part.ready = false;
  part.fencing = part.admitted && profile.plan->sends.size() + profile.plan->receives.size() > 0;
  if (part.admitted) release_unplaced(part);
  if (!part.admitted) --counters_.parts_waiting;
  waiting_.remove(parts_, slot);
  free_waiting_.remove(parts_, slot);
  unplaced_.remove(parts_, slot);
  part.end = part.next;

  // Uses by gangs that vanish end behind the gangs placed so far.
  if (!part.fencing) end_sends(part);
  part.sends_left = 0;
  for (; part.output_end_cursor < profile.output_ends.size(); ++part.output_end_cursor) {
    end_reader(part.arrays[part.output_at(profile.output_ends[part.output_end_cursor].index)]);
  }
  for (; part.output_cursor < profile.outputs_made.size(); ++part.output_cursor) {
    const std::uint32_t index = profile.outputs_made[part.output_cursor].index;
    const std::uint32_t array = part.arrays[part.output_at(index)];
    if (const std::uint32_t from = profile.donated_from[index]; from != program::kNone) {
      // The donation does not happen, but the client has given the array away.
      const std::uint32_t arg = part.arrays[from];
      arrays_[arg].consumed = false;
      arrays_[arg].dropped = true;
    }
    poison(array);
    end_pin(part, part.output_at(index));
  }
  for (; part.arg_cursor < profile.arg_ends.size(); ++part.arg_cursor) {
    const std::uint32_t array = part.arrays[profile.arg_ends[part.arg_cursor].index];
    end_reader(array);
    erase_if_over(array);
  }
  try_admission_ = true;
  finish_if_over(slot);
  advance();
}

void SchedulerCore::end_sends(Part& part) {
  for (std::uint32_t i = 0; i < part.profile->plan->sends.size(); ++i) {
    const std::uint32_t array = part.arrays[part.send_at(i)];
    if (array == kNoSlot) continue;
    if (part.admitted) end_pin(part, part.send_at(i));
    end_reader(array);
    erase_if_over(array);
  }
}

void SchedulerCore::fenced(Stamp stamp) {
  const std::uint32_t slot = find(stamp);
  if (slot == kNoSlot || !parts_[slot].fencing) return;
  Part& part = parts_[slot];
  part.fencing = false;
  release_blocks(part);
  end_sends(part);
  try_admission_ = true;
  finish_if_over(slot);
  advance();
}

void SchedulerCore::finish_if_over(std::uint32_t slot) {
  Part& part = parts_[slot];
  if (part.done != part.end || part.sends_left != 0) return;
  if (part.next != part.end || part.fencing) return;
  if (part.admitted)  // Uses by gangs that vanished: pinned until the placed ones are done.
    for (std::uint32_t i = 0; i < part.profile->plan->args.size(); ++i) end_pin(part, i);
  for (std::uint32_t i = 0; i < part.profile->plan->outputs.size(); ++i)
    end_pin(part, part.output_at(i));
  counters_.send_room_used_bytes -= part.send_room;
  overtakers_.remove(parts_, slot);
  live_.remove(parts_, slot);
  act(Action::Kind::kFinished, part);
  by_stamp_.erase(part.stamp, [this](std::uint32_t at) { return parts_[at].stamp; });
  PlanSlot& plan = plans_[part.plan_slot];
  if (--plan.parts == 0 && plan.is_forgotten) drop_plan(part.plan_slot);
  ready_.finished(part.tenant);
  free_parts_.push_back(slot);
  ++counters_.finished;
  --counters_.parts;
  if (!waiting_.empty()) try_admission_ = true;
}

// ---- Arrays ---------------------------------------------------------------------------------

Status SchedulerCore::check_put(ArrayId array, const std::vector<DeviceId>& devices) const {
  for (const DeviceId device : devices) {
    if (device < options_.devices) continue;
    return protocol_error("put of array " + std::to_string(array) + " on device " +
                          std::to_string(device) + "; the island has " +
                          std::to_string(options_.devices));
  }
  return {};
}

void SchedulerCore::put(ArrayId array, const std::vector<DeviceId>& devices,
                        std::uint64_t bytes_per_device) {
  if (arrays_.find(array) != kNoSlot) return;
  const std::uint32_t slot = arrays_.insert(array, arrays_.intern(devices), bytes_per_device);
  arrays_[slot].place = ArrayRecord::Place::kHost;
  arrays_[slot].made = true;
  arrays_[slot].finished = true;
}

void SchedulerCore::free(ArrayId array) {
  const std::uint32_t slot = arrays_.find(array);
  if (slot == kNoSlot || arrays_[slot].consumed || arrays_[slot].dropped) return;
  arrays_[slot].dropped = true;
  release_if_unread(slot);
  erase_if_over(slot);
  advance();
}

void SchedulerCore::set_weight(TenantId tenant, std::uint32_t weight) {
  ready_.set_weight(tenant, weight);
}

Status SchedulerCore::fits(const program::PartPlan& plan) const {
  return validate(plan, options_.devices, options_.memory_bytes);
}

void SchedulerCore::advance() {
  if (options_.manual) return;
  for (;;) {
    const bool admitted = admit_waiting();
    if (!place_ready() && !admitted && !place_early()) return;
  }
}

}  // namespace seaway::island
