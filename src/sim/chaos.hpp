// Chaos: many seeds, one after another, and what to print about them.

#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/clock.hpp"
#include "sim/seed_line.hpp"

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

struct ChaosOptions {
  std::uint64_t first_seed = 1;
  std::uint64_t last_seed = 100;
  bool apps = false;                // Worlds of users' actors, and not of programs.
  bool processes = false;           // Worlds whose roles are processes that fail.
  bool replay = false;              // Tell the story of the seed.
  bool json = false;                // One JSON object a line for each seed, and nothing else.
  bool shows_progress = false;      // A line that is drawn again and again: on terminals only.
  bool must_cover = false;          // A feature that no seed had is an error.
  bool bare = false;                // Figures have those of a bare scheduler beside them.
  double time_budget_s = 0;         // 0: none.
  std::uint32_t again_percent = 5;  // So many seeds run twice, to compare their hashes.
  /// With `replay`: gets the trace of the seed, in Chrome's format. Empty: nobody wants it.
  std::function<void(const std::string& trace)> on_trace = nullptr;
  /// Hears of each seed in their order: what exit code it came to, and in how many steps.
  std::function<void(int exit_code, std::uint64_t steps)> on_seed = nullptr;
  /// For each run of each seed. No word of the command line sets it.
  ReplaceBackend replace_backend = nullptr;
};

/// One seed, twice where its number or a replay says so.
SeedLine run_one(std::uint64_t seed, const ChaosOptions& options);

/// Runs the seeds, prints to standard output, and stops at the first that fails. `clock` measures
/// the time budget and the rate. Returns an exit code.
int run_chaos(const ChaosOptions& options, const Clock& clock);

/// The seed that runs now, for whoever reports a crash. Read from signal handlers.
std::uint64_t current_seed();

/// I25: adds a violation to `report` unless `second`, of the same seed, did exactly the same.
void check_repeats(SeedReport& report, const SeedReport& second);

/// The report as one line of JSON; for people, with invariant, last events and replay line.
std::string to_json(const SeedReport& report);
std::string to_text(const SeedReport& report);

}  // namespace seaway::sim
