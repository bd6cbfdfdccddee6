// Snapshot: what a host knows of its parts and arrays, for a scheduler that starts anew.

#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.hpp"

namespace seaway::island {

/// Gangs [first, last) of a part, by index.
struct GangRange {
  std::uint32_t first = 0, last = 0;
};

/// One part that the host has: its launch has arrived there, and the host is not through with it.
struct PartState {
  Stamp stamp = 0;
  bool admitted = false;
  /// As Action::overtakes and Action::beside said at kAdmit.
  bool overtakes = false;
  Stamp beside = 0;
  bool cancelled = false;
  bool fencing = false;  // Cancelled, and fenced() has not been said.
  bool moving = false;   // kMoveSends has come.
  bool moved = false;    // moved() has been said.
  std::uint32_t gangs_placed = 0;
  std::vector<GangRange> gangs_done;        // As done() said, or would say: rising, apart.
  std::vector<std::uint32_t> values_here;   // Edges from peers whose value has come.
  std::vector<std::uint32_t> sends_closed;  // Edges to peers of which received() has been said.
};

/// One array that the host has a record of, made or not.
struct ArrayState {
  enum class Place : std::uint8_t {
    kNowhere,     // Not made yet, or poison without room.
    kDevices,     // Has its room on all its devices.
    kUploadRoom,  // In host room, not loaded (wholly) since its upload.
    kSpillRoom,   // In host room, not loaded (wholly) since kSpill.
    kSpilling,    // On the way there: spilled() has not been said.
  };
  ArrayId id = 0;
  std::vector<DeviceId> devices;  // In mesh order.
  std::uint64_t bytes_per_device = 0;
  Place place = Place::kNowhere;
  bool poison = false;
  /// Of kDevices: the host keeps the copy in spill room that it was loaded from, for gangs that
  /// read it are not done. Hosts whose loads are over when the first gang begins say false.
  bool spill_copy = false;
};

/// All that a host knows at one moment. It is the truth: orders that the host has not applied never
/// happened, and it drops those that it holds back for a launch. Nothing that it said before that
/// moment reaches the new scheduler any more; all that it says later does. The moment is behind the
/// arrival of all parts that the controller takes for finished: one that was cancelled before the
/// host knew it would come to life there.
struct Snapshot {
  Stamp last_stamp = 0;  // Of the last launch that has reached the host.
  std::vector<PartState> parts;
  std::vector<ArrayState> arrays;
};

}  // namespace seaway::island
