// The fault catalogue: everything that can go wrong, and which simulated worlds it goes wrong in.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/coverage.hpp"
#include "sim/world_kind.hpp"

namespace seaway::sim {

/// How it shows that a fault has happened in a world: a feature that was covered, or, where worlds
/// count by name, the name.
struct FaultProof {
  WorldKind world = WorldKind::kPrograms;
  std::optional<Feature> feature;  // Of programs, and of processes.
  std::string_view counter;        // Of actors; static.
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
