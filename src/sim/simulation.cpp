// Steps of a simulation, and what may be left after the last one.

#include "sim/simulation.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "seaway/app/task.hpp"
#include "sim/sim_spill.hpp"

namespace seaway::sim {
namespace {

/// Names of the streams of random numbers.
constexpr std::uint64_t kBodyStream = 0x626f647900000000;
constexpr std::uint64_t kChoiceStream = 0x63686f6963650000;
constexpr std::uint64_t kTuningStream = 0x74756e696e670000;

constexpr std::size_t kEvents = 1 << 12;
constexpr std::uint64_t kSpillNsMax = 1'000'000;
constexpr std::size_t kStackBytes = 512 * 1024;  // Bodies are tests, with their assertions.
constexpr std::uint64_t kStepNsMax = 2'000;
/// Most handlers of a turn: few, so that the seed decides who comes in between.
constexpr std::uint64_t kTurnMax = 16;

/// Leaves a body that would go on and on in a world that has stopped.
struct WorldHasStopped {};

/// Holds the world as long as a client does.
struct ClientToken {
  std::shared_ptr<SimulatedWorld> world;
};

}  // namespace

SimulatedWorld::SimulatedWorld(const SimulationOptions& options, cluster::EmbeddedOptions cluster,
                               SimulationTuning tuning)
    : options_(options),
      cluster_(std::move(cluster)),
      tuning_(std::move(tuning)),
      random_(options.seed, kBodyStream),
      choices_(options.seed, kChoiceStream),
      events_(kEvents),
      is_alive_(hosts(), true),
      processes_(hosts()),
      lives_(hosts(), 0) {
  actor::SeededOptions seeded;
  seeded.step_ns_max = kStepNsMax;
  seeded.stack_bytes = kStackBytes;
  seeded.choices_max = tuning_.choices_max;
  engine_ = actor::make_seeded_engine(options.seed, seeded);
  app::AppsTuning apps;
  RandomStream drawn(options.seed, kTuningStream);
  apps.seed = options.seed;
  apps.limits = tuning_.limits;
  apps.limits.turn = static_cast<std::uint32_t>(1 + drawn.below(1 + drawn.below(kTurnMax)));
  apps.choose = [this](std::size_t count) {
    return static_cast<std::size_t>(choices_.below(count));
  };
  apps.network = [this](std::uint32_t silos) {
    app::SimulatedNetwork::Options network;
    network.seed = options_.seed;
    network.latency_min_ns = static_cast<std::uint64_t>(options_.latency_min.count());
    network.latency_max_ns = static_cast<std::uint64_t>(options_.latency_max.count());
    network.faults = tuning_.faults;
    network.types = tuning_.types;
    network_ = std::make_unique<app::SimulatedNetwork>(*engine_, silos, network);
    return network_.get();
  };
  apps.start_process = [this](app::SiloId silo) {
    const std::uint32_t host = app::host_of_silo(silo);
    ++lives_[host];
    processes_[host] = engine_->make_process("host " + std::to_string(host));
    return processes_[host].get();
  };
  apps.kill_process = [this](app::SiloId silo) {
    processes_[app::host_of_silo(silo)]->kill();
    processes_[app::host_of_silo(silo)].reset();
  };
  embedded_ = std::make_unique<cluster::Embedded>(
      cluster_, *engine_, events_,
      [this](IslandId island, std::function<void()> on_progress) {
        const auto complain = [this](std::string text) {
          fail({StatusCode::kDataCorruption, std::move(text)});
        };
        auto backend = std::make_unique<SimBackend>(*engine_, options_.seed, island, CostModel(),
                                                    std::move(on_progress), complain,
                                                    tuning_.device_faults.of(island));
        backends_.push_back(backend.get());
        return backend;
      },
      cluster::ActorEngines(), std::move(apps),
      [this](IslandId island) -> std::unique_ptr<store::SpillFile> {
        if (cluster_.spill_memory == 0) return nullptr;
        return std::make_unique<SimSpill>(
            *engine_, options_.seed, island, 1, SpillFaults{.delay_max_ns = kSpillNsMax},
            [](const SpillLoss&) {},
            [this](std::string text) {
              fail({StatusCode::kDataCorruption, std::move(text)});
            });
      });
  events_.add_observer(hash_);
}

SimulatedWorld::~SimulatedWorld() {
  engine_->stop();
  processes_.clear();
  engine_.reset();
  embedded_.reset();
}

void SimulatedWorld::fail(Status status) {
  if (failure_.ok()) failure_ = std::move(status);
}

void SimulatedWorld::run_body(const std::string& name, const std::function<void()>& body) {
  try {
    body();
  } catch (const WorldHasStopped&) {
    // Its report says already that it was not at its end.
  } catch (...) {
    const Status status = internal::status_of_user_exception();
    fail({status.code(), "body \"" + name + "\": " + status.message()});
  }
}

SimulationReport SimulatedWorld::run(const std::function<void(Simulation&)>& body) {
  spawn("body", [this, &body] { body(*this); });
  std::uint64_t steps = 0;
  bool is_wanted = true;
  while (is_wanted && steps < options_.steps_max && !engine_->unfinished_bodies().empty() &&
         engine_->step()) {
    ++steps;
    is_wanted = !tuning_.after_step || tuning_.after_step();
  }
  SimulationReport report;
  report.seed = options_.seed;
  report.virtual_time = now();
  const auto waiting = [this] {
    std::string text;
    for (const std::string& name : engine_->unfinished_bodies()) text += " " + name;
    return text + "\n" + why();
  };
  // What clients have left behind comes to its end. Actors of those that stay may never rest.
  while (is_wanted && steps < options_.steps_max && engine_->unfinished_bodies().empty() &&
         !has_clients() && engine_->step()) {
    ++steps;
    is_wanted = !tuning_.after_step || tuning_.after_step();
  }
  if (steps >= options_.steps_max) {
    fail(deadline_exceeded("still busy after " + std::to_string(steps) +
                           " steps (steps_max); there waits:" + waiting()));
  } else if (is_wanted && !engine_->unfinished_bodies().empty()) {
    fail(deadline_exceeded("nothing can move any more, but there waits:" + waiting()));
  } else if (is_wanted && !has_clients()) {
    if (std::string left = left_over(); !left.empty()) {
      fail({StatusCode::kDataCorruption, "at the end there is left over:\n" + left});
    }
  }
  report.steps = engine_->steps();
  report.hash = mix64(hash_.hash() ^ engine_->choices_hash() ^ engine_->now_ns());
  if (network_) report.hash = mix64(report.hash ^ network_->hash());
  report.status = failure_;
  has_stopped_ = true;
  embedded_->detach_apps();
  engine_->stop();
  return report;
}

Result<Client> SimulatedWorld::connect(ClientOptions options) {
  auto token = std::make_shared<ClientToken>(ClientToken{shared_from_this()});
  clients_.push_back(token);
  return embedded_->connect(std::move(options), std::move(token));
}

bool SimulatedWorld::has_clients() {
  std::erase_if(clients_, [](const auto& client) { return client.expired(); });
  return !clients_.empty();
}

void SimulatedWorld::spawn(std::string name, std::function<void()> body) {
  engine_->spawn_body(name, [this, name, body = std::move(body)] { run_body(name, body); });
}

void SimulatedWorld::sleep(std::chrono::nanoseconds time) {
  const auto wait_ns = static_cast<std::uint64_t>(std::max<std::int64_t>(1, time.count()));
  if (has_stopped_) throw WorldHasStopped();
  engine_->wait([] { return false; }, engine_->now_ns() + wait_ns);
  if (has_stopped_) throw WorldHasStopped();
}

std::chrono::nanoseconds SimulatedWorld::now() const {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(engine_->now_ns()));
}

