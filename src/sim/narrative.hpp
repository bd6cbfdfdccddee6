// Narrative: the events that led to a violation, as sentences; those that it is about first.

#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.hpp"
#include "events/event.hpp"
#include "sim/verdict.hpp"

namespace seaway::sim {

/// What violations are about, as far as their texts name it: "gang 2 of stamp 7 on island 0".
struct Concern {
  std::set<Stamp> stamps;
  std::set<RunId> runs;
  std::set<ArrayId> arrays;
  std::set<IslandId> islands;

  friend bool operator==(const Concern&, const Concern&) = default;
};

/// `events` tell which stamp is of which run: whoever is named by one is meant by both.
Concern concern_of(std::span<const Violation> violations, std::span<const events::Event> events);

/// One sentence without its end: "12.345 ms: island 0 starts gang 2 of stamp 7".
std::string tell(const events::Event& event);

/// At most `lines_max` lines, in the order of time, each indented and ended. Of `events`, oldest
/// first, it takes the newest of those that name what the violations are about, then of those on
/// islands that they name, and others only where the violations name nothing at all. With the
/// number of the first one, which is not 0, each line begins with its own: "#1842".
std::string narrate(std::span<const events::Event> events, std::span<const Violation> violations,
                    std::size_t lines_max, std::uint64_t first_number = 0);

}  // namespace seaway::sim
