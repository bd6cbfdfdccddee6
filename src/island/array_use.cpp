// Who still needs an array, and when its room ends: the array side of rules 3 and 5.

#include "base/check.hpp"
#include "base/mutant.hpp"
#include "island/scheduler_core.hpp"

namespace seaway::island {

using Place = ArrayRecord::Place;

void SchedulerCore::charge(const ArrayRecord& record) {
  for (DeviceId device : arrays_.devices_of(record)) used_[device] += record.bytes_per_device;
}

void SchedulerCore::discharge(const ArrayRecord& record) {
  for (DeviceId device : arrays_.devices_of(record)) used_[device] -= record.bytes_per_device;
  if (!SEAWAY_MUTANT("room that ends wakes nobody")) try_admission_ = true;
}

void SchedulerCore::note_spillable(std::uint32_t array) {
  arrays_.append_spillable(array);
  const ArrayRecord& record = arrays_[array];
  for (DeviceId device : arrays_.devices_of(record)) spillable_[device] += record.bytes_per_device;
  if (!waiting_.empty()) try_admission_ = true;
}

void SchedulerCore::note_unspillable(std::uint32_t array) {
  arrays_.remove_spillable(array);
  const ArrayRecord& record = arrays_[array];
  for (DeviceId device : arrays_.devices_of(record)) spillable_[device] -= record.bytes_per_device;
}

void SchedulerCore::pin(std::uint32_t array) {
  if (arrays_[array].pins++ == 0 && arrays_[array].spillable) note_unspillable(array);
}

void SchedulerCore::unpin(std::uint32_t array) {
  ArrayRecord& record = arrays_[array];
  SEAWAY_CHECK(record.pins > 0, record.id);
  if (--record.pins > 0) return;
  if (record.spill_charged && record.place != Place::kHost) {
    // It was loaded: its copy in host room is not needed any more.
    record.spill_charged = false;
    counters_.spilled_bytes -= record.bytes_per_device * arrays_.devices_of(record).size();
  }
  if (!record.gone && record.finished && record.place == Place::kDevice) note_spillable(array);
}

/// Ends the pin that entry `at` of `part.arrays` stands for, if it still stands for one.
void SchedulerCore::end_pin(Part& part, std::uint32_t at) {
  const std::uint32_t array = part.arrays[at];
  if (array == kNoSlot) return;
  part.arrays[at] = kNoSlot;
  unpin(array);
  erase_if_over(array);
}

void SchedulerCore::end_reader(std::uint32_t array) {
  SEAWAY_CHECK(arrays_[array].readers > 0, arrays_[array].id);
  --arrays_[array].readers;
  if (arrays_[array].waiters != kNoSlot) wake(array);  // A donation waits for earlier readers.
  release_if_unread(array);
}

/// Rule 3: a dropped array's room goes behind its last reader, on each device by itself.
void SchedulerCore::release_if_unread(std::uint32_t array) {
  ArrayRecord& record = arrays_[array];
  if (!record.dropped || !record.made || record.gone || record.spilling) return;
  if (record.readers > 0) return;
  record.gone = true;
  actions_.push_back({.kind = Action::Kind::kFree, .stamp = 0, .array = record.id});
  if (record.spillable) note_unspillable(array);
  if (record.place == Place::kDevice) discharge(record);
  if (record.place == Place::kHost && record.spill_charged && record.pins == 0) {
    record.spill_charged = false;
    counters_.spilled_bytes -= record.bytes_per_device * arrays_.devices_of(record).size();
    try_admission_ = true;
  }
  record.place = Place::kNowhere;
}

void SchedulerCore::erase_if_over(std::uint32_t array) {
  const ArrayRecord& record = arrays_[array];
  if (record.gone && record.pins == 0 && record.readers == 0) arrays_.erase(array);
}

/// The gang that would have made it has vanished: it exists, as an error, without room.
void SchedulerCore::poison(std::uint32_t array) {
  ArrayRecord& record = arrays_[array];
  record.made = true;
  record.finished = true;
  record.place = Place::kNowhere;
  wake(array);
  release_if_unread(array);
}

void SchedulerCore::wake(std::uint32_t array) {
  std::uint32_t slot = arrays_[array].waiters;
  arrays_[array].waiters = kNoSlot;
  while (slot != kNoSlot) {
    const std::uint32_t after = parts_[slot].waiter_next;
    parts_[slot].waiting_on = kNoSlot;
    parts_[slot].waiter_next = kNoSlot;
    update_wait(slot);
    slot = after;
  }
}

/// Rule 5: only a finished array that no admitted part uses.
void SchedulerCore::start_spill(std::uint32_t array) {
  ArrayRecord& record = arrays_[array];
  SEAWAY_CHECK(record.spillable && record.pins == 0, record.id);
  arrays_.remove_spillable(array);  // Stays in spillable_: it is in nobody's way.
  record.spilling = true;
  record.spill_charged = true;
  counters_.spilled_bytes += record.bytes_per_device * arrays_.devices_of(record).size();
  ++counters_.spills;
  for (DeviceId device : arrays_.devices_of(record)) spilling_[device] += record.bytes_per_device;
  actions_.push_back({.kind = Action::Kind::kSpill, .stamp = 0, .array = record.id});
}

Status SchedulerCore::check_spilled(ArrayId id) const {
  const std::uint32_t array = arrays_.find(id);
  if (array != kNoSlot && arrays_[array].spilling) return {};
  return protocol_error("array " + std::to_string(id) + " is spilled, and nobody has asked for it");
}

void SchedulerCore::spilled(ArrayId id) {
  const std::uint32_t array = arrays_.find(id);
  SEAWAY_CHECK(array != kNoSlot && arrays_[array].spilling, id);
  ArrayRecord& record = arrays_[array];
  record.spilling = false;
  record.place = Place::kHost;
  for (DeviceId device : arrays_.devices_of(record)) {
    spillable_[device] -= record.bytes_per_device;
    spilling_[device] -= record.bytes_per_device;
  }
  discharge(record);
  release_if_unread(array);
  erase_if_over(array);
  advance();
}

}  // namespace seaway::island
