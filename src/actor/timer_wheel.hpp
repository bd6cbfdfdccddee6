// TimerWheel: very many deadlines, most of which are removed before they are due.

#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "base/check.hpp"

namespace seaway::actor {

/// One deadline, inside whatever has it. Its owner removes it before it goes.
class TimerNode {
 public:
  TimerNode() = default;
  ~TimerNode() { SEAWAY_CHECK(!is_pending(), at_ns_); }
  TimerNode(const TimerNode&) = delete;
  TimerNode& operator=(const TimerNode&) = delete;

  bool is_pending() const { return next_ != nullptr; }
  /// When it is or was last due.
  std::uint64_t at_ns() const { return at_ns_; }

 private:
  friend class TimerWheel;

  TimerNode* next_ = nullptr;
  TimerNode* previous_ = nullptr;
  std::uint64_t at_ns_ = 0;
};

/// A hierarchical timing wheel (Varghese, Lauck: "Hashed and hierarchical timing wheels", SOSP
/// 1987, schemes 6 and 7): four levels of 256 slots, a tick of about a millisecond. A node lies at
/// the level of the highest byte in which the ticks of its time and of now differ, and sinks as
/// that byte is reached; what is more than 2^32 ticks (52 days) ahead stays at the last level.
///
/// add() and remove() cost O(1), advance() what it fires and sinks. No memory is allocated. What
/// fires when depends on the calls alone, so that a simulated run repeats. Has no clock, and is not
/// thread-safe.
class TimerWheel {
 public:
  static constexpr std::uint64_t kTickNs = std::uint64_t{1} << 20;

  explicit TimerWheel(std::uint64_t now_ns = 0) : tick_(now_ns / kTickNs) {
    for (TimerNode& slot : slots_) slot.next_ = slot.previous_ = &slot;
  }
  ~TimerWheel() {
    SEAWAY_CHECK(size_ == 0, size_);
    for (TimerNode& slot : slots_) slot.next_ = nullptr;
  }
  TimerWheel(const TimerWheel&) = delete;
  TimerWheel& operator=(const TimerWheel&) = delete;

  /// Fires `node` at `at_ns`, rounded up to a tick; if that has passed, at the next tick. Borrows
  /// it until it fires or is removed. Requires that it is not pending.
  void add(TimerNode& node, std::uint64_t at_ns) {
    SEAWAY_CHECK(!node.is_pending(), node.at_ns_, at_ns);
    node.at_ns_ = at_ns;
    place(node, std::max(tick_of(at_ns), tick_ + 1));
    ++size_;
  }

  /// Forgets `node`; harmless when it is not pending.
  void remove(TimerNode& node) {
    if (!node.is_pending()) return;
    unlink(node);
    --size_;
  }

  /// Calls `fire(TimerNode&)` for each node that is due at `now_ns`: never before its time, in
  /// order of its tick and then of adding. It is no longer pending then: `fire` may add it again,
  /// end it, and add or remove others; it may not advance. Time does not go back: an earlier
  /// `now_ns` changes nothing.
  template <class Fire>
  void advance(std::uint64_t now_ns, Fire&& fire) {
    SEAWAY_CHECK(!is_advancing_, now_ns);
    is_advancing_ = true;
    const std::uint64_t now_tick = now_ns / kTickNs;
    while (const std::optional<Place> next = first_place()) {
      if (next->tick > now_tick) break;
      tick_ = next->tick;
      if (next->slot >= kSlots) {
        sink(next->slot);
        continue;
      }
      // What `fire` adds is due at a later tick, and so lies in another slot.
      TimerNode& slot = slots_[next->slot];
      while (slot.next_ != &slot) {
        TimerNode& node = *slot.next_;
        unlink(node);
        --size_;
        fire(node);
      }
    }
    tick_ = std::max(tick_, now_tick);
    is_advancing_ = false;
  }

