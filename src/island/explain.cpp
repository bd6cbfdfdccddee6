// What a part waits for, in words; the whole state as text and as a hash; deciding by hand.

#include <algorithm>

#include "base/check.hpp"
#include "base/random.hpp"
#include "island/scheduler_core.hpp"

namespace seaway::island {
namespace {

std::string text(std::uint64_t number) { return std::to_string(number); }

}  // namespace

// ---- Why ------------------------------------------------------------------------------------

std::string SchedulerCore::why(Stamp stamp) const {
  const std::uint32_t slot = find(stamp);
  if (slot != kNoSlot) return why(parts_[slot]);
  if (stamp > last_stamp_) return "part " + text(stamp) + " is not launched to this island";
  return "part " + text(stamp) + " is finished, or was never launched to this island";
}

std::string SchedulerCore::why(const Part& part) const {
  const program::PartPlan& plan = *part.profile->plan;
  const std::string who = "part " + text(part.stamp) + " ";
  if (!part.admitted) return who + "waits for room: " + why_no_room(part);
  if (part.next < part.end) {
    const std::string gang = who + "waits to place gang " + text(part.next) + " of " +
                             text(part.end) + " (position " + text(plan.gangs[part.next].position) +
                             "): ";
    if (part.next < part.free_end)
      return gang + "it is free, and the devices have " + text(busy_ns(part)) +
             " ns of placed work; window " + text(options_.window_ns) + " ns";
    const Wait& wait = part.profile->waits[part.cursor];
    if (wait.kind == Wait::Kind::kReceive)
      return gang + "edge " + text(plan.receives[wait.index].edge) + " from island " +
             text(plan.receives[wait.index].peer) + " does not exist yet";
    const ArrayRecord& record = arrays_[part.arrays[wait.index]];
    if (wait.kind == Wait::Kind::kArg)
      return gang + "the gang that makes array " + text(record.id) + " is not placed yet";
    return gang + "it overwrites the donated array " + text(record.id) + ", which " +
           text(record.readers - 1) + " earlier uses still read";
  }
  if (part.done < part.end)
    return who + "runs: " + text(part.done) + " of " + text(part.end) + " placed gangs are done";
  return who + "has run; " + text(part.sends_left) + " of " + text(plan.sends.size()) +
         " values for other islands are not received yet" +
         (part.moved ? ", all in host room" : "");
}

std::string SchedulerCore::why_no_room(const Part& part) const {
  for (std::uint32_t at = waiting_.front(); parts_[at].stamp < part.stamp;
       at = waiting_.after(parts_, at))
    if (parts_[at].profile->shares_device_with(*part.profile))
      return "part " + text(parts_[at].stamp) + " before it waits for room on the same devices, " +
             (part.is_free() ? "and it may not overtake (no room beside, or no host room for its " +
                                   text(part.profile->plan->send_bytes) + " bytes of sends)"
                             : std::string("and its inputs do not all exist, so that it may not "
                                           "overtake"));
  std::vector<std::uint64_t> need;
  if (!need_of(part, need)) return "an argument of it is on its way to host room";
  for (DeviceId device : part.profile->devices)
    if (used_[device] + need[device] > options_.memory_bytes)
      return "it needs " + text(need[device]) + " bytes on device " + text(device) + ", where " +
             text(used_[device]) + " of " + text(options_.memory_bytes) + " are reserved, " +
             text(spillable_[device]) + " of them by arrays that can be spilled; spill room has " +
             text(counters_.spilled_bytes) + " of " + text(options_.spill_bytes) + " in use";
  return "it fits, and is admitted next";
}

std::string SchedulerCore::to_string() const {
  std::string out;
  for (std::uint32_t at = live_.front(); at != kNoSlot; at = live_.after(parts_, at))
    out += why(parts_[at]) + (parts_[at].overtaker ? " [overtook]" : "") +
           (parts_[at].cancelled ? " [cancelled]" : "") + "\n";
  for (std::uint32_t slot : arrays_.by_id()) {
    const ArrayRecord& record = arrays_[slot];
    const char* const place[] = {"nowhere", "in host room", "on devices"};
    out += "array " + text(record.id) + " is " + place[static_cast<int>(record.place)] + ", " +
           text(record.bytes_per_device) + " bytes a device, " + text(record.readers) +
           " readers, " + text(record.pins) + " pins" + (record.made ? "" : ", not made") +
           (record.finished ? "" : ", not finished") + (record.dropped ? ", dropped" : "") +
           (record.spilling ? ", spilling" : "") + "\n";
  }
  for (DeviceId device = 0; device < options_.devices; ++device)
    out += "device " + text(device) + ": " + text(used_[device]) + " of " +
           text(options_.memory_bytes) + " bytes reserved, " + text(gangs_[device]) +
           " gangs placed and not done\n";
  out += "send room: " + text(counters_.send_room_used_bytes) + " of " +
         text(options_.send_room_bytes) + " bytes reserved\n";
  return out;
}

std::uint64_t SchedulerCore::hash() const {
  std::uint64_t hash = last_stamp_;
  const auto add = [&hash](std::uint64_t value) { hash = mix64(hash ^ value) + value; };
  for (std::uint32_t at = live_.front(); at != kNoSlot; at = live_.after(parts_, at)) {
    const Part& part = parts_[at];
    add(part.stamp);
    add(std::uint64_t{part.next} << 32 | part.end);
    add(std::uint64_t{part.done} << 32 | part.sends_left);
    add(part.admitted | part.overtaker << 1 | part.cancelled << 2 | part.held << 3 |
        part.moving << 4 | part.moved << 5 | part.fencing << 6);
    add(part.beside);
    add(part.overtaken);
    for (std::uint64_t bits : part.bits) add(bits);
  }
  for (std::uint32_t slot : arrays_.by_id()) {
    const ArrayRecord& record = arrays_[slot];
    add(record.id);
    add(std::uint64_t{record.readers} << 32 | record.pins);
    add(static_cast<unsigned>(record.place) | record.made << 2 | record.finished << 3 |
        record.dropped << 4 | record.consumed << 5 | record.gone << 6 | record.spilling << 7 |
        record.spill_charged << 8);
  }
  for (std::uint64_t used : used_) add(used);
  std::uint64_t early = 0;  // In any order: a set.
  for (const Early& one : early_) early += mix64(one.stamp * 1'000'003 + one.edge);
  add(early);
  return hash;
}

// ---- Deciding by hand -----------------------------------------------------------------------

void SchedulerCore::choices(std::vector<Choice>& out) const {
  for (std::uint32_t at = waiting_.front(); at != kNoSlot; at = waiting_.after(parts_, at)) {
    const Part& part = parts_[at];
    if (!in_order(at)) {
      if (may_overtake(at)) out.push_back({.kind = Choice::Kind::kOvertake, .stamp = part.stamp});
      continue;
    }
    if (fits_now(part)) {
      out.push_back({.kind = Choice::Kind::kAdmit, .stamp = part.stamp});
      continue;
    }
    for (std::uint32_t array = arrays_.oldest_spillable(); array != kNoSlot;
         array = arrays_[array].newer) {
      const ArrayRecord& record = arrays_[array];
      if (reads(part, array) || !spill_room_for(record)) continue;
      const Choice spill{.kind = Choice::Kind::kSpill, .stamp = 0, .array = record.id};
      if (std::find(out.begin(), out.end(), spill) == out.end()) out.push_back(spill);
    }
    for (std::uint32_t held = overtakers_.front(); held != kNoSlot;
         held = overtakers_.after(parts_, held)) {
      const Choice move{.kind = Choice::Kind::kMoveSends, .stamp = parts_[held].stamp};
      if (may_move(parts_[held]) && std::find(out.begin(), out.end(), move) == out.end())
        out.push_back(move);
    }
  }
  for (std::uint32_t at = unplaced_.front(); at != kNoSlot; at = unplaced_.after(parts_, at)) {
    const Part& part = parts_[at];
    if (!part.admitted || !room_for_next_gang(part)) continue;
    if (part.next < part.free_end)
      out.push_back({.kind = Choice::Kind::kPlace, .stamp = part.stamp});
    else if (may_place_early(at))
      out.push_back({.kind = Choice::Kind::kPlaceEarly, .stamp = part.stamp});
  }
}

void SchedulerCore::apply(const Choice& choice) {
  if (choice.kind == Choice::Kind::kSpill) return start_spill(arrays_.find(choice.array));
  const std::uint32_t slot = find(choice.stamp);
  SEAWAY_CHECK(slot != kNoSlot, choice.stamp);
  switch (choice.kind) {
    case Choice::Kind::kAdmit:
    case Choice::Kind::kOvertake:
      return admit(slot, choice.kind == Choice::Kind::kOvertake);
    case Choice::Kind::kPlaceEarly:
      ++counters_.gangs_placed_early;
      [[fallthrough]];
    case Choice::Kind::kPlace:
      return place(slot, parts_[slot].next + 1);
    case Choice::Kind::kMoveSends:
      return start_move(parts_[slot]);
    case Choice::Kind::kSpill:
      return;
  }
}

}  // namespace seaway::island
