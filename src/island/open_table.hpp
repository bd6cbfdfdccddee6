// OpenTable: an open-addressing index from a 64-bit key to a slot of a pool kept elsewhere.

#pragma once

#include <cstdint>
#include <vector>

namespace seaway::island {

/// 8 to 16 bytes per entry; linear probing; erase shifts back, so that churn leaves no tombstones.
/// The keys lie with the values in the pool: `key_at(slot)` finds them.
class OpenTable {
 public:
  static constexpr std::uint32_t kEmpty = 0xffffffff;

  template <class KeyAt>
  std::uint32_t find(std::uint64_t key, const KeyAt& key_at) const {
    if (slots_.empty()) return kEmpty;
    for (std::size_t at = home(key);; at = (at + 1) & mask_) {
      if (slots_[at] == kEmpty || key_at(slots_[at]) == key) return slots_[at];
    }
  }

  /// Requires that `key` is not in the table.
  template <class KeyAt>
  void insert(std::uint64_t key, std::uint32_t slot, const KeyAt& key_at) {
    if ((count_ + 1) * 2 > slots_.size()) grow(key_at);
    place(key, slot);
    ++count_;
  }

  /// Requires that `key` is in the table.
  template <class KeyAt>
  void erase(std::uint64_t key, const KeyAt& key_at) {
    std::size_t hole = home(key);
    while (key_at(slots_[hole]) != key) hole = (hole + 1) & mask_;
    for (std::size_t at = (hole + 1) & mask_; slots_[at] != kEmpty; at = (at + 1) & mask_) {
      // An entry moves into the hole unless its home lies behind the hole.
      if (((at - home(key_at(slots_[at]))) & mask_) >= ((at - hole) & mask_)) {
        slots_[hole] = slots_[at];
        hole = at;
      }
    }
    slots_[hole] = kEmpty;
    --count_;
  }

 private:
  std::size_t home(std::uint64_t key) const {
    return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15ULL) >> 32) & mask_;
  }
  void place(std::uint64_t key, std::uint32_t slot) {
    std::size_t at = home(key);
    while (slots_[at] != kEmpty) at = (at + 1) & mask_;
    slots_[at] = slot;
  }
  template <class KeyAt>
  void grow(const KeyAt& key_at) {
    std::vector<std::uint32_t> old(slots_.empty() ? 16 : slots_.size() * 2, kEmpty);
    old.swap(slots_);
    mask_ = slots_.size() - 1;
    for (std::uint32_t slot : old)
      if (slot != kEmpty) place(key_at(slot), slot);
  }

  std::vector<std::uint32_t> slots_;
  std::size_t mask_ = 0;
  std::size_t count_ = 0;
};

}  // namespace seaway::island
