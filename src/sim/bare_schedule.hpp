// Bare schedules: the seeded engine with hardly anything to do, to see what it costs by itself.

#pragma once

#include <cstdint>

namespace seaway::sim {

/// So many actors pass as many frames without content around, each to one the seed chooses.
constexpr std::uint32_t kBareActors = 16;

/// Takes `steps` steps of such a world, or nearly as many, in the order that the seed gives;
/// nothing is recorded, timed or checked. Returns how many steps it took.
std::uint64_t run_bare(std::uint64_t seed, std::uint64_t steps);

}  // namespace seaway::sim
