// The list of mutants: what the linker has put into their section.

#include "base/mutant.hpp"

#include <algorithm>

// The linker names both ends of a section, if there is one.
extern "C" {
[[gnu::weak, gnu::visibility("hidden")]] extern seaway::Mutant* __start_seaway_mutants[];
[[gnu::weak, gnu::visibility("hidden")]] extern seaway::Mutant* __stop_seaway_mutants[];
}

namespace seaway {
namespace {

Mutant* find(std::string_view name) {
  const auto all = mutants();
  const auto found =
      std::ranges::find_if(all, [name](const Mutant* mutant) { return mutant->name == name; });
  return found == all.end() ? nullptr : *found;
}

}  // namespace

std::span<Mutant* const> mutants() { return {__start_seaway_mutants, __stop_seaway_mutants}; }

const Mutant* find_mutant(std::string_view name) { return find(name); }

bool switch_mutant(std::string_view name) {
  Mutant* const wanted = find(name);
  if (!wanted && !name.empty()) return false;
  for (Mutant* mutant : mutants()) mutant->is_on = mutant == wanted;
  return true;
}

}  // namespace seaway
