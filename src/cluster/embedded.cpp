// Spawning the roles of an embedded cluster and binding them to their names.

#include "cluster/embedded.hpp"

#include "client/session.hpp"
#include "cluster/role_options.hpp"
#include "transport/pass.hpp"

namespace seaway::cluster {

Embedded::Embedded(const EmbeddedOptions& options, actor::Engine& engine,
                   events::EventStream& events, const BackendFactory& make_backend,
                   ActorEngines actor_engines, app::AppsTuning apps_tuning,
                   const SpillFactory& make_spill)
    : options_(options),
      engine_(engine),
      events_(events),
      actor_engines_(std::move(actor_engines)),
      apps_tuning_(std::move(apps_tuning)) {
  if (options.links != transport::LinkOptions()) {
    links_ = transport::ClusterLinks::make(options.islands, options.links).value();
  }
  binder_ = make_binder(options);
  auto controller = std::make_unique<controller::ControllerActor>(
      controller_options(options), *binder_, router_, engine.clock(), events);
  controller_ = controller.get();
  router_.bind(actor::Role::kController, 0, engine.spawn("controller", std::move(controller)));
  for (IslandId island = 0; island < options.islands; ++island) {
    auto scheduler = std::make_unique<island::SchedulerActor>(island, scheduler_options(options),
                                                              router_, engine.clock(), events);
    schedulers_.push_back(scheduler.get());
    router_.bind(actor::Role::kIsland, island,
                 engine.spawn("scheduler" + std::to_string(island), std::move(scheduler)));
    backends_.push_back(make_backend(island, [this, island] { hosts_[island]->idle(); }));
    spills_.push_back(make_spill ? make_spill(island) : nullptr);
    device::LinkArrival arrival;
    if (links_) {
      arrival = [this, island](HostId peer, std::uint64_t now_ns, std::uint64_t bytes) {
        return links_->depart(island, peer, now_ns, bytes);
      };
    }
    auto host = std::make_unique<device::HostActor>(
        host_options(options, island),
        device::HostWiring{engine, router_, *bulk_, natives_, events, std::move(arrival), nullptr,
                           nullptr, spills_.back().get()},
        *backends_.back());
    hosts_.push_back(host.get());
    router_.bind(actor::Role::kHost, island,
                 engine.spawn("host" + std::to_string(island), std::move(host)));
    for (DeviceId device = 0; device < options.devices; ++device) {
      devices_.push_back(engine.spawn(
          "device" + std::to_string(island) + "." + std::to_string(device),
          std::make_unique<device::DeviceActor>(hosts_[island]->core().device(device),
                                                [this, island] { hosts_[island]->idle(); })));
    }
  }
}

Embedded::~Embedded() = default;

app::Apps& Embedded::apps() {
  std::lock_guard guard(apps_mutex_);
  if (!apps_) {
    app::Apps::Options options;
    options.hosts = options_.islands * options_.hosts;
    options.tuning = apps_tuning_;
    options.client_of = [this](ClientId id) -> Result<Client> {
      std::lock_guard lock(apps_mutex_);
      const auto found = sessions_.find(id);
      const auto session = found == sessions_.end() ? nullptr : found->second.lock();
      if (!session || session->is_closed()) {
        return cancelled("client " + std::to_string(id) + " has gone, and its session with it");
      }
      return client::lend_client(session);
    };
    apps_ = std::make_unique<app::Apps>(
        std::move(options),
        actor_engines_ ? actor_engines_() : std::vector<actor::Engine*>{&engine_});
  }
  return *apps_;
}

void Embedded::detach_apps() {
  std::lock_guard guard(apps_mutex_);
  if (apps_) apps_->detach();
}

void Embedded::close_backends() {
  for (const auto& backend : backends_) backend->close();
}

Result<Client> Embedded::connect(ClientOptions options, std::shared_ptr<void> keep_alive) {
  client::Wiring wiring;
  wiring.engine = &engine_;
  wiring.router = &router_;
  wiring.bulk = bulk_.get();
  wiring.owns = bulk_;
  wiring.client = ++last_client_;
  wiring.islands = options_.islands;
  wiring.hosts = options_.hosts;
  wiring.devices = options_.devices;
  wiring.device_memory = options_.device_memory;
  wiring.frame_bytes_max = options_.frame_bytes;
  const transport::TenantKey tenant = transport::tenant_key(options.tenant);
  wiring.open_caller = [this, id = wiring.client,
                        tenant]() -> Result<std::shared_ptr<internal::Caller>> {
    return std::shared_ptr<internal::Caller>(apps().open(id, tenant));
  };
  wiring.register_native = [this](const function::NativeFunction& native) -> Status {
    if (natives_.add(native.name, function::make_native(native))) return {};
    return invalid_argument("native function " + native.name +
                            " is registered already; choose another name");
  };
  auto session = client::make_session(std::move(wiring), std::move(options));
  if (Status status = session->open(); !status.ok()) return status;
  {
    std::lock_guard guard(apps_mutex_);
    std::erase_if(sessions_, [](const auto& entry) { return entry.second.expired(); });
    sessions_[session->id()] = session;
  }
  return client::make_client(std::move(session), std::move(keep_alive));
}

}  // namespace seaway::cluster
