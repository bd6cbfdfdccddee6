// ChaosReport: what is printed about many seeds, and the exit code that it comes to.

#pragma once

#include <cstdint>
#include <string>

#include "base/clock.hpp"
#include "sim/chaos.hpp"
#include "sim/seed_line.hpp"

namespace seaway::sim {

/// Prints to standard output, except what is for people while standard output is for machines.
/// Told of the seeds in order, it prints the same whoever ran them; only rates differ.
class ChaosReport {
 public:
  /// Both outlive it. `clock` measures the time budget and the rate.
  ChaosReport(const ChaosOptions& options, const Clock& clock);

  bool is_out_of_time() const;
  /// The next seed's outcome. False when no further one is wanted, for it failed.
  bool add(const SeedLine& line);
  /// The next seed ended its process, which said `text`.
  void add_crash(std::uint64_t seed, const std::string& text);
  /// The sums, when nothing failed. Returns the exit code.
  int finish();

 private:
  double elapsed_s() const;
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
  int exit_code_ = kChaosClean;
};

}  // namespace seaway::sim
