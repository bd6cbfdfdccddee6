// Edits: what is left out of a world, or moved in it, that its seed alone would have.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/fault_line.hpp"

namespace seaway::sim {

struct World;
struct AppWorld;
struct UserWorld;
struct ProcessFaults;
class FaultPoints;

/// The difference between a world and the one that its seed draws. As everything is drawn from
/// streams of its own, what is not edited stays as it was: that is what makes shrinking work
/// (reliability.md 3). A value; the default changes nothing.
struct Edits {
  /// Each kind of fault that a world can have it has.
  bool is_wild = false;
  /// Faults that do not happen, by name.
  std::set<std::string> without;
  /// Faults of other families do not happen. Nothing: all do.
  std::optional<std::set<std::string, std::less<>>> families;
  /// When a fault begins, and how long it lasts, by name.
  std::map<std::string, std::uint64_t> at_ns, for_ns;
  /// What clients leave out: the number of the client, from 0 on, and of its action.
  std::set<std::pair<std::uint32_t, std::uint32_t>> skipped;
  /// No more than these. Islands are the hosts of a world of actors.
  std::optional<std::uint32_t> clients, islands, devices;
  /// Behind so many choices the schedule is first in, first out.
  std::optional<std::uint64_t> choices;

  bool is_empty() const { return *this == Edits(); }
  bool skips(std::uint32_t client, std::uint32_t action) const {
    return skipped.contains({client, action});
  }
  bool has(const FaultLine& fault) const {
    return !without.contains(fault.name) && (!families || families->contains(fault.family));
  }

  friend bool operator==(const Edits&, const Edits&) = default;
};

/// What the seed drew, without what the edits leave out. Faults of devices that are not there go.
/// `world.edits` is set: clients and schedules look there.
void apply(const Edits& edits, World& world);
void apply(const Edits& edits, AppWorld& world);
/// Islands, devices and clients are the user's: they stay.
void apply(const Edits& edits, UserWorld& world);
void apply(const Edits& edits, ProcessFaults& faults);
void apply(const Edits& edits, FaultPoints& points);

}  // namespace seaway::sim
