// shrink: the least that still fails in the same way, found by leaving out more and more.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/edits.hpp"
#include "sim/seed_run.hpp"

namespace seaway::sim {

/// How large a world that failed was: what there is to leave out. A value.
struct FailedWorld {
  std::vector<FaultLine> faults;
  std::uint32_t clients = 0, actions = 0;  // Of each client.
  std::uint32_t islands = 0, devices = 0;
  std::uint64_t steps = 0;

  friend bool operator==(const FailedWorld&, const FailedWorld&) = default;
};
FailedWorld failed_world_of(const SeedReport& report);

/// Runs the world once, with those edits. Nothing: it does not fail, or in another way.
using TryEdits = std::function<std::optional<FailedWorld>(const Edits& edits)>;

struct Shrunk {
  Edits edits;
  FailedWorld before, after;
  std::uint32_t tries = 0;
  bool is_finished = false;  // Nothing more could be left out; else the time was over before that.
};

/// Leaves out faults first (delta debugging, Zeller and Hildebrandt, IEEE TSE 2002), then clients,
/// actions, islands, devices, then moves times to round numbers and ends the random choices of the
/// schedule as early as possible; again from the front until nothing changes. `has_time` is asked
/// before each try. Nothing when the world does not fail with `start` in the first place.
std::optional<Shrunk> shrink(const Edits& start, const TryEdits& try_edits,
                             const std::function<bool()>& has_time);

}  // namespace seaway::sim