Status SimulatedWorld::kill_host(std::uint32_t host) { return change_host(host, false); }
Status SimulatedWorld::restart_host(std::uint32_t host) { return change_host(host, true); }

/// That it is there, and lives, or is dead.
Status SimulatedWorld::check_host(std::uint32_t host, bool lives) const {
  const std::string name = "host " + std::to_string(host);
  if (host >= hosts()) {
    return invalid_argument(name + " does not exist; this cluster has " + std::to_string(hosts()));
  }
  if (is_alive_[host] == lives) return {};
  return invalid_argument(name + (lives ? " is dead already" : " lives; kill it first"));
}

Result<actor::SeededProcess*> SimulatedWorld::process_of(std::uint32_t host) {
  if (Status status = check_host(host, true); !status.ok()) return status;
  embedded_->apps();  // Its process begins with the first that is asked for.
  return processes_[host].get();
}

Status SimulatedWorld::pause_host(std::uint32_t host) {
  auto process = process_of(host);
  if (!process.ok()) return process.status();
  if ((*process)->is_paused()) {
    return invalid_argument("host " + std::to_string(host) + " is paused already");
  }
  (*process)->pause();
  return {};
}

Status SimulatedWorld::resume_host(std::uint32_t host) {
  auto process = process_of(host);
  if (!process.ok()) return process.status();
  if (!(*process)->is_paused()) {
    return invalid_argument("host " + std::to_string(host) + " is not paused");
  }
  (*process)->resume();
  return {};
}

