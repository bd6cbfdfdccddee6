// SeedLine: what is left of one seed's report when many are added up, also across processes.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/probes.hpp"
#include "sim/seed_run.hpp"

namespace seaway::sim {

/// A value. The texts are what is printed about the seed.
struct SeedLine {
  std::uint64_t seed = 0, steps = 0, virtual_ns = 0;
  Counts counts;
  Coverage coverage;
  FaultPointCounts fault_points;
  ProbeCounts probes;  // Of this seed alone.
  Breach breach = Breach::kNone;
  std::uint64_t hash = 0;
  std::string invariant, place;  // Of the first violation.
  std::string json, text;

  friend bool operator==(const SeedLine&, const SeedLine&) = default;
};

/// One line of numbers, then the texts.
std::string to_record(const SeedLine& line);

/// Takes the first record off `bytes`; nothing, and `bytes` is as before, when it is not whole yet.
/// Stops the process when it is no record: only our own processes write them.
std::optional<SeedLine> take_record(std::string& bytes);

}  // namespace seaway::sim
