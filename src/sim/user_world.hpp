// run_user_seed: a user's body in one simulated world with faults, and the verdict on it.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cluster/embedded.hpp"
#include "seaway/app/explore.hpp"
#include "sim/device_faults.hpp"
#include "sim/host_faults.hpp"
#include "sim/seed_run.hpp"
#include "transport/simulated_wire.hpp"

namespace seaway::sim {

/// Everything about one world of a user's that is fixed before it starts. A value.
struct UserWorld {
  std::uint64_t seed = 0;
  SimulationOptions simulation;
  cluster::EmbeddedOptions cluster;
  std::vector<HostFault> host_faults;
  transport::WireFaults wires;
  DeviceFaults device_faults;
  std::optional<std::uint64_t> choices;

  std::vector<FaultLine> lines() const;
};

/// Half of the worlds have each kind that the options allow; a wild one has all of them. Errors:
/// kInvalidArgument for a cluster or latencies that cannot be.
Result<UserWorld> make_user_world(std::uint64_t seed, const ExploreWorld& world,
                                  bool is_wild = false);

using UserBody = std::function<void(Simulation& simulation)>;
using UserChecks = std::function<void(Explored& explored)>;

/// Pure, but for the body and the checks.
SeedReport run_user_seed(std::uint64_t seed, const ExploreWorld& world, const UserBody& body,
                         const UserChecks& checks, const SeedOptions& options = {});

}  // namespace seaway::sim
