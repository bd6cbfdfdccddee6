// IdTable: records by id, small and fast, always iterated in the order of insertion.

#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "base/ids.hpp"
#include "base/random.hpp"

namespace seaway::store {

/// A hash table from ids to records. Beside the record an entry costs 8 bytes of links and 11 to
/// 22 bytes of index. Records never move, so pointers to them stay valid until erase(). `Record`
/// has a member `id` and is default-constructible and move-assignable. Not thread-safe.
template <class Record>
class IdTable {
 public:
  IdTable() : slots_(kSlotsMin) {}
  IdTable(IdTable&&) noexcept = default;
  IdTable& operator=(IdTable&&) noexcept = default;

  std::size_t size() const { return size_; }

  /// Null if there is none. The first probe nearly always decides.
  Record* find(std::uint64_t id) {
    const std::uint32_t tag = tag_of(id);
    for (std::size_t place = tag & mask();; place = (place + 1) & mask()) {
      const Slot& slot = slots_[place];
      if (slot.entry == kNobody) return nullptr;
      if (slot.tag == tag) {
        Record& record = entry(slot.entry).record;
        if (record.id == id) return &record;
      }
    }
  }
  const Record* find(std::uint64_t id) const { return const_cast<IdTable*>(this)->find(id); }

  /// A new record, last in order. Requires that `record.id` is not in the table.
  Record& insert(Record record) {
    if ((size_ + 1) * 4 > slots_.size() * 3) grow();
    std::uint32_t index = first_free_;
    if (index != kNobody) {
      first_free_ = entry(index).next;
    } else {
      index = entries_++;
      if (index % kChunk == 0) chunks_.push_back(std::make_unique<Entry[]>(kChunk));
    }
    put({tag_of(record.id), index});
    Entry& added = entry(index);
    added.record = std::move(record);
    added.next = kNobody;
    added.previous = last_;
    (last_ == kNobody ? first_ : entry(last_).next) = index;
    last_ = index;
    ++size_;
    return added.record;
  }

  /// Requires that `id` is in the table.
  void erase(std::uint64_t id) {
    std::size_t place = tag_of(id) & mask();
    while (slots_[place].entry == kNobody || entry(slots_[place].entry).record.id != id) {
      SEAWAY_CHECK(slots_[place].entry != kNobody, id);
      place = (place + 1) & mask();
    }
    const std::uint32_t index = slots_[place].entry;
    Entry& removed = entry(index);
    (removed.previous == kNobody ? first_ : entry(removed.previous).next) = removed.next;
    (removed.next == kNobody ? last_ : entry(removed.next).previous) = removed.previous;
    removed.record = Record();
    removed.next = first_free_;
    first_free_ = index;
    close_gap(place);
    --size_;
  }

  /// Calls visit(record) for each record, oldest first. `visit` must not insert or erase.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (std::uint32_t index = first_; index != kNobody; index = entry(index).next) {
      visit(entry(index).record);
    }
  }

  /// Heap bytes of the table; what records own themselves comes on top.
  std::size_t memory_bytes() const {
    return slots_.capacity() * sizeof(Slot) + chunks_.size() * kChunk * sizeof(Entry) +
           chunks_.capacity() * sizeof(void*);
  }

 private:
  struct Entry {
    Record record;
    std::uint32_t next = 0;
    std::uint32_t previous = 0;
  };
  struct Slot {
    std::uint32_t tag = 0;
    std::uint32_t entry = kNobody;
  };
  static constexpr std::uint32_t kNobody = 0xffffffff;
  static constexpr std::size_t kChunk = 256;  // Entries are made this many at a time.
  static constexpr std::size_t kSlotsMin = 16;

  static std::uint32_t tag_of(std::uint64_t id) { return static_cast<std::uint32_t>(mix64(id)); }
  std::size_t mask() const { return slots_.size() - 1; }
  Entry& entry(std::uint32_t index) { return chunks_[index / kChunk][index % kChunk]; }
  const Entry& entry(std::uint32_t index) const { return chunks_[index / kChunk][index % kChunk]; }

  void put(Slot slot) {
    std::size_t place = slot.tag & mask();
    while (slots_[place].entry != kNobody) place = (place + 1) & mask();
    slots_[place] = slot;
  }

  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.entry != kNobody) put(slot);
    }
  }

  /// Moves later slots of the same cluster forward, so that no marks of dead entries are needed.
  void close_gap(std::size_t gap) {
    for (std::size_t place = (gap + 1) & mask(); slots_[place].entry != kNobody;
         place = (place + 1) & mask()) {
      const std::size_t home = slots_[place].tag & mask();
      if (((place - home) & mask()) < ((place - gap) & mask())) continue;
      slots_[gap] = slots_[place];
      gap = place;
    }
    slots_[gap] = Slot();
  }

  std::vector<Slot> slots_;  // Linear probing; a power of two, at most three quarters full.
  std::vector<std::unique_ptr<Entry[]>> chunks_;
  std::uint32_t entries_ = 0;  // Ever made; those freed are on the list at first_free_.
  std::uint32_t first_free_ = kNobody;
  std::uint32_t first_ = kNobody, last_ = kNobody;
  std::size_t size_ = 0;
};

}  // namespace seaway::store
