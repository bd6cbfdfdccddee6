// Rules 2 and 7: which gangs are free, which may be placed, and which one is placed next.

#include <algorithm>

#include "base/check.hpp"
#include "base/fault_point.hpp"
#include "base/mutant.hpp"
#include "base/probe.hpp"
#include "island/scheduler_core.hpp"

namespace seaway::island {

using Place = ArrayRecord::Place;

/// Whether the input exists, as a value or as poison, or is made by a gang placed here.
bool SchedulerCore::holds(const Part& part, const Wait& wait) const {
  if (wait.kind == Wait::Kind::kReceive) return part.bit(wait.index);
  const std::uint32_t array = part.arrays[wait.index];
  if (wait.kind == Wait::Kind::kArg) return arrays_[array].made;
  // Nobody after this part names a donated array, so all other readers are earlier ones.
  std::uint32_t own = 1;
  for (std::uint32_t i = 0; i < part.profile->plan->sends.size(); ++i)
    own += part.arrays[part.send_at(i)] == array;
  const bool is_read =
      arrays_[array].readers > own && !SEAWAY_MUTANT("a donation is taken before it is read");
  return arrays_[array].made && !is_read;
}

/// Moves `cursor` past all that holds, and so `free_end`. What holds once holds for ever.
void SchedulerCore::update_wait(std::uint32_t slot) {
  Part& part = parts_[slot];
  if (part.waiting_on != kNoSlot) stop_waiting(slot);
  const std::vector<Wait>& waits = part.profile->waits;
  while (part.cursor < waits.size() &&
         (waits[part.cursor].gang < part.next || holds(part, waits[part.cursor])))
    ++part.cursor;
  part.free_end = part.end;
  if (part.cursor < waits.size()) {
    const Wait& wait = waits[part.cursor];
    part.free_end = std::min(part.end, wait.gang);
    if (wait.kind != Wait::Kind::kReceive && part.next < part.end) {
      part.waiting_on = part.arrays[wait.index];
      part.waiter_next = arrays_[part.waiting_on].waiters;
      arrays_[part.waiting_on].waiters = slot;
    }
  }
  if (part.admitted) {
    make_ready(slot);
  } else if (part.is_free() && !part.cancelled && !part.free_waiting.linked) {
    free_waiting_.insert(parts_, slot);
    try_admission_ = true;
  }
}

void SchedulerCore::stop_waiting(std::uint32_t slot) {
  Part& part = parts_[slot];
  if (part.waiting_on == kNoSlot) return;
  std::uint32_t* link = &arrays_[part.waiting_on].waiters;
  while (*link != slot) link = &parts_[*link].waiter_next;
  *link = part.waiter_next;
  part.waiting_on = kNoSlot;
  part.waiter_next = kNoSlot;
}

void SchedulerCore::make_ready(std::uint32_t slot) {
  Part& part = parts_[slot];
  if (part.ready || part.next >= part.free_end) return;
  part.ready = true;
  ready_.push(part.tenant, part.stamp, slot);
}

/// Rule 2 for a gang that is not free: every gang of smaller (stamp, position) is placed, on any
/// device. A donation is no input that will come by itself: its gang is never placed early.
bool SchedulerCore::may_place_early(std::uint32_t slot) const {
  const Part& part = parts_[slot];
  if (!part.admitted || part.next >= part.end || part.next < part.free_end) return false;
  for (std::uint32_t at = unplaced_.front(); at != slot; at = unplaced_.after(parts_, at)) {
    if (options_.weakening != Weakening::kOrderPerDevice) return false;
    if (parts_[at].profile->shares_device_with(*part.profile)) return false;
  }
  const std::vector<Wait>& waits = part.profile->waits;
  for (std::size_t i = part.cursor; i < waits.size() && waits[i].gang == part.next; ++i)
    if (waits[i].kind != Wait::Kind::kReceive && !holds(part, waits[i])) return false;
  return true;
}

/// Weakening::kGangByGang: room for outputs is taken when their gang is placed.
bool SchedulerCore::room_for_next_gang(const Part& part) const {
  if (options_.weakening != Weakening::kGangByGang) return true;
  const PartProfile& profile = *part.profile;
  for (std::size_t i = part.output_cursor;
       i < profile.outputs_made.size() && profile.outputs_made[i].key == part.next; ++i) {
    const ArrayRecord& record = arrays_[part.arrays[part.output_at(profile.outputs_made[i].index)]];
    for (DeviceId device : arrays_.devices_of(record))
      if (used_[device] + record.bytes_per_device > options_.memory_bytes) return false;
  }
  return true;
}

/// Appends gangs [next, to) to the order. The reservation shrinks to the peak over the remaining
/// gangs (rule 3), in stream order.
void SchedulerCore::place(std::uint32_t slot, std::uint32_t to) {
  Part& part = parts_[slot];
  const PartProfile& profile = *part.profile;
  const std::uint32_t from = part.next;
  SEAWAY_CHECK(from < to && to <= part.end, from, to, part.end);
  act(Action::Kind::kPlace, part, from, to);
  counters_.gangs_placed += to - from;
  const std::uint64_t cost = profile.cost_before[to] - profile.cost_before[from];
  for (const DeviceClass& same : profile.classes) {
    const std::uint64_t less = same.block_bytes(from, part.held) - same.block_bytes(to, part.held);
    for (DeviceId device : same.devices) {
      used_[device] -= less;
      unfinished_[device] += cost;
      gangs_[device] += to - from;
    }
    if (less > 0) try_admission_ = true;
  }
  part.next = to;
  outputs_placed(part, to);
  while (part.arg_cursor < profile.arg_ends.size() && profile.arg_ends[part.arg_cursor].key < to) {
    const std::uint32_t array = part.arrays[profile.arg_ends[part.arg_cursor++].index];
    end_reader(array);
    erase_if_over(array);
  }
  if (part.next == part.end) unplaced_.remove(parts_, slot);
  update_wait(slot);
}

void SchedulerCore::outputs_placed(Part& part, std::uint32_t to) {
  const PartProfile& profile = *part.profile;
  while (part.output_cursor < profile.outputs_made.size() &&
         profile.outputs_made[part.output_cursor].key < to) {
    const std::uint32_t index = profile.outputs_made[part.output_cursor++].index;
    const std::uint32_t array = part.arrays[part.output_at(index)];
    ArrayRecord& record = arrays_[array];
    record.made = true;
    record.place = Place::kDevice;
    if (profile.donated_from[index] != program::kNone) {
      // The buffer changes hands, charge and all. Poison hands over nothing.
      ArrayRecord& from = arrays_[part.arrays[profile.donated_from[index]]];
      record.place = from.place;
      from.place = Place::kNowhere;
      from.gone = true;
    } else if (options_.weakening == Weakening::kGangByGang) {
      charge(record);
    }
    wake(array);
  }
  // The output may be dropped already, but gangs of its own part still read it.
  while (part.output_end_cursor < profile.output_ends.size() &&
         profile.output_ends[part.output_end_cursor].key < to) {
    end_reader(part.arrays[part.output_at(profile.output_ends[part.output_end_cursor++].index)]);
  }
}

/// Longest time that placed gangs still take on a device of `part`.
std::uint64_t SchedulerCore::busy_ns(const Part& part) const {
  std::uint64_t longest = 0;
  for (DeviceId device : part.profile->devices) longest = std::max(longest, unfinished_[device]);
  return longest;
}

/// Rule 7: places free gangs, the policy's choice first, until none is left or the window is full.
bool SchedulerCore::place_ready() {
  bool progress = false;
  while (!ready_.empty()) {
    const bool competing = ready_.competing();
    const std::uint32_t slot = ready_.pop([&](std::uint32_t at) {
      return room_for_next_gang(parts_[at]) &&
             (!competing || busy_ns(parts_[at]) < options_.window_ns);
    });
    SEAWAY_PROBE_IF(slot == ReadyQueue::kNone, "no free gang may be placed now");
    if (slot == ReadyQueue::kNone) break;
    Part& part = parts_[slot];
    part.ready = false;
    std::uint32_t to = part.free_end;
    const std::vector<std::uint64_t>& cost = part.profile->cost_before;
    if (competing) {
      // At least one gang; else as many as begin within the window.
      SEAWAY_PROBE("gangs are placed for one window");
      const std::uint64_t until = cost[part.next] + options_.window_ns - busy_ns(part);
      const auto past = std::lower_bound(cost.begin() + part.next + 1, cost.begin() + to, until);
      to = static_cast<std::uint32_t>(past - cost.begin());
    }
    if (options_.weakening == Weakening::kGangByGang) to = part.next + 1;
    if (SEAWAY_FAULT(kGangsApart)) to = part.next + 1;
    ready_.charge(part.tenant, cost[to] - cost[part.next]);
    place(slot, to);
    progress = true;
  }
  return progress;
}

/// Rule 2's permission, used only when no free gang can be placed.
bool SchedulerCore::place_early() {
  const std::uint32_t slot = unplaced_.front();
  if (options_.early == EarlyPlacement::kNever || slot == kNoSlot) return false;
  if (!may_place_early(slot) || !room_for_next_gang(parts_[slot])) return false;
  Part& part = parts_[slot];
  if (options_.early == EarlyPlacement::kOneWaits) {
    if (!ready_.empty())
      return false;  // It would wait behind this one as soon as it may be placed.
    for (const DeviceId device : part.profile->devices)
      if (waits_still(placed_early_[device])) return false;
  }
  if (SEAWAY_FAULT(kNoEarlyGang)) return false;
  SEAWAY_PROBE("a gang is placed before its inputs exist");
  ++counters_.gangs_placed_early;
  for (const DeviceId device : part.profile->devices)
    placed_early_[device] = {part.stamp, part.next};
  // Those behind it that wait for nothing else are free with it: a host is told of all at once.
  const std::uint32_t to = free_behind(part);
  ready_.charge(part.tenant, part.profile->cost_before[to] - part.profile->cost_before[part.next]);
  place(slot, to);
  return true;
}

/// The end of the gangs that are free once the next one of `part` is placed, which is not.
std::uint32_t SchedulerCore::free_behind(const Part& part) const {
  if (options_.weakening == Weakening::kGangByGang || SEAWAY_FAULT(kGangsApart))
    return part.next + 1;
  const std::vector<Wait>& waits = part.profile->waits;
  for (std::size_t i = part.cursor; i < waits.size(); ++i)
    if (waits[i].gang > part.next && !holds(part, waits[i]))
      return std::min(part.end, waits[i].gang);
  return part.end;
}

/// Whether something that `gang`, which is placed, reads does not exist yet.
bool SchedulerCore::waits_still(const PlacedGang& gang) const {
  const std::uint32_t slot = find(gang.stamp);
  if (slot == kNoSlot || parts_[slot].cancelled) return false;
  const std::vector<Wait>& waits = parts_[slot].profile->waits;
  const auto [first, last] = std::ranges::equal_range(waits, gang.gang, {}, &Wait::gang);
  return std::any_of(first, last, [this, slot](const Wait& wait) {
    return wait.kind == Wait::Kind::kReceive && !parts_[slot].bit(wait.index);
  });
}

}  // namespace seaway::island
