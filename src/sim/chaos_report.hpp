// ChaosReport: what is printed about many seeds, and the exit code that it comes to.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "sim/chaos.hpp"
#include "sim/seed_line.hpp"

namespace seaway::sim {

/// Where the check was that ended a process with those last words: "order.cpp:41".
/// Empty when they do not say.
std::string place_of_crash(const std::string& text);

/// Prints to standard output, except what is for people while standard output is for machines.
/// Told of the seeds in order, it prints the same whoever ran them; only rates differ.
class ChaosReport {
 public:
  /// Both outlive it. `clock` measures the time budget and the rate.
  ChaosReport(const ChaosOptions& options, const Clock& clock);

  bool is_out_of_time() const;
  /// The next seed's outcome. False when no further one is wanted, for enough have failed.
  bool add(const SeedLine& line);
  /// The next seed ended its process, which said `text`. Returns the same.
  bool add_crash(std::uint64_t seed, const std::string& text);
  /// The sums, when nothing failed. Returns the exit code.
  int finish();

 private:
  double elapsed_s() const;
  bool add_failure(const std::string& kind, std::uint64_t seed, std::uint64_t steps, int exit_code);
  void print_groups();
  /// What the seeds should have done and did not.
  std::vector<std::string> missing() const;
  void show_progress(std::uint64_t seed);
  void clear_progress();
  /// How fast the engine is by itself, on this machine and now; the seeds took `steps_per_s`.
  void print_bare(double steps_per_s) const;

  const ChaosOptions& options_;
  const Clock& clock_;
  const std::uint64_t begin_ns_;
  std::uint64_t shown_ns_ = 0;  // When progress was shown last; 0: never.
  std::uint64_t seeds_ = 0, steps_ = 0, virtual_ns_ = 0;
  Counts counts_;
  Coverage coverage_;
  FaultPointCounts fault_points_;
  ProbeCounts probes_;
  int exit_code_ = kChaosClean;  // That of the first failure.
  struct Group {
    std::uint64_t seeds = 0, first_seed = 0, least_steps = 0, least_seed = 0;
    int exit_code = kChaosClean;
  };
  std::uint64_t failures_ = 0;
  std::map<std::string, Group> groups_;  // By invariant and place.
};

}  // namespace seaway::sim
