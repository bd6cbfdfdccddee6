// explore: a body in many simulated clusters, each with other faults and another order of events.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "seaway/app/simulation.hpp"
#include "seaway/status.hpp"

namespace seaway::sim {

/// What may go wrong in the worlds of an exploration; each of them has some of it.
struct WorldFaults {
  bool kills = true;    // Hosts' processes die, and are back after a while.
  bool pauses = true;   // They stand still for a while.
  bool clocks = true;   // Their clocks are wrong.
  bool wires = true;    // Connections break, flip bits, repeat what they carried.
  bool devices = true;  // Devices are lost, hang, are slow, have no memory for a while.

  /// Nothing goes wrong: other orders of events alone.
  static WorldFaults none() { return {false, false, false, false, false}; }
};

/// What each world is.
struct ExploreWorld {
  /// As in SimulationOptions.
  std::string cluster = "embedded:islands=4,devices=1";
  WorldFaults faults = {};
  std::chrono::nanoseconds latency_min = std::chrono::microseconds(10);
  std::chrono::nanoseconds latency_max = std::chrono::milliseconds(2);
  /// Faults begin within this time from the beginning of the world.
  std::chrono::nanoseconds fault_time = std::chrono::milliseconds(200);
  /// More than any world takes that comes to an end.
  std::uint64_t steps_max = 2'000'000;
};

/// How many worlds there are, and what is done about one that fails.
struct ExploreOptions {
  /// Of this exploration: in repro files, and for `seaway chaos user --test`.
  std::string name = "explore";
  std::uint64_t first_seed = 1;
  std::uint64_t seeds = 1000;
  /// It ends behind the world that runs then. 0: there is no such time.
  std::chrono::nanoseconds time_budget = std::chrono::nanoseconds(0);
  /// How long it may look for a smaller world that fails in the same way. 0: not at all.
  std::chrono::nanoseconds shrink_time = std::chrono::seconds(20);
  /// Where the repro file of a failure goes; empty: there is none.
  std::string repro_directory = ".";
};

/// One event of a world: what the cluster did. Ids mean something within one world only.
struct WorldEvent {
  std::chrono::nanoseconds time = std::chrono::nanoseconds(0);
  std::string_view kind;  // "gang_start", "device_lost", "rerun", ..: as in traces.
  std::uint64_t stamp = 0, object = 0, value = 0;
  std::uint32_t position = 0, place = 0, island = 0;
  StatusCode code = StatusCode::kOk;
};

/// A world that has come to its end, for checks.
class Explored {
 public:
  virtual ~Explored() = default;

  virtual std::uint64_t seed() const = 0;
  /// What was to go wrong in it, in words.
  virtual const std::vector<std::string>& faults() const = 0;
  /// All that it recorded, up to 65,536 events; of more the newest.
  virtual std::span<const WorldEvent> events() const = 0;
  /// Says that `invariant` does not hold unless `holds`. The first one counts. Failures
  /// are grouped by the line that calls this.
  virtual void expect(bool holds, std::string_view invariant, std::string_view text,
                      const std::source_location& at = std::source_location::current()) = 0;
};

/// What an exploration has shown. A value.
struct ExploreReport {
  bool ok = true;
  std::uint64_t seeds = 0;        // That were run.
  std::uint64_t failed_seed = 0;  // The first one that failed.
  /// "balance": what does not hold, as expect() was told; "hang", "left over", "exception" or
  /// "crash" of what every world is checked for; "setup" of a world that cannot be.
  std::string invariant;
  std::string text;                 // What happened, with the last events, after shrinking.
  std::vector<std::string> faults;  // That are left after shrinking.
  std::string repro_path;           // The file that `seaway chaos user --replay` takes; or empty.

  /// For the message of an assertion.
  std::string to_string() const;
};

/// Runs `body` in one simulated cluster after another, as simulate() does, where faults are drawn
/// from the seed as well, and `checks` behind each; stops at the first that fails, and looks for
/// the least that still fails in the same way. A world fails when expect() says so, in the body or
/// in the checks; when the body throws or never ends; when something is left over; when the process
/// crashes.
///
/// Worlds run in processes of their own: what body and checks change outside is not seen by the
/// caller, nor by the next world. State that both need is made anew at the beginning of the body.
/// Of the caller's threads none goes on there: call it where there are no others.
///
/// Some hundred to some thousand worlds a second. Under `seaway chaos user` the words of that
/// command decide what is run, and the process ends behind it with the exit code of a campaign.
ExploreReport explore(const ExploreOptions& options, const ExploreWorld& world,
                      const std::function<void(Simulation& simulation)>& body,
                      const std::function<void(Explored& explored)>& checks = {});

}  // namespace seaway::sim
