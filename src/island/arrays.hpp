// Arrays: what the scheduler knows of each live array: where it lies, who still needs it.

#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.hpp"
#include "island/open_table.hpp"

namespace seaway::island {

constexpr std::uint32_t kNoSlot = 0xffffffff;

struct ArrayRecord {
  enum class Place : std::uint8_t { kNowhere, kHost, kDevice };

  ArrayId id = 0;
  std::uint64_t bytes_per_device = 0;
  std::uint32_t device_set = 0;
  std::uint32_t readers = 0;  // Uses by launched parts whose last reading gang is not placed, and
                              // sends that are not received.
  std::uint32_t pins = 0;     // Uses by admitted parts whose last reading gang is not done, sends,
                              // and the gang that makes it: while any is left it cannot be spilled.
  std::uint32_t waiters = kNoSlot;  // First part that waits for it, by slot.
  std::uint32_t older = kNoSlot, newer = kNoSlot;
  std::uint32_t scratch = 0;  // For counting within one call; 0 between calls.
  Place place = Place::kNowhere;
  bool made : 1 = false;           // Its gang is placed, or it is an upload, or it is poison.
  bool finished : 1 = false;       // Its gang is done.
  bool dropped : 1 = false;        // No later launch names it.
  bool consumed : 1 = false;       // Donated: its buffer becomes an output.
  bool gone : 1 = false;           // Freed or handed over; the record waits for its last pin.
  bool spilling : 1 = false;       // On its way to host room.
  bool spill_charged : 1 = false;  // Has room in the host's spill room.
  bool spillable : 1 = false;      // In the list of least recently used arrays.
};
static_assert(sizeof(ArrayRecord) <= 64, "10^6 live arrays are a goal");

/// Records by id, and the finished arrays that nobody uses in the order of their last use. Slots
/// stay valid until erase().
class Arrays {
  // Before its first use: its type is deduced.
  auto key() const {
    return [this](std::uint32_t slot) { return records_[slot].id; };
  }

 public:
  std::uint32_t find(ArrayId id) const { return table_.find(id, key()); }
  std::uint32_t insert(ArrayId id, std::uint32_t device_set, std::uint64_t bytes_per_device);
  void erase(std::uint32_t slot);
  ArrayRecord& operator[](std::uint32_t slot) { return records_[slot]; }
  const ArrayRecord& operator[](std::uint32_t slot) const { return records_[slot]; }
  std::size_t count() const { return count_; }

  /// Sets of devices are kept once each, for ever: an island has few. O(sets * devices).
  std::uint32_t intern(const std::vector<DeviceId>& devices);
  const std::vector<DeviceId>& devices_of(const ArrayRecord& record) const {
    return device_sets_[record.device_set];
  }

  void append_spillable(std::uint32_t slot);
  void remove_spillable(std::uint32_t slot);
  std::uint32_t oldest_spillable() const { return oldest_; }

  /// Slots in order of id. O(n log n), for explaining.
  std::vector<std::uint32_t> by_id() const;

 private:
  std::vector<ArrayRecord> records_;
  OpenTable table_;
  std::uint32_t free_ = kNoSlot;
  std::size_t count_ = 0;
  std::uint32_t oldest_ = kNoSlot, newest_ = kNoSlot;
  std::vector<std::vector<DeviceId>> device_sets_;
};

}  // namespace seaway::island
