// Shrinking: the least world that fails as a seed does, as a repro.

#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "campaign/repro.hpp"
#include "campaign/trial.hpp"

namespace seaway::campaign {

/// What there is to shrink.
struct Culprit {
  std::string world;   // As in Repro.
  std::string mutant;  // The same.
  std::uint64_t seed = 0;
  sim::Edits edits;  // To begin with.
  RunWorld run;
};

struct Shrinking {
  Repro repro;
  Outcome least;      // Of its last run.
  std::string words;  // "shrunk from 7 faults, .. to 2 faults, .. in 61 tries and 4.2 s".
  bool is_finished = false;
  std::size_t faults_before = 0, faults = 0;  // There were, and are left.
  double seconds = 0;
};

/// Nothing when the world does not fail. Each try is a process; it ends behind the one that runs
/// when the time is over. `clock` measures it.
std::optional<Shrinking> shrink_world(const Culprit& culprit, double seconds_max,
                                      const Clock& clock);

/// Replaces the file; false when that cannot be done.
bool write_repro(const std::string& path, const Repro& repro);
/// Errors: kInvalidArgument, with the path.
Result<Repro> read_repro(const std::string& path);
/// "repro.json was written by another build: .."; empty when it was this one.
std::string build_difference(const std::string& path, const Repro& repro);

}  // namespace seaway::campaign
