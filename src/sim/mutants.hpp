// Mutants in worlds: which seeds can reach a planted bug, the first that fails of it, and tables.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutant.hpp"
#include "sim/world_kind.hpp"

namespace seaway::sim {

/// "src/island/order.cpp:88".
std::string place_of(const Mutant& mutant);

/// Whether worlds of `kind` come by the code of `mutant` at all, as its room says.
bool may_reach(const Mutant& mutant, WorldKind kind);

/// One seed that is about to run.
struct MutantTry {
  std::uint64_t seed = 0;
  WorldKind kind = WorldKind::kPrograms;
  std::uint64_t worlds = 0;  // So many have run with this one, each of another seed.
};

/// How a planted bug was found.
struct MutantFind {
  MutantTry at;
  int exit_code = 0;                  // That of the seed's verdict, or of its crash.
  std::string why;                    // "I2"; of a crash its first words.
  std::uint64_t hash = 0, steps = 0;  // Of the seed; 0 of a crash.
};

/// Runs seeds `first` .. `last` with `mutant` on, as `seaway chaos --mixed` draws their worlds,
/// leaves out those that cannot reach it, and stops at the first that fails. Nothing: none does.
/// `before` hears of each seed before it runs, for one may take the process with it.
std::optional<MutantFind> hunt(const Mutant& mutant, std::uint64_t first, std::uint64_t last,
                               const std::function<void(const MutantTry&)>& before);

/// What came of one mutant. A value.
struct MutantRow {
  const Mutant* mutant = nullptr;
  std::optional<MutantFind> find;
};

/// A line each: name, place.
std::string mutant_list();
/// A line each, the most stubborn last; then how many were found, and in how many worlds.
std::string mutant_table(std::vector<MutantRow> rows);
/// {"mutant":"..", ..}, on one line.
std::string to_json(const MutantRow& row);
/// The command that runs the world again in which it was found.
std::string replay_line(const MutantRow& row);

}  // namespace seaway::sim
