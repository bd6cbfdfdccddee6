// FaultPointInfo: what the simulator knows about each fault point of product code.

#pragma once

#include <cstdint>
#include <string_view>

#include "base/fault_point.hpp"
#include "sim/world_kind.hpp"

namespace seaway::sim {

/// Some kinds of worlds. A value.
class WorldKinds {
 public:
  template <class... Kinds>
  constexpr explicit WorldKinds(Kinds... kinds)
      : bits_(static_cast<std::uint8_t>((0u | ... | bit(kinds)))) {}

  constexpr bool has(WorldKind kind) const { return (bits_ & bit(kind)) != 0; }

 private:
  static constexpr unsigned bit(WorldKind kind) { return 1u << static_cast<unsigned>(kind); }

  std::uint8_t bits_;
};

/// One row of the table.
struct FaultPointInfo {
  std::string_view name;    // "late heartbeat".
  std::string_view file;    // Where it is asked, below src/.
  std::string_view effect;  // What it does, for people.
  WorldKinds worlds;        // Those whose code comes by there.
  /// In a world that has it switched on it fires so often, of a thousand times that it is asked,
  std::uint32_t per_mille = 250;
  /// and at most so often.
  std::uint64_t firings_max = ~std::uint64_t{0};
};

/// Only in programs that have fault points (base/fault_point.hpp).
const FaultPointInfo& info_of(FaultPoint point);

}  // namespace seaway::sim
