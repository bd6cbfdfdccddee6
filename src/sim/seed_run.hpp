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
#include "sim/verdict.hpp"

namespace seaway::sim {

/// More steps than any world takes that is not going round in circles.
constexpr std::uint64_t kStepsMax = 3'000'000;

struct SeedReport {
  std::uint64_t seed = 0;
  bool is_of_apps = false;       // A world of users' actors.
  bool is_of_processes = false;  // A world whose roles are processes that fail.
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
  std::string chain;                       // Of those, what holds up the rest: also after a hang.
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
};

/// Pure, but for a backend of the caller's: the same seed gives the same report. Takes a few
/// milliseconds of real time.
SeedReport run_seed(std::uint64_t seed, const SeedOptions& options = {});

}  // namespace seaway::sim
