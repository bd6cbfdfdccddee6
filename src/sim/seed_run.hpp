// run_seed: one simulated world from its first message to its last, and the verdict on it.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "device/backend.hpp"
#include "events/event.hpp"
#include "events/event_stream.hpp"
#include "sim/edits.hpp"
#include "sim/fault_points.hpp"
#include "sim/verdict.hpp"
#include "sim/world_kind.hpp"

namespace seaway::sim {

/// More steps than any world takes that is not going round in circles.
constexpr std::uint64_t kStepsMax = 3'000'000;

struct SeedReport {
  std::uint64_t seed = 0;
  WorldKind kind = WorldKind::kPrograms;
  std::uint64_t steps = 0, virtual_ns = 0, events = 0;
  /// Of all events and all choices: equal for equal runs.
  std::uint64_t hash = 0;
  std::string world, policy;
  Counts counts;
  Coverage coverage;
  FaultPointCounts fault_points;
  std::uint64_t shares_measured = 0;  // How often tenants competed for long enough.
  Breach breach = Breach::kNone;
  std::vector<FaultLine> faults;           // That the world had, with fault points.
  std::uint32_t clients = 0, actions = 0;  // How many there were, and of each of them.
  std::uint32_t islands = 0, devices = 0;  // As of the world; of actors: its hosts, and none.
  std::vector<Violation> violations;
  std::vector<events::Event> last_events;  // Only after a violation, or when asked for.
  std::string waiting;                     // Who waits for what, after a hang.
  std::string chain;                       // Of those, what holds up the rest: also after a hang.
  bool is_cut = false;                     // It was stopped at an event, before its end.
  std::string story;                       // Of actors: the last of the ledger, as last_events.
  std::string trace;                       // Chrome's format, when asked for.
};

/// The newest events of the seed that runs now, one a line: for whoever reports a crash of it.
std::string story_so_far(std::size_t events_max);
/// Where it finds them while a world runs; null: none does.
void set_running(const events::EventRing* ring);

/// Gives what stands in the place of one island's devices. Tests break devices with it, to see that
/// it does not go unnoticed.
using ReplaceBackend =
    std::function<std::unique_ptr<device::Backend>(std::unique_ptr<device::Backend> backend)>;

/// What a report has beside its verdict, for which the run is the same; and what is broken.
struct SeedOptions {
  bool keep_events = false;
  bool trace = false;
  ReplaceBackend replace_backend = nullptr;  // Empty: the devices are as the world has them.
  Edits edits = {};                          // Of the world that the seed draws.
  std::uint64_t until_event = 0;             // It stops there, whatever goes on. 0: at its end.
};

/// Pure, but for a backend of the caller's: the same seed gives the same report. Takes a few
/// milliseconds of real time.
SeedReport run_seed(std::uint64_t seed, const SeedOptions& options = {});

/// Whether a world with so many events stops there.
inline bool is_cut_at(std::uint64_t events, const SeedOptions& options) {
  return options.until_event > 0 && events >= options.until_event;
}

}  // namespace seaway::sim
