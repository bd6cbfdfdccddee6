// Part: one launched part as the scheduler follows it, and lists of parts by slot.

#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.hpp"
#include "island/arrays.hpp"
#include "island/part_profile.hpp"

namespace seaway::island {

/// Links of one intrusive list. A slot may be in several lists at once, each with its own links.
struct PartLink {
  std::uint32_t before = kNoSlot, after = kNoSlot;
  bool linked = false;
};

struct Part {
  Stamp stamp = 0;
  RunId run = 0;
  TenantId tenant = 0;
  std::uint32_t plan_slot = 0;
  const PartProfile* profile = nullptr;  // Owned by SchedulerCore::plans_.

  std::uint32_t next = 0;      // First gang that is not placed.
  std::uint32_t end = 0;       // One past the last gang that will be placed: less after a cancel.
  std::uint32_t done = 0;      // Gangs done.
  std::uint32_t free_end = 0;  // Gangs [next, free_end) are free.
  std::uint32_t cursor = 0;    // First of profile->waits that does not hold yet.
  // Into arg_ends, outputs_made, output_ends.
  std::uint32_t arg_cursor = 0, output_cursor = 0, output_end_cursor = 0;
  std::uint32_t sends_left = 0;        // Not received by the peer.
  std::uint32_t block_sends_left = 0;  // Of them, values in the part's own block.

  bool admitted = false;
  bool overtaker = false;
  bool cancelled = false;
  bool held = false;    // The blocks keep what is to be sent.
  bool moving = false;  // kMoveSends is under way, or done.
  bool moved = false;
  bool fencing = false;         // Cancelled, and transfers may still use its room.
  bool ready = false;           // In the ready queue.
  std::uint64_t send_room = 0;  // Host room reserved.
  Stamp beside = 0;             // Overtook this part through a closed door, fitting beside it.
  std::uint32_t overtaken = 0;  // Weakening::kOvertakesCounted only.
  std::uint32_t waiting_on = kNoSlot, waiter_next = kNoSlot;  // The array that it waits for.

  /// Slots of arrays: arguments, outputs, then one per send (kNoSlot: in the block). An entry
  /// stands for a pin, and becomes kNoSlot when the pin ends.
  std::vector<std::uint32_t> arrays;
  std::vector<std::uint64_t> bits;  // Receives that exist, then sends that are received.

  PartLink live, waiting, unplaced, free_waiting, overtakers;

  bool bit(std::size_t index) const { return bits[index / 64] >> (index % 64) & 1; }
  void set_bit(std::size_t index) { bits[index / 64] |= std::uint64_t{1} << (index % 64); }
  std::uint32_t output_at(std::uint32_t index) const {
    return static_cast<std::uint32_t>(profile->plan->args.size()) + index;
  }
  std::uint32_t send_at(std::uint32_t index) const {
    return output_at(static_cast<std::uint32_t>(profile->plan->outputs.size())) + index;
  }
  bool is_free() const { return free_end == profile->gangs; }
};

/// A doubly linked list of parts in stamp order, through the member `link` of each.
class PartList {
 public:
  explicit PartList(PartLink Part::*link) : link_(link) {}

  std::uint32_t front() const { return front_; }
  bool empty() const { return front_ == kNoSlot; }
  std::uint32_t after(const std::vector<Part>& parts, std::uint32_t slot) const {
    return (parts[slot].*link_).after;
  }

  /// Keeps stamp order; O(1) when the stamp is the largest, as it is at launch.
  void insert(std::vector<Part>& parts, std::uint32_t slot) {
    std::uint32_t before = back_;
    while (before != kNoSlot && parts[before].stamp > parts[slot].stamp)
      before = (parts[before].*link_).before;
    PartLink& link = parts[slot].*link_;
    link.linked = true;
    link.before = before;
    link.after = before == kNoSlot ? front_ : (parts[before].*link_).after;
    (before == kNoSlot ? front_ : (parts[before].*link_).after) = slot;
    (link.after == kNoSlot ? back_ : (parts[link.after].*link_).before) = slot;
  }

  void remove(std::vector<Part>& parts, std::uint32_t slot) {
    PartLink& link = parts[slot].*link_;
    if (!link.linked) return;
    link.linked = false;
    (link.before == kNoSlot ? front_ : (parts[link.before].*link_).after) = link.after;
    (link.after == kNoSlot ? back_ : (parts[link.after].*link_).before) = link.before;
  }

 private:
  PartLink Part::*link_;
  std::uint32_t front_ = kNoSlot, back_ = kNoSlot;
};

}  // namespace seaway::island
