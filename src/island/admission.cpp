// Rules 3, 4 and 5: which part gets room, who may overtake, and how room is made.

#include <algorithm>
#include <bit>

#include "base/check.hpp"
#include "base/fault_point.hpp"
#include "base/probe.hpp"
#include "island/scheduler_core.hpp"

namespace seaway::island {

using Place = ArrayRecord::Place;

// ---- What a part needs ----------------------------------------------------------------------

/// Rule 3: the peak of `part` by device, but for arrays that are charged already. Blocks never
/// grow and arguments only end, so the peak over its gangs is what its first gang needs. False
/// while an argument is on its way to host room: it can be loaded only from there.
bool SchedulerCore::need_of(const Part& part, std::vector<std::uint64_t>& need) const {
  need.assign(options_.devices, 0);
  const bool gang_by_gang = options_.weakening == Weakening::kGangByGang;
  for (const DeviceClass& same : part.profile->classes) {
    const std::uint64_t bytes =
        same.block_bytes(0, part.held) + (gang_by_gang ? 0 : same.output_bytes);
    for (DeviceId device : same.devices) need[device] += bytes;
  }
  loads_.clear();
  for (std::size_t i = 0; i < part.profile->plan->args.size(); ++i) {
    const ArrayRecord& record = arrays_[part.arrays[i]];
    SEAWAY_PROBE_IF(record.spilling, "a part waits for a spill to end");
    if (record.spilling) return false;
    if (record.place == Place::kHost) loads_.push_back(part.arrays[i]);
  }
  std::sort(loads_.begin(), loads_.end());
  loads_.erase(std::unique(loads_.begin(), loads_.end()), loads_.end());
  for (std::uint32_t array : loads_)
    for (DeviceId device : arrays_.devices_of(arrays_[array]))
      need[device] += arrays_[array].bytes_per_device;
  return true;
}

bool SchedulerCore::fits_now(const Part& part) const {
  if (options_.weakening == Weakening::kNone) {
    // The common case, without a vector by device: no argument is to be loaded.
    bool loads = false;
    for (std::size_t i = 0; i < part.profile->plan->args.size() && !loads; ++i)
      loads = arrays_[part.arrays[i]].spilling || arrays_[part.arrays[i]].place == Place::kHost;
    if (!loads) {
      for (const DeviceClass& same : part.profile->classes) {
        const std::uint64_t need = same.block_bytes(0, part.held) + same.output_bytes;
        for (DeviceId device : same.devices)
          if (used_[device] + need > options_.memory_bytes) return false;
      }
      return true;
    }
  }
  if (!need_of(part, need_)) return false;
  for (DeviceId device = 0; device < options_.devices; ++device)
    if (need_[device] > 0 && used_[device] + need_[device] > options_.memory_bytes) return false;
  return true;
}

// ---- Rule 3 ---------------------------------------------------------------------------------

/// Rule 3a: all earlier-stamped parts that share a device with it are admitted.
bool SchedulerCore::in_order(std::uint32_t slot) const {
  for (std::uint32_t at = waiting_.front(); at != slot; at = waiting_.after(parts_, at))
    if (parts_[at].profile->shares_device_with(*parts_[slot].profile)) return false;
  return true;
}

bool SchedulerCore::free_for_overtaking(const Part& part) const {
  if (options_.weakening != Weakening::kOvertakeOnAdmittedInputs) return part.is_free();
  for (const Wait& wait : part.profile->waits) {
    if (holds(part, wait) || wait.kind == Wait::Kind::kReceive) continue;
    if (wait.kind != Wait::Kind::kArg) return false;
    for (std::uint32_t at = live_.front(); at != kNoSlot; at = live_.after(parts_, at)) {
      const Part& maker = parts_[at];
      const auto begin = maker.arrays.begin() + maker.output_at(0);
      if (!maker.admitted &&
          std::count(begin,
                     begin + static_cast<std::ptrdiff_t>(maker.profile->plan->outputs.size()),
                     part.arrays[wait.index]))
        return false;
    }
  }
  return true;
}

/// Rule 3b, and rule 4. Requires that the part waits and is not first in order.
bool SchedulerCore::may_overtake(std::uint32_t slot) const {
  const Part& part = parts_[slot];
  if (!free_for_overtaking(part)) return false;
  const bool takes_room_now = options_.weakening != Weakening::kOvertakerKeepsSends &&
                              options_.weakening != Weakening::kHostRoomAtEnd;
  if (takes_room_now && !part.profile->plan->sends.empty() &&
      counters_.send_room_used_bytes + part.profile->plan->send_bytes > options_.send_room_bytes)
    return false;
  SEAWAY_PROBE_IF(!fits_now(part), "a part could overtake, and has no room");
  if (!fits_now(part)) return false;
  std::uint32_t oldest = waiting_.front();
  while (!parts_[oldest].profile->shares_device_with(*part.profile))
    oldest = waiting_.after(parts_, oldest);
  SEAWAY_CHECK(oldest != slot, part.stamp);
  if (SEAWAY_FAULT(kNoOvertake)) return false;
  Stamp beside = 0;
  return door_allows(oldest, slot, beside);
}

/// Visits each array that `part` pins now.
template <class Visit>
void SchedulerCore::each_pin(const Part& part, const Visit& visit) const {
  for (std::uint32_t array : part.arrays)
    if (array != kNoSlot && arrays_[array].pins > 0) visit(array);
}

/// Room that the admitted `part` holds for gangs that are not placed, and for its sends.
void SchedulerCore::add_unplaced(const Part& part, std::vector<std::uint64_t>& bytes) const {
  if (part.cancelled && !part.fencing) return;
  for (const DeviceClass& same : part.profile->classes) {
    const std::uint64_t block = same.block_bytes(part.next, part.held);
    for (DeviceId device : same.devices) bytes[device] += block;
  }
  if (part.cancelled || options_.weakening == Weakening::kGangByGang) return;
  for (std::size_t i = part.output_cursor; i < part.profile->outputs_made.size(); ++i) {
    const std::uint32_t index = part.profile->outputs_made[i].index;
    if (part.profile->donated_from[index] != program::kNone) continue;
    const ArrayRecord& record = arrays_[part.arrays[part.output_at(index)]];
    for (DeviceId device : arrays_.devices_of(record)) bytes[device] += record.bytes_per_device;
  }
}

/// Rule 4. `beside` becomes the stamp of `waiting` when the door is closed and the overtaker fits
/// beside it. All that were let through a closed door are counted together: one by one they could
/// pass for ever.
bool SchedulerCore::door_allows(std::uint32_t waiting_slot, std::uint32_t slot,
                                Stamp& beside) const {
  const Part& waiting = parts_[waiting_slot];
  const Part& part = parts_[slot];
  if (options_.weakening == Weakening::kNoDoor) return true;
  if (options_.weakening == Weakening::kOvertakesCounted)
    return waiting.overtaken < options_.overtakes_max;
  std::vector<std::uint64_t> alone, own;  // What the waiting one needs beside earlier holders.
  if (!need_of(waiting, alone)) alone.assign(options_.devices, 0);
  std::vector<std::uint64_t> behind(options_.devices), let_through(options_.devices);

  // Arrays that only later-stamped holders pin are theirs. scratch counts those pins, and is
  // kTheirs once that is found.
  constexpr std::uint32_t kTheirs = 0xffffffff;
  const auto each_later = [&](const auto& visit) {
    for (std::uint32_t at = overtakers_.front(); at != kNoSlot; at = overtakers_.after(parts_, at))
      if (parts_[at].stamp > waiting.stamp) visit(parts_[at]);
  };
  each_later([&](const Part& later) {
    each_pin(later, [&](std::uint32_t array) { ++arrays_[array].scratch; });
  });
  for (const bool through_the_door : {true, false}) {
    each_later([&](const Part& later) {
      if ((later.beside == waiting.stamp) != through_the_door) return;
      add_unplaced(later, behind);
      if (through_the_door) add_unplaced(later, let_through);
      each_pin(later, [&](std::uint32_t array) {
        ArrayRecord& record = arrays_[array];
        if (record.scratch != record.pins || record.gone || record.place != Place::kDevice) return;
        record.scratch = kTheirs;
        const bool counted = through_the_door && !reads(waiting, array);
        for (DeviceId device : arrays_.devices_of(record)) {
          behind[device] += record.bytes_per_device;
          if (counted) let_through[device] += record.bytes_per_device;
        }
      });
    });
  }
  for (std::size_t i = 0; i < waiting.profile->plan->args.size(); ++i) {
    const ArrayRecord& record = arrays_[waiting.arrays[i]];
    if (record.spillable || record.spilling || record.scratch == kTheirs)
      for (DeviceId device : arrays_.devices_of(record)) alone[device] += record.bytes_per_device;
  }
  each_later([&](const Part& later) {
    for (std::uint32_t array : later.arrays)
      if (array != kNoSlot) arrays_[array].scratch = 0;
  });

  // `alone` becomes what earlier-stamped holders and the waiting part take together.
  for (DeviceId device : waiting.profile->devices) {
    alone[device] += used_[device] - behind[device] - spillable_[device];
    SEAWAY_PROBE_IF(alone[device] > options_.memory_bytes,
                    "a door is open, for others are in the way");
    if (alone[device] > options_.memory_bytes) return true;  // Not only overtakers are in its way.
  }
  if (!need_of(part, own)) return false;
  for (std::size_t i = 0; i < part.profile->plan->args.size(); ++i) {
    const ArrayRecord& record = arrays_[part.arrays[i]];
    if (record.spillable && !reads(waiting, part.arrays[i]))
      for (DeviceId device : arrays_.devices_of(record)) own[device] += record.bytes_per_device;
  }
  for (DeviceId device : waiting.profile->devices)
    if (alone[device] + let_through[device] + own[device] > options_.memory_bytes &&
        own[device] > 0)
      return false;
  SEAWAY_PROBE("a part overtakes beside one that waits");
  beside = waiting.stamp;
  return true;
}

bool SchedulerCore::reads(const Part& part, std::uint32_t array) const {
  const auto begin = part.arrays.begin();
  const auto end = begin + static_cast<std::ptrdiff_t>(part.profile->plan->args.size());
  return std::find(begin, end, array) != end;
}

/// Charges the reservation at the end of the streams: rooms begin behind all gangs placed so far.
void SchedulerCore::admit(std::uint32_t slot, bool overtaking) {
  Part& part = parts_[slot];
  const PartProfile& profile = *part.profile;
  if (overtaking) {
    std::uint32_t oldest = waiting_.front();
    while (!parts_[oldest].profile->shares_device_with(profile))
      oldest = waiting_.after(parts_, oldest);
    door_allows(oldest, slot, part.beside);
    parts_[oldest].overtaken += options_.weakening == Weakening::kOvertakesCounted;
    if (options_.weakening != Weakening::kOvertakerKeepsSends &&
        options_.weakening != Weakening::kHostRoomAtEnd)
      part.send_room = profile.plan->send_bytes;
    counters_.send_room_used_bytes += part.send_room;
    part.overtaker = true;
    overtakers_.insert(parts_, slot);
    ++counters_.overtakes;
  }
  const bool gang_by_gang = options_.weakening == Weakening::kGangByGang;
  for (const DeviceClass& same : profile.classes) {
    const std::uint64_t bytes =
        same.block_bytes(0, part.held) + (gang_by_gang ? 0 : same.output_bytes);
    if (bytes > 0)
      for (DeviceId device : same.devices) used_[device] += bytes;
  }
  for (std::uint32_t i = 0; i < profile.plan->args.size(); ++i) {
    pin(part.arrays[i]);
    ArrayRecord& record = arrays_[part.arrays[i]];
    SEAWAY_PROBE_IF(record.place == Place::kHost, "an array is loaded for a part");
    if (record.place != Place::kHost) continue;
    record.place = Place::kDevice;  // The host loads it when its room begins.
    charge(record);
  }
  for (std::uint32_t i = 0; i < profile.plan->sends.size(); ++i)
    if (part.arrays[part.send_at(i)] != kNoSlot) pin(part.arrays[part.send_at(i)]);
  part.admitted = true;
  waiting_.remove(parts_, slot);
  free_waiting_.remove(parts_, slot);
  --counters_.parts_waiting;
  ++counters_.admitted;
  act(Action::Kind::kAdmit, part);
  actions_.back().overtakes = part.overtaker;
  actions_.back().beside = part.beside;
  make_ready(slot);
}

/// Rule 6: the room of gangs that vanish ends here, behind the gangs placed so far.
void SchedulerCore::release_unplaced(Part& part) {
  for (std::size_t i = part.output_cursor; i < part.profile->outputs_made.size(); ++i) {
    const std::uint32_t index = part.profile->outputs_made[i].index;
    if (part.profile->donated_from[index] == program::kNone &&
        options_.weakening != Weakening::kGangByGang)
      discharge(arrays_[part.arrays[part.output_at(index)]]);
  }
  SEAWAY_PROBE_IF(part.fencing, "a cancelled part keeps its blocks behind a fence");
  if (!part.fencing) release_blocks(part);
}

void SchedulerCore::release_blocks(Part& part) {
  for (const DeviceClass& same : part.profile->classes) {
    const std::uint64_t bytes = same.block_bytes(part.next, part.held);
    for (DeviceId device : same.devices) used_[device] -= bytes;
  }
  part.held = false;
}

// ---- The passes -----------------------------------------------------------------------------

bool SchedulerCore::admit_waiting() {
  if (SEAWAY_FAULT_IF(can_spill_oldest(), kNeedlessSpill)) start_spill(arrays_.oldest_spillable());
  if (!try_admission_ || waiting_.empty()) return false;
  try_admission_ = false;
  bool progress = false;
  // Rule 3a: in stamp order, until each device has a part that waits for it.
  std::vector<std::uint64_t> blocked;
  for (std::uint32_t slot = waiting_.front(); slot != kNoSlot;) {
    const std::uint32_t after = waiting_.after(parts_, slot);
    const std::vector<std::uint64_t>& mask = parts_[slot].profile->device_mask;
    bool is_blocked = false;
    for (std::size_t i = 0; i < blocked.size(); ++i) is_blocked |= (blocked[i] & mask[i]) != 0;
    if (!is_blocked && fits_now(parts_[slot])) {
      admit(slot, false);
      progress = true;
      slot = after;
      continue;
    }
    if (!is_blocked) make_room(slot);
    blocked.resize(mask.size());
    std::uint32_t devices = 0;
    for (std::size_t i = 0; i < mask.size(); ++i) {
      blocked[i] |= mask[i];
      devices += static_cast<std::uint32_t>(std::popcount(blocked[i]));
    }
    SEAWAY_PROBE_IF(devices == options_.devices, "all devices have somebody who waits");
    if (devices == options_.devices) break;
    slot = after;
  }
  // Rule 3b.
  std::uint32_t tried = 0;
  const PartList& candidates =
      options_.weakening == Weakening::kOvertakeOnAdmittedInputs ? waiting_ : free_waiting_;
  for (std::uint32_t slot = candidates.front();
       slot != kNoSlot && tried < options_.limits.overtake_scan_max; ++tried) {
    const std::uint32_t after = candidates.after(parts_, slot);
    if (!in_order(slot) && may_overtake(slot)) {
      admit(slot, true);
      progress = true;
    }
    slot = after;
  }
  return progress;
}

bool SchedulerCore::spill_room_for(const ArrayRecord& record) const {
  return counters_.spilled_bytes + record.bytes_per_device * arrays_.devices_of(record).size() <=
         options_.spill_bytes;
}

bool SchedulerCore::can_spill_oldest() const {
  const std::uint32_t oldest = arrays_.oldest_spillable();
  return oldest != kNoSlot && spill_room_for(arrays_[oldest]);
}

/// Rule 5: asks for spills and moves so that `slot`, which is first in order, will fit. Spills only
/// when they suffice; else holders have to end first, and their end tries again.
void SchedulerCore::make_room(std::uint32_t slot) {
  const Part& part = parts_[slot];
  if (!need_of(part, need_)) return;
  std::vector<std::uint64_t> missing(options_.devices);
  std::vector<std::uint64_t> own(options_.devices);  // Spillable, but it would be loaded again.
  bool any = false, enough = true;
  for (std::size_t i = 0; i < part.profile->plan->args.size(); ++i) {
    ArrayRecord& record = arrays_[part.arrays[i]];
    if (!record.spillable || record.scratch++ > 0) continue;
    for (DeviceId device : arrays_.devices_of(record)) own[device] += record.bytes_per_device;
  }
  for (DeviceId device : part.profile->devices) {
    const std::uint64_t coming = options_.memory_bytes + spilling_[device];
    const std::uint64_t wanted = used_[device] + need_[device];
    if (wanted <= coming || need_[device] == 0) continue;
    missing[device] = wanted - coming;
    any = true;
    if (spillable_[device] - spilling_[device] - own[device] < missing[device]) enough = false;
  }
  SEAWAY_PROBE_IF(any && !enough, "room is missing, and spills do not suffice");
  if (any) request_moves(part);
  for (std::uint32_t at = enough && any ? arrays_.oldest_spillable() : kNoSlot; at != kNoSlot;) {
    const ArrayRecord& record = arrays_[at];
    const std::uint32_t newer = record.newer;
    bool helps = false;
    for (DeviceId device : arrays_.devices_of(record)) helps |= missing[device] > 0;
    if (helps && record.scratch == 0 && spill_room_for(record)) {
      SEAWAY_PROBE("an array is spilled to make room");
      for (DeviceId device : arrays_.devices_of(record))
        missing[device] -= std::min(missing[device], record.bytes_per_device);
      start_spill(at);
    }
    at = newer;
  }
  for (std::size_t i = 0; i < part.profile->plan->args.size(); ++i)
    arrays_[part.arrays[i]].scratch = 0;
}

bool SchedulerCore::may_move(const Part& part) const {
  if (!part.overtaker || part.moving || part.cancelled || part.sends_left == 0) return false;
  if (part.done != part.end || options_.weakening == Weakening::kOvertakerKeepsSends) return false;
  return options_.weakening != Weakening::kHostRoomAtEnd ||
         counters_.send_room_used_bytes + part.profile->plan->send_bytes <=
             options_.send_room_bytes;
}

void SchedulerCore::start_move(Part& part) {
  if (part.send_room == 0) {  // Weakening::kHostRoomAtEnd.
    part.send_room = part.profile->plan->send_bytes;
    counters_.send_room_used_bytes += part.send_room;
  }
  SEAWAY_PROBE("an overtaker gives its sends to host room");
  part.moving = true;
  ++counters_.moves;
  act(Action::Kind::kMoveSends, part);
}

void SchedulerCore::request_moves(const Part& part) {
  for (std::uint32_t at = overtakers_.front(); at != kNoSlot; at = overtakers_.after(parts_, at))
    if (may_move(parts_[at]) && parts_[at].profile->shares_device_with(*part.profile))
      start_move(parts_[at]);
}

}  // namespace seaway::island
