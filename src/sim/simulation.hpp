// SimulatedWorld: one simulated cluster with users' actors, and the bodies that run in it.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <vector>

#include "actor/seeded_engine.hpp"
#include "actor/seeded_process.hpp"
#include "app/apps.hpp"
#include "app/simulated_network.hpp"
#include "base/random.hpp"
#include "cluster/embedded.hpp"
#include "events/event_stream.hpp"
#include "seaway/app/simulation.hpp"
#include "sim/device_faults.hpp"
#include "sim/sim_backend.hpp"

namespace seaway::sim {

/// What only the worlds of the chaos tests decide about a simulation.
struct SimulationTuning {
  app::SiloLimits limits;
  transport::WireFaults faults;  // Of the connections between hosts.
  DeviceFaults device_faults;
  /// Called when the body says that nothing is to fail any more.
  std::function<void()> on_heal;
  /// What does not hold, as a body says.
  std::function<void(const std::string& invariant, const std::string& text,
                     const std::source_location& at)>
      on_broken;
  /// As SimulatedNetwork::Options; it outlives the world.
  const internal::TypeTable* types = nullptr;
  /// As SeededOptions.
  std::optional<std::uint64_t> choices_max;
  /// Called after each step; false ends the simulation there.
  std::function<bool()> after_step;
};

/// What simulate() runs, with what checkers may look at. Outlived by no client of it: each holds
/// it.
class SimulatedWorld final : public Simulation,
                             public std::enable_shared_from_this<SimulatedWorld> {
 public:
  /// Requires that the options' cluster was parsed into `cluster`.
  SimulatedWorld(const SimulationOptions& options, cluster::EmbeddedOptions cluster,
                 SimulationTuning tuning = {});
  ~SimulatedWorld() override;

  /// Once: runs the body and what it spawns to their ends, and looks at what is left.
  SimulationReport run(const std::function<void(Simulation&)>& body);

  // Simulation.
  Result<Client> connect(ClientOptions options) override;
  void spawn(std::string name, std::function<void()> body) override;
  void sleep(std::chrono::nanoseconds time) override;
  std::chrono::nanoseconds now() const override;
  std::uint64_t random() override { return random_.next(); }
  Status kill_host(std::uint32_t host) override;
  Status restart_host(std::uint32_t host) override;
  Status pause_host(std::uint32_t host) override;
  Status resume_host(std::uint32_t host) override;
  Status set_host_clock(std::uint32_t host, std::chrono::nanoseconds ahead,
                        std::int64_t gain_ppm) override;
  void heal() override;
  void expect(bool holds, std::string_view invariant, std::string_view text,
              const std::source_location& at) override;

  actor::SeededEngine& engine() { return *engine_; }
  events::EventStream& events() { return events_; }
  std::uint64_t event_count() const { return hash_.count(); }
  /// Null before the first actor.
  app::Apps* apps() { return embedded_->has_apps() ? &embedded_->apps() : nullptr; }
  std::uint32_t hosts() const { return cluster_.islands * cluster_.hosts; }
  bool is_alive(std::uint32_t host) const { return is_alive_[host]; }
  bool is_paused(std::uint32_t host) const {
    return processes_[host] && processes_[host]->is_paused();
  }
  /// How many processes its actors have had, with the one that lives.
  std::uint32_t life(std::uint32_t host) const { return lives_[host]; }
  const app::SimulatedNetwork* network() const { return network_.get(); }
  /// What each silo waits for, for people.
  std::string why();
  /// What is there of clients that have gone; empty: nothing.
  std::string left_over();

 private:
  Status change_host(std::uint32_t host, bool lives);
  Status check_host(std::uint32_t host, bool lives) const;
  Result<actor::SeededProcess*> process_of(std::uint32_t host);
  bool has_clients();
  void run_body(const std::string& name, const std::function<void()>& body);
  void fail(Status status);

  const SimulationOptions options_;
  const cluster::EmbeddedOptions cluster_;
  const SimulationTuning tuning_;
  RandomStream random_;
  RandomStream choices_;
  events::EventStream events_;
  events::EventHash hash_;
  Status failure_;
  bool has_stopped_ = false;
  std::vector<bool> is_alive_;
  std::vector<std::weak_ptr<void>> clients_;
  std::unique_ptr<actor::SeededEngine> engine_;
  std::vector<std::unique_ptr<actor::SeededProcess>> processes_;  // Of each host's actors.
  std::vector<std::uint32_t> lives_;
  std::unique_ptr<app::SimulatedNetwork> network_;
  std::vector<SimBackend*> backends_;  // Of each island; its host has it.
  std::unique_ptr<cluster::Embedded> embedded_;
};

}  // namespace seaway::sim
