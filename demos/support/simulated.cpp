// One simulation of one body.

#include "demos/support/simulated.hpp"

#include <cstdio>

namespace seaway::demos {

Result<SimulationReport> run_simulated(
    const std::string& cluster, std::uint64_t seed,
    const std::function<Status(Simulation& simulation, const Client& client)>& body) {
  Status outcome;
  const SimulationReport report =
      simulate({.cluster = cluster, .seed = seed}, [&](Simulation& simulation) {
        const auto client = simulation.connect();
        outcome = client.ok() ? body(simulation, *client) : client.status();
      });
  if (outcome.ok()) outcome = report.status;
  if (outcome.ok()) return report;
  return Status(outcome.code(), "with seed " + std::to_string(seed) + ": " + outcome.message());
}

Status show_simulated(
    const std::string& cluster, std::uint64_t seed,
    const std::function<Status(Simulation& simulation, const Client& client)>& body) {
  const auto report = run_simulated(cluster, seed, body);
  if (report.ok()) std::printf("simulated, %s\n", report->to_string().c_str());
  return report.status();
}

}  // namespace seaway::demos
