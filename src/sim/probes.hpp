// Probes of product code: which there are, and how often a world came by each.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/probe.hpp"

namespace seaway::sim {

/// How often each probe was reached, in the order in which the program has them. Empty in programs
/// without probes. A value.
using ProbeCounts = std::vector<std::uint64_t>;

/// All of this program, by files and lines.
std::vector<const Probe*> probes();
/// How many there are.
std::size_t probe_count();
/// Takes what was counted since it was asked last.
ProbeCounts take_probe_counts();
void add(ProbeCounts& sum, const ProbeCounts& counts);

/// A line for each: its name and its place.
std::string probe_table();
/// The same with counts, rarest first.
std::string probe_table(const ProbeCounts& counts);
/// The names of those that were not reached.
std::vector<std::string> missing_probes(const ProbeCounts& counts);

}  // namespace seaway::sim
