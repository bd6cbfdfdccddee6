// Mutants: bugs that are planted in product code, to see that the simulator finds each of them.

#pragma once

#include <span>
#include <string_view>

namespace seaway {

/// A planted bug. There is no table of them: each is defined where its code is, and its address
/// goes into a section of the program.
struct Mutant {
  const char* name;
  const char* file;  // As the compiler was given it.
  int line;
  bool is_on = false;
};

/// All that are in this program, in the order of its files; none where files are compiled without
/// them.
std::span<Mutant* const> mutants();

/// Null when none has this name.
const Mutant* find_mutant(std::string_view name);

/// Switches `name` on and all others off; with an empty name all are off. False, and nothing has
/// changed, when none has this name. Between worlds only: one thread.
bool switch_mutant(std::string_view name);

}  // namespace seaway

/// SEAWAY_MUTANT("a lost wake-up"): whether this planted bug is switched on. Its name says what is
/// wrong then. The constant false, and nothing more, unless the file is compiled with
/// -DSEAWAY_FAULT_POINTS=1; where it may stand is said at SEAWAY_FAULT (base/fault_point.hpp), and
/// neither in templates.
#if defined(SEAWAY_FAULT_POINTS) && SEAWAY_FAULT_POINTS
#define SEAWAY_MUTANT(text)                                                                  \
  ([]() -> bool {                                                                            \
    static constinit ::seaway::Mutant mutant{text, __FILE__, __LINE__};                      \
    [[gnu::section("seaway_mutants"), gnu::used]] static constinit ::seaway::Mutant* entry = \
        &mutant;                                                                             \
    return mutant.is_on;                                                                     \
  }())
#else
#define SEAWAY_MUTANT(text) (static_cast<void>(sizeof(text)), false)
#endif
