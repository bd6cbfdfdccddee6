// Draws, one stream for each point.

#include "sim/fault_chooser.hpp"

#include "sim/fault_point_info.hpp"

namespace seaway::sim {
namespace {

/// Names of the streams of random numbers.
constexpr std::uint64_t kWorldStream = 0x706f696e74730000;
constexpr std::uint64_t kPointStream = 0x706f696e74000000;

constexpr unsigned kWorldPercent = 50;
constexpr unsigned kPointPercent = 25;
constexpr unsigned kWildPercent = 50;

}  // namespace

SeededFaultChooser::SeededFaultChooser(std::uint64_t seed, bool is_wild) {
  const bool has_points = RandomStream(seed, kWorldStream).chance(kWorldPercent);
  for (std::size_t point = 0; point < kFaultPoints; ++point) {
    State& state = states_.emplace_back(RandomStream(seed, kPointStream + point));
    const std::uint64_t draw = state.random.below(100);
    state.is_on = draw < (is_wild ? kWildPercent : has_points ? kPointPercent : 0);
  }
}

bool SeededFaultChooser::fires(FaultPoint point) {
  State& state = state_of(point);
  if (!state.is_on) return false;
  const FaultPointInfo& info = info_of(point);
  if (state.random.below(1000) >= info.per_mille) return false;
  if (counts_.of(point) >= info.firings_max) return false;
  counts_.add(point);
  return true;
}

}  // namespace seaway::sim
