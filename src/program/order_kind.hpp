// OrderKind: the entries of an island's order, as they travel from its scheduler to its host.

#pragma once

#include <cstdint>

namespace seaway::program {

enum class OrderKind : std::uint8_t {
  kAdmit = 0,  // Room of a part begins behind all entries before this one.
  kPlace,      // Gangs [first, last) of a part are next.
  kFree,       // An array goes, behind the entries before this one on its devices.
  kSpill,      // An array moves to host room now.
  kCancel,     // Gangs of a part that have not begun become no-ops; no more will be placed.
  kMoveSends,  // Values of a part for other islands move to host room when they are made.
};

}  // namespace seaway::program
