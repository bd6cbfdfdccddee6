// One simulation of one body.

#include "demos/support/simulated.hpp"

#include <cstdio>

#include "demos/support/report.hpp"

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

int run_app(std::string_view demo, const std::string& cluster, const DemoOptions& options,
            const std::function<Status(const Client& client)>& body) {
  if (options.simulation_seed) {
    return finish(demo,
                  show_simulated(cluster, *options.simulation_seed,
                                 [&](Simulation&, const Client& client) { return body(client); }));
  }
  const auto client = connect(options.cluster.empty() ? cluster : options.cluster);
  return finish(demo, client.ok() ? body(*client) : client.status());
}

}  // namespace seaway::demos
