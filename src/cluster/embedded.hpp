// Embedded: all roles of a cluster in this process, on one engine.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "actor/engine.hpp"
#include "actor/router.hpp"
#include "app/apps.hpp"
#include "controller/controller_actor.hpp"
#include "device/device_actor.hpp"
#include "device/host_actor.hpp"
#include "device/integrity.hpp"
#include "events/event_stream.hpp"
#include "function/native_registry.hpp"
#include "island/scheduler_actor.hpp"
#include "program/slice_binder.hpp"
#include "seaway/client.hpp"
#include "store/spill_file.hpp"
#include "transport/bulk.hpp"
#include "transport/link.hpp"
#include "transport/packet.hpp"

namespace seaway::cluster {

/// What "embedded:..." says. Sizes are in bytes, times in nanoseconds.
struct EmbeddedOptions {
  std::uint32_t islands = 1;
  std::uint32_t devices = 1;  // Of each island.
  std::uint32_t hosts = 1;  // Of each island; its devices are dealt to them. Here for actors alone.
  std::uint32_t workers = 1;  // Threads that run actors, beside the control thread.
  std::string device_kind = "cpu";
  std::uint64_t device_memory = std::uint64_t{1} << 30;  // Of each device.
  std::uint64_t host_memory = std::uint64_t{4} << 30;    // Spill room of each host.
  std::uint64_t send_memory = std::uint64_t{256} << 20;  // For overtakers' sends, each host.
  /// Of the spill room of each host, so much is memory; for the rest there is a file. 0: all is.
  std::uint64_t spill_memory = 0;
  std::string spill_directory = {};  // Of that file; empty: the system's for temporary files.
  std::uint32_t threads = 0;         // For large kernels; 0: all cores.
  island::Policy policy = island::Policy::kFifo;
  transport::LinkOptions links;  // Between islands, in each direction; shared by all tenants.
  std::uint32_t events = 16384;  // How many the stream keeps; few enough to stay in a cache.
  /// Most bytes of what a user makes as one frame: a program, a function, a message of actors.
  std::uint64_t frame_bytes = transport::kUserFrameBytesMax;
  std::uint32_t runs_in_flight = 256;
  std::uint32_t runs_shared_in_flight = 8;
  std::uint32_t definitions = 100'000;  // Live functions, programs, specs and slices of a client.
  std::uint32_t restarts = 3;           // Of an island's scheduler, or host, within 10 s.
  /// After which a device that hangs is lost, with what it runs; 0: never. The built-in devices are
  /// threads, and none of them hangs: this is for backends that know better.
  std::uint64_t gang_timeout_ns = 10'000'000'000;
  /// Checksums of values, and gangs that run twice: off. device::Integrity says what they find, and
  /// what they cost.
  device::Integrity integrity = {};
  device::ExchangeOptions exchange = {};  // Of islands with several hosts.
  /// Whose devices they are: the path of a PJRT plugin; empty: built in.
  std::string plugin = {};
  std::string executable_cache = {};  // Directory of what it has compiled; empty: nothing is kept.
};

/// Reads "embedded:islands=2,devices=4,device_memory=64MiB". Errors: kInvalidArgument naming the
/// word that is wrong and those that are known.
Result<EmbeddedOptions> parse_embedded(std::string_view spec);

/// Whether a cluster of processes can be made of that, where hosts are processes. Errors:
/// kInvalidArgument for hosts that are more than actor::kHostsMax or do not divide the devices, and
/// for checks of integrity on devices of several hosts, or a plugin's.
Status check_for_processes(const EmbeddedOptions& options);

/// Makes the devices of one island, or those of them that an annex lends it. `on_progress` is
/// called on the control thread whenever work that was started has finished.
using BackendFactory = std::function<std::unique_ptr<device::Backend>(
    IslandId island, std::function<void()> on_progress)>;

/// Makes the file of one island's host, where it has one. Null: its spill room is memory.
using SpillFactory = std::function<std::unique_ptr<store::SpillFile>(IslandId island)>;

/// The engines that run actors, made when they are first needed; they outlive the cluster's roles.
using ActorEngines = std::function<std::vector<actor::Engine*>()>;

/// The wiring of one embedded cluster: it spawns the roles on `engine` and binds them to their
/// names. The engine, and the event stream that all roles record to, outlive it; the roles live as
/// long as the engine. connect() from any thread but the control thread.
class Embedded {
 public:
  Embedded(const EmbeddedOptions& options, actor::Engine& engine, events::EventStream& events,
           const BackendFactory& make_backend, ActorEngines actor_engines = {},
           app::AppsTuning apps_tuning = {}, const SpillFactory& make_spill = {});
  ~Embedded();

  /// A new client. `keep_alive` lives as long as it does.
  Result<Client> connect(ClientOptions options, std::shared_ptr<void> keep_alive = nullptr);

  actor::Engine& engine() { return engine_; }
  events::EventStream& events() { return events_; }
  const EmbeddedOptions& options() const { return options_; }
  actor::Router& router() { return router_; }
  const actor::Router& router() const { return router_; }
  transport::LocalBulk& bulk() { return *bulk_; }
  /// For tests, checkers and benchmarks; control thread, or while nothing runs.
  controller::ControllerCore& controller() { return controller_->core(); }
  const island::SchedulerCore& scheduler(IslandId island) const {
    return schedulers_[island]->core();
  }
  std::size_t plans_at_scheduler(IslandId island) const {
    return schedulers_[island]->plan_count();
  }
  /// The runtime of users' actors; it begins with the first that is asked for.
  app::Apps& apps();
  bool has_apps() const { return apps_ != nullptr; }
  /// Before the actors' engines stop.
  void detach_apps();
  /// Before the engine stops: see device::Backend::close().
  void close_backends();
  device::HostCore& host(IslandId island) { return hosts_[island]->core(); }

 private:
  const EmbeddedOptions options_;
  actor::Engine& engine_;
  events::EventStream& events_;
  actor::Router router_;
  /// Sessions outlive the cluster in the hands of arrays, and touch it.
  const std::shared_ptr<transport::LocalBulk> bulk_ = std::make_shared<transport::LocalBulk>();
  function::NativeRegistry natives_;
  std::unique_ptr<program::SliceBinder> binder_;
  std::optional<transport::ClusterLinks> links_;  // Without: payload arrives at once.
  std::vector<std::unique_ptr<device::Backend>> backends_;
  std::vector<std::unique_ptr<store::SpillFile>> spills_;
  controller::ControllerActor* controller_ = nullptr;  // Owned by the engine, as all actors.
  std::vector<island::SchedulerActor*> schedulers_;
  std::vector<device::HostActor*> hosts_;
  std::vector<actor::Address> devices_;
  std::atomic<ClientId> last_client_ = 0;
  const ActorEngines actor_engines_;
  const app::AppsTuning apps_tuning_;
  std::mutex apps_mutex_;
  std::unique_ptr<app::Apps> apps_;                              // Made under apps_mutex_.
  std::map<ClientId, std::weak_ptr<client::Session>> sessions_;  // Guarded by apps_mutex_.
};

}  // namespace seaway::cluster
