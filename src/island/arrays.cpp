// A slot pool with an open index, and an intrusive list in order of last use.

#include "island/arrays.hpp"

#include <algorithm>

namespace seaway::island {

std::uint32_t Arrays::insert(ArrayId id, std::uint32_t device_set, std::uint64_t bytes) {
  std::uint32_t slot = free_;
  if (slot == kNoSlot) {
    slot = static_cast<std::uint32_t>(records_.size());
    records_.emplace_back();
  } else {
    free_ = records_[slot].newer;
    records_[slot] = ArrayRecord{};
  }
  records_[slot].id = id;
  records_[slot].device_set = device_set;
  records_[slot].bytes_per_device = bytes;
  table_.insert(id, slot, key());
  ++count_;
  return slot;
}

void Arrays::erase(std::uint32_t slot) {
  table_.erase(records_[slot].id, key());
  records_[slot].newer = free_;
  records_[slot].readers = kNoSlot;  // Marks the slot as empty for by_id().
  free_ = slot;
  --count_;
}

std::uint32_t Arrays::intern(const std::vector<DeviceId>& devices) {
  const auto found = std::find(device_sets_.begin(), device_sets_.end(), devices);
  const auto set = static_cast<std::uint32_t>(found - device_sets_.begin());
  if (found == device_sets_.end()) device_sets_.push_back(devices);
  return set;
}

void Arrays::append_spillable(std::uint32_t slot) {
  ArrayRecord& record = records_[slot];
  record.spillable = true;
  record.older = newest_;
  record.newer = kNoSlot;
  (newest_ == kNoSlot ? oldest_ : records_[newest_].newer) = slot;
  newest_ = slot;
}

void Arrays::remove_spillable(std::uint32_t slot) {
  ArrayRecord& record = records_[slot];
  record.spillable = false;
  (record.older == kNoSlot ? oldest_ : records_[record.older].newer) = record.newer;
  (record.newer == kNoSlot ? newest_ : records_[record.newer].older) = record.older;
}

std::vector<std::uint32_t> Arrays::by_id() const {
  std::vector<std::uint32_t> slots;
  for (std::uint32_t slot = 0; slot < records_.size(); ++slot)
    if (records_[slot].readers != kNoSlot) slots.push_back(slot);
  std::sort(slots.begin(), slots.end(),
            [this](std::uint32_t a, std::uint32_t b) { return records_[a].id < records_[b].id; });
  return slots;
}

}  // namespace seaway::island
