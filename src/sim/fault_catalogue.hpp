// The fault catalogue: everything that can go wrong, and which simulated worlds it goes wrong in.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/coverage.hpp"

namespace seaway::sim {

/// The kinds of worlds that a seed can stand for.
enum class WorldKind : std::uint8_t { kPrograms, kApps, kProcesses };
/// "programs".
std::string_view to_string(WorldKind kind);

/// How it shows that a fault has happened in a world: a feature that was covered, or, where worlds
/// count by name, the name.
struct FaultProof {
  WorldKind world = WorldKind::kPrograms;
  std::optional<Feature> feature;  // Of programs.
  std::string_view counter;        // Of the other kinds; static.
};

/// A fault F<number>. Where nothing proves it, it is not simulated; `waits_for` then says which
/// part has to exist first. A fault can have both: it happens in some worlds, and more is to come.
struct Fault {
  std::uint32_t number = 0;
  std::string_view name;
  std::vector<FaultProof> proofs;
  std::string_view waits_for;

  bool is_simulated() const { return !proofs.empty(); }
};

/// All faults, by number. The one list of them: tables and checks are made of it.
std::span<const Fault> fault_catalogue();

/// The catalogue as a table for people: a line each, a head above and a sum below.
std::string fault_table();

}  // namespace seaway::sim