  /// When to advance next: the time at which the next node fires, or an earlier one at which one
  /// sinks, which each node does three times at most (and once more each 2^32 ticks). A few
  /// nanoseconds.
  std::optional<std::uint64_t> next_ns() const {
    const std::optional<Place> next = first_place();
    if (!next) return std::nullopt;
    return next->tick < kTicks ? next->tick * kTickNs : std::numeric_limits<std::uint64_t>::max();
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

 private:
  static constexpr unsigned kLevels = 4, kSlotBits = 8, kSlots = 1 << kSlotBits;
  static constexpr unsigned kWords = kSlots / 64;
  static constexpr std::uint64_t kTicks = std::uint64_t{1} << 44;  // Those of 64 bits of ns.

  /// A slot that is not empty, and when its turn is.
  struct Place {
    std::uint64_t tick;
    unsigned slot;
  };

  static std::uint64_t tick_of(std::uint64_t at_ns) {
    return at_ns / kTickNs + (at_ns % kTickNs != 0);
  }

  /// Appends `node` to the slot of `tick`, which is not before tick_. A node that was added earlier
  /// for the same tick lies there already, or has been before it in each slot that both were in.
  void place(TimerNode& node, std::uint64_t tick) {
    const auto bits = static_cast<unsigned>(std::bit_width(tick ^ tick_));
    const unsigned level = std::min(bits > 0 ? (bits - 1) / kSlotBits : 0, kLevels - 1);
    const unsigned slot = level * kSlots + ((tick >> (level * kSlotBits)) & (kSlots - 1));
    TimerNode& head = slots_[slot];
    node.next_ = &head;
    node.previous_ = head.previous_;
    head.previous_->next_ = &node;
    head.previous_ = &node;
    used_[slot / 64] |= std::uint64_t{1} << slot % 64;
  }

  void unlink(TimerNode& node) {
    if (node.next_ == node.previous_) {  // It was alone: both are its slot.
      const auto slot = static_cast<unsigned>(node.next_ - slots_.data());
      used_[slot / 64] &= ~(std::uint64_t{1} << slot % 64);
    }
    node.next_->previous_ = node.previous_;
    node.previous_->next_ = node.next_;
    node.next_ = nullptr;
  }

  /// Places the nodes of `slot` anew, now that its turn has come.
  void sink(unsigned slot) {
    // What is still too far ahead goes back into the same slot, behind the last.
    const TimerNode* last = slots_[slot].previous_;
    for (bool is_last = false; !is_last;) {
      TimerNode& node = *slots_[slot].next_;
      is_last = &node == last;
      unlink(node);
      place(node, std::max(tick_of(node.at_ns_), tick_));
    }
  }

  /// The first slot in use among `from` to the end of its level.
  std::optional<unsigned> first_used(unsigned level, unsigned from) const {
    if (from >= kSlots) return std::nullopt;
    const std::uint64_t* words = &used_[level * kWords];
    std::uint64_t word = words[from / 64] & ~std::uint64_t{0} << from % 64;
    for (unsigned w = from / 64;; word = words[w]) {
      if (word != 0) return w * 64 + static_cast<unsigned>(std::countr_zero(word));
      if (++w == kWords) return std::nullopt;
    }
  }

  /// The slot whose turn is next. All of a level come before any of the next one.
  std::optional<Place> first_place() const {
    if (size_ == 0) return std::nullopt;
    for (unsigned level = 0; level < kLevels; ++level) {
      const unsigned shift = level * kSlotBits;
      const std::uint64_t now = tick_ >> shift;
      const auto index = static_cast<unsigned>(now & (kSlots - 1));
      // At the first level the present slot holds what has just sunk to it.
      if (const auto found = first_used(level, level == 0 ? index : index + 1)) {
        return Place{(now - index + *found) << shift, level * kSlots + *found};
      }
    }
    // Only nodes more than a turn of the last level ahead are left.
    constexpr unsigned kLast = kLevels - 1;
    const unsigned found = *first_used(kLast, 0);
    const std::uint64_t turn = (tick_ >> kLevels * kSlotBits) + 1;
    return Place{((turn << kSlotBits) + found) << kLast * kSlotBits, kLast * kSlots + found};
  }

  std::array<TimerNode, kLevels * kSlots> slots_;  // Heads of rings.
  std::array<std::uint64_t, kLevels * kWords> used_{};
  std::uint64_t tick_;
  std::size_t size_ = 0;
  bool is_advancing_ = false;
};

}  // namespace seaway::actor
