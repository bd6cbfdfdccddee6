// run_seed: one simulated world from its first message to its last, and the verdict on it.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "events/event.hpp"
#include "sim/verdict.hpp"

namespace seaway::sim {

/// More steps than any world takes that is not going round in circles.
constexpr std::uint64_t kStepsMax = 3'000'000;

struct SeedReport {
  std::uint64_t seed = 0;
  std::uint64_t steps = 0, virtual_ns = 0, events = 0;
  /// Of all events and all choices: equal for equal runs.
  std::uint64_t hash = 0;
  std::string world, policy;
  Counts counts;
  Coverage coverage;
  std::uint64_t shares_measured = 0;  // How often tenants competed for long enough.
  Breach breach = Breach::kNone;
  std::vector<Violation> violations;
  std::vector<events::Event> last_events;  // Only after a violation, or when asked for.
  std::string waiting;                     // Who waits for what, after a hang.
};

/// The newest events of the seed that runs now, one a line: for whoever reports a crash of it.
std::string story_so_far(std::size_t events_max);

/// Pure: the same seed gives the same report. Takes about a millisecond of real time.
SeedReport run_seed(std::uint64_t seed, bool keep_events = false);

}  // namespace seaway::sim
