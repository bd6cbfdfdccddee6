// A demo on a cluster in real time, or in the simulator: the same body, from a seed.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "demos/demos.hpp"
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

/// All that a command of a demo on actors does: runs `body` with a client of an embedded cluster,
/// or of the one that the options name, or of a simulated one, and gives the exit code.
int run_app(std::string_view demo, const std::string& cluster, const DemoOptions& options,
            const std::function<Status(const Client& client)>& body);

}  // namespace seaway::demos
