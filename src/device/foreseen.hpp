// Foreseen: the gangs that a host has told its backend of, and that have not begun.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/check.hpp"
#include "device/backend.hpp"

namespace seaway::device {

/// A queue, and a part of HostCore, which says what becomes of it. It outlives a turn of the host
/// only where that one lets others have theirs before it goes on: the first one is then the first
/// to begin in the next turn, or all are forgotten, as they are when something comes between that
/// could keep one from that.
class Foreseen {
 public:
  /// So many that a device has work while others have their turn, and that few are done for nothing
  /// where one ahead of them fails.
  static constexpr std::size_t kMax = 4;

  struct Place {
    std::uint64_t sequence = 0;  // Of the entry,
    std::uint32_t gang = 0;      // and of its gangs this one.
    friend bool operator==(const Place&, const Place&) = default;
  };
  struct Gang {
    Place place;
    std::vector<function::ShardedBuffer> operands;
    std::vector<ForeseenGang::Source> sources;
    std::vector<std::shared_ptr<const void>> kept;  // What operands lie in.
    ForeseenGang told;
  };

  std::size_t size() const { return size_; }
  bool is_empty() const { return size_ == 0; }
  bool is_full() const { return size_ == kMax; }
  /// Of `index` < size(); 0 begins next.
  Gang& operator[](std::size_t index) { return ring_[(first_ + index) % kMax]; }
  const Gang& operator[](std::size_t index) const { return ring_[(first_ + index) % kMax]; }

  /// Room for one more, behind all; it counts from push() on. Unless it is full.
  Gang& room() {
    SEAWAY_CHECK(!is_full());
    return (*this)[size_];
  }
  void push() { ++size_; }
  void pop() {
    clear((*this)[0]);
    first_ = (first_ + 1) % kMax;
    --size_;
  }
  /// What pop() leaves of one; its memory serves the next.
  static void clear(Gang& gang) {
    gang.operands.clear();
    gang.sources.clear();
    gang.kept.clear();
  }

 private:
  std::array<Gang, kMax> ring_;
  std::size_t first_ = 0, size_ = 0;
};

}  // namespace seaway::device
