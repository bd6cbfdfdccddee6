// connect() and Cluster: from a word to a running cluster.

#include "cluster/cluster.hpp"

#include <cstdlib>
#include <string>
#include <thread>

#include "actor/control_engine.hpp"
#include "cluster/credentials.hpp"
#include "cluster/plugins.hpp"
#include "cluster/process.hpp"
#include "cluster/spill_room.hpp"
#include "transport/address_text.hpp"

namespace seaway {

cluster::CredentialFiles cluster::credential_files_of_environment() {
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);
    return std::string(value ? value : "");
  };
  return {variable("SEAWAY_TOKEN_FILE"), variable("SEAWAY_CA_FILE"), variable("SEAWAY_CERT_FILE"),
          variable("SEAWAY_KEY_FILE")};
}

Cluster::State::State(const cluster::EmbeddedOptions& options, device::Compiler compiler,
                      std::vector<std::unique_ptr<UnnamedFile>> spill_files,
                      std::unique_ptr<pjrt::PluginDevices> plugin)
    : events(options.events), devices(std::move(plugin)) {
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  arena = std::make_unique<function::TbbParallelism>(options.threads > 0 ? options.threads : cores);
  // The end of a gang tells its start as well; a start of its own is for the simulator's checkers.
  events.enable(events::EventStream::kAll &
                ~events::EventStream::bit(events::EventKind::kGangStart));
  engine = actor::make_control_engine(clock);
  embedded = std::make_unique<cluster::Embedded>(
      options, *engine, events,
      [this, &compiler](IslandId, std::function<void()> on_progress) {
        return cluster::make_backend(devices.get(), *engine, *arena, std::move(on_progress),
                                     compiler);
      },
      [this, count = options.workers] {
        std::vector<actor::Engine*> engines;
        for (std::uint32_t i = 0; i < count; ++i) {
          workers.push_back(actor::make_control_engine(clock));
          engines.push_back(workers.back().get());
        }
        return engines;
      },
      app::AppsTuning{},
      [this, &spill_files](IslandId island) -> std::unique_ptr<store::SpillFile> {
        if (island >= spill_files.size()) return nullptr;
        return std::make_unique<store::DiskSpill>(*engine, std::move(spill_files[island]));
      });
}

Cluster::State::State(std::string address_there) : address(std::move(address_there)), events(1) {}

Cluster::State::~State() {
  if (!embedded) return;
  arena->close();  // What still runs there reads and writes arrays, which end with their hosts.
  embedded->close_backends();
  // Actors first: they may still run programs.
  for (const auto& worker : workers) worker->stop();
  engine->stop();    // The control thread ends, all actors with it, and the waits of others.
  embedded.reset();  // What the actors referred to; waits for what is just being compiled.
  engine.reset();
}

Result<Cluster> Cluster::start(std::string spec) {
  if (spec.empty()) {
    const char* named = std::getenv("SEAWAY_CLUSTER");
    spec = named ? named : "embedded";
  }
  spec = transport::plain_address(spec);
  if (spec.starts_with("unix:") || transport::is_of_network(spec)) {
    return Cluster(std::make_shared<State>(std::move(spec)));
  }
  auto options = cluster::parse_embedded(spec);
  if (!options.ok()) return options.status();
  std::vector<std::unique_ptr<UnnamedFile>> spill_files;
  for (IslandId island = 0; options->spill_memory > 0 && island < options->islands; ++island) {
    auto file = cluster::make_spill_file(*options);
    if (!file.ok()) return file.status();
    spill_files.push_back(std::move(*file));
  }
  std::unique_ptr<pjrt::PluginDevices> plugin;
  if (Status status = cluster::open_plugin(*options, options->islands, plugin); !status.ok()) {
    return status;
  }
  // The last handle may go on one of its own threads, which cannot wait for itself.
  return Cluster(std::shared_ptr<State>(
      new State(*options, function::compile_cpu, std::move(spill_files), std::move(plugin)),
      [](State* state) {
        bool is_own_thread = state->engine->on_control_thread();
        for (const auto& worker : state->workers) {
          is_own_thread = is_own_thread || worker->on_control_thread();
        }
        if (is_own_thread) {
          std::thread([state] { delete state; }).detach();
        } else {
          delete state;
        }
      }));
}

Result<Client> Cluster::connect(ClientOptions options) const {
  if (!state_) {
    return invalid_argument("this cluster was default-made; start one with Cluster::start");
  }
  if (state_->embedded) return state_->embedded->connect(std::move(options), state_);
  cluster::ProcessOptions wanted;
  wanted.name.role = actor::Role::kClient;
  wanted.join = state_->address;
  wanted.tenant = options.tenant;
  auto credentials = cluster::load_credentials(cluster::credential_files_of_environment());
  if (!credentials.ok()) return credentials.status();
  wanted.credentials = std::move(*credentials);
  auto process = cluster::Process::start(std::move(wanted), {state_, &state_->clock});
  if (!process.ok()) return process.status();
  return (*process)->connect(std::move(options), *process);
}

std::string Cluster::to_string() const {
  if (!state_) return "cluster (empty)";
  if (!state_->embedded) return "cluster at " + state_->address;
  const cluster::EmbeddedOptions& options = state_->embedded->options();
  const auto count = [](std::uint64_t number, const std::string& noun) {
    return std::to_string(number) + " " + noun + (number == 1 ? "" : "s");
  };
  return "embedded cluster of " + count(options.islands, "island") + " with " +
         count(options.devices, "device") + " each";
}

Result<Client> connect(std::string spec, ClientOptions options) {
  auto cluster = Cluster::start(std::move(spec));
  if (!cluster.ok()) return cluster.status();
  return cluster->connect(std::move(options));
}

}  // namespace seaway
