// Chaos: many seeds, one after another, and what to print about them.

#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/clock.hpp"
#include "sim/seed_line.hpp"
#include "sim/world_kind.hpp"

namespace seaway::sim {

/// What `seaway chaos` returns to the shell.
constexpr int kChaosClean = 0;
constexpr int kChaosUsage = 1;
constexpr int kChaosUncovered = 2;
constexpr int kChaosCrash = 127;
constexpr int kChaosLiveness = 128;
constexpr int kChaosCorrectness = 129;
constexpr int kChaosNondeterminism = 130;

/// The exit code that a seed's verdict comes to.
int exit_code_of(Breach breach);

struct ChaosOptions;
/// Runs the world of a seed: pure, as run_seed().
using RunSeed = std::function<SeedReport(std::uint64_t seed, const SeedOptions& options)>;

struct ChaosOptions {
  std::uint64_t first_seed = 1;
  std::uint64_t last_seed = 100;
  WorldKind kind = WorldKind::kPrograms;
  bool replay = false;              // Tell the story of the seed.
  bool json = false;                // One JSON object a line for each seed, and nothing else.
  bool shows_progress = false;      // A line that is drawn again and again: on terminals only.
  bool must_cover = false;          // A feature that no seed had is an error.
  bool counts_probes = false;       // A table of probes behind the figures.
  bool bare = false;                // Figures have those of a bare scheduler beside them.
  double time_budget_s = 0;         // 0: none.
  std::uint32_t again_percent = 5;  // So many seeds run twice, to compare their hashes.
  std::uint64_t failures_max = 1;   // It stops at so many. 0: at none.
  Edits edits = {};                 // Of each world.
  std::uint64_t until_event = 0;    // As SeedOptions; of a replay.
  /// Worlds of one's own. Empty: those of `kind`.
  RunSeed run = nullptr;
  /// What `--replay N` stands behind in what people are told to type. Empty: `seaway chaos`, with
  /// the flag of the kind.
  std::string command = "";
  /// With `replay`: gets the trace of the seed, in Chrome's format. Empty: nobody wants it.
  std::function<void(const std::string& trace)> on_trace = nullptr;
  /// Hears of each seed in their order: what exit code it came to, and in how many steps.
  std::function<void(int exit_code, std::uint64_t steps)> on_seed = nullptr;
  /// For each run of each seed. No word of the command line sets it.
  ReplaceBackend replace_backend = nullptr;
};

/// What the seed stands for.
WorldKind kind_of(std::uint64_t seed, const ChaosOptions& options);

/// One seed, twice where its number or a replay says so.
SeedReport report_one(std::uint64_t seed, const ChaosOptions& options);
/// The same, and what is left of it.
SeedLine run_one(std::uint64_t seed, const ChaosOptions& options);

/// Runs the seeds, prints to standard output, and stops at the first that fails. `clock` measures
/// the time budget and the rate. Returns an exit code.
int run_chaos(const ChaosOptions& options, const Clock& clock);

/// The world of the seed, of the kind that is asked for.
SeedReport run_world(std::uint64_t seed, const ChaosOptions& options, const SeedOptions& wanted);

/// The command that runs the seed again: "seaway chaos --apps --replay 7".
std::string replay_line(WorldKind kind, std::uint64_t seed);
std::string replay_line(const ChaosOptions& options, WorldKind kind, std::uint64_t seed);

/// For whoever reports a crash, also from signal handlers: the seed that runs now; and what has
/// happened in it, in at most 40 lines.
struct RunningSeed {
  std::uint64_t seed = 0;
  WorldKind kind = WorldKind::kPrograms;
};
RunningSeed running_seed();
std::string story_of_crash();

/// I25: adds a violation to `report` unless `second`, of the same seed, did exactly the same.
void check_repeats(SeedReport& report, const SeedReport& second);

/// The report as one line of JSON; for people, with invariant, last events and replay line.
std::string to_json(const SeedReport& report);
std::string to_text(const SeedReport& report);

}  // namespace seaway::sim
