// SeededFaultChooser: which fault points fire in one world, and how often, as its seed says.

#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/fault_point.hpp"
#include "base/random.hpp"
#include "sim/fault_points.hpp"

namespace seaway::sim {

/// Two levels, as FoundationDB does it: half of the seeds have no points at all; in the others a
/// quarter of the points is switched on, and one that is fires as often as its row of the table
/// says. Each point has a random stream of its own, so that one point less leaves the others as
/// they were.
class SeededFaultChooser final : public FaultChooser {
 public:
  explicit SeededFaultChooser(std::uint64_t seed, bool is_wild = false);

  bool fires(FaultPoint point) override;
  /// From now on it never fires.
  void spare(FaultPoint point) { state_of(point).is_on = false; }
  bool is_on(FaultPoint point) const { return states_[static_cast<std::size_t>(point)].is_on; }
  const FaultPointCounts& counts() const { return counts_; }

 private:
  struct State {
    RandomStream random;
    bool is_on = false;
  };
  State& state_of(FaultPoint point) { return states_[static_cast<std::size_t>(point)]; }

  std::vector<State> states_;  // By point.
  FaultPointCounts counts_;
};

}  // namespace seaway::sim