Status SimulatedWorld::set_host_clock(std::uint32_t host, std::chrono::nanoseconds ahead,
                                      std::int64_t gain_ppm) {
  auto process = process_of(host);
  if (!process.ok()) return process.status();
  if (gain_ppm <= -1'000'000) {
    return invalid_argument("the clock of host " + std::to_string(host) + " would gain " +
                            std::to_string(gain_ppm) +
                            " millionths of each second; say more than -1000000, for no clock runs "
                            "backwards");
  }
  (*process)->set_clock({gain_ppm, ahead.count()});
  return {};
}

void SimulatedWorld::heal() {
  if (tuning_.on_heal) tuning_.on_heal();
  for (SimBackend* const backend : backends_) backend->heal();
  if (network_) network_->heal();
  for (std::uint32_t host = 0; host < hosts(); ++host) {
    const auto keep = [this](Status status) {
      if (!status.ok()) fail(std::move(status));
    };
    if (!is_alive_[host]) keep(restart_host(host));
    if (is_paused(host)) keep(resume_host(host));
    if (processes_[host]) keep(set_host_clock(host, std::chrono::nanoseconds(0), 0));
  }
}

void SimulatedWorld::expect(bool holds, std::string_view invariant, std::string_view text,
                            const std::source_location& at) {
  if (holds) return;
  if (tuning_.on_broken) return tuning_.on_broken(std::string(invariant), std::string(text), at);
  fail({StatusCode::kUserFunctionError,
        std::string(invariant) + " does not hold: " + std::string(text)});
}

Status SimulatedWorld::change_host(std::uint32_t host, bool lives) {
  if (Status status = check_host(host, !lives); !status.ok()) return status;
  is_alive_[host] = lives;
  // Actors end on the control thread, as they run.
  bool is_done = false;
  engine_->post([this, host, lives, &is_done] {
    app::Apps& apps = embedded_->apps();
    const app::SiloId silo = app::silo_of_host(host);
    lives ? apps.restart(silo) : apps.kill(silo);
    is_done = true;
  });
  engine_->wait([&is_done] { return is_done; }, 0);
  return {};
}

std::string SimulatedWorld::why() {
  std::string text;
  if (!apps()) return text;
  for (app::SiloId id = 0; id <= hosts(); ++id) {
    const app::Silo* const silo = apps()->silo(id);
    const std::string waits = silo ? silo->why() : "  dead\n";
    if (!waits.empty()) text += "silo " + std::to_string(id) + ":\n" + waits;
  }
  return text;
}

std::string SimulatedWorld::left_over() {
  std::string text;
  const auto count = [&text](const std::string& where, const char* what, std::size_t number) {
    if (number > 0) text += "  " + where + ": " + std::to_string(number) + " " + what + "\n";
  };
  if (apps()) {
    for (app::SiloId id = 0; id <= hosts(); ++id) {
      const app::Silo* const silo = apps()->silo(id);
      if (!silo) continue;
      const std::string where = id == app::kHub ? "hub" : "host " + std::to_string(id - 1);
      const app::Silo::Stock stock = silo->stock();
      count(where, "members", stock.members);
      count(where, "messages at members", stock.deliveries);
      count(where, "calls without an outcome", stock.calls);
      count(where, "timers", stock.timers);
      count(where, "meshes with members here", stock.meshes);
      count(where, "meshes that it owns", stock.owned);
      count(where, "names", stock.names);
      count(where, "parts of reductions", stock.nodes);
      count(where, "watches", stock.watches);
      count(where, "members that have moved", stock.moved);
    }
  }
  controller::ControllerCore& controller = embedded_->controller();
  count("controller", "runs without an outcome", controller.runs_unfinished());
  count("controller", "arrays", controller.array_count());
  for (IslandId island = 0; island < cluster_.islands; ++island) {
    count("island " + std::to_string(island), "arrays", embedded_->host(island).array_count());
  }
  return text;
}

}  // namespace seaway::sim

namespace seaway {

std::string SimulationReport::to_string() const {
  char text[24];
  std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(hash));
  return "seed " + std::to_string(seed) + ": " + status.to_string() + " after " +
         std::to_string(steps) + " steps and " + std::to_string(virtual_time.count() / 1'000'000) +
         " ms, hash " + text;
}

SimulationReport simulate(const SimulationOptions& options,
                          const std::function<void(Simulation& simulation)>& body) {
  SimulationReport report;
  report.seed = options.seed;
  auto cluster = cluster::parse_embedded(options.cluster);
  if (!cluster.ok()) {
    report.status = cluster.status();
    return report;
  }
  if (options.latency_min.count() < 0 || options.latency_max < options.latency_min) {
    report.status = invalid_argument(
        "latency_min is " + std::to_string(options.latency_min.count()) + " ns and latency_max " +
        std::to_string(options.latency_max.count()) + " ns; 0 <= latency_min <= latency_max");
    return report;
  }
  return std::make_shared<sim::SimulatedWorld>(options, *std::move(cluster))->run(body);
}

}  // namespace seaway
