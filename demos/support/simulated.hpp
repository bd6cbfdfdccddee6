// A demo in the simulator: the same body, in virtual time and from a seed.

#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "seaway/app/simulation.hpp"

namespace seaway::demos {

/// Runs `body` with a client of a simulated cluster, which is as `cluster` says. Errors: what the
/// body has found wrong, else what the simulation has; each with the seed, which repeats it.
Result<SimulationReport> run_simulated(
    const std::string& cluster, std::uint64_t seed,
    const std::function<Status(Simulation& simulation, const Client& client)>& body);

/// The same for a command: prints how it went.
Status show_simulated(
    const std::string& cluster, std::uint64_t seed,
    const std::function<Status(Simulation& simulation, const Client& client)>& body);

}  // namespace seaway::demos
