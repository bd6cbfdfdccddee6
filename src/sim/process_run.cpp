// Wiring one world of processes: engine, cluster, clients and what is checked.

#include "sim/process_run.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "sim/process_cluster.hpp"
#include "sim/simulated_client.hpp"
#include "sim/world.hpp"

namespace seaway::sim {
namespace {

using actor::Role;

constexpr std::size_t kEvents = 1 << 12;
constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint64_t kSecond = 1'000 * kMs;
/// Each user may come back so often, as a new client: after its death, or its controller's.
constexpr std::uint32_t kComebacks = 3;
/// After everything is whole, a client has so long to end: its requests have deadlines.
constexpr std::uint64_t kLivenessNs = 150 * kSecond;
/// A dead client's arrays are gone within 5 s (P6); other ends take no longer.
constexpr std::uint64_t kSettleNs = 5 * kSecond;
constexpr std::uint64_t kPauseStream = 0x7573657270617573;

/// Faults that a client may meet, and slices that they touch.
struct Troubles final : events::EventSink {
  void record(const events::Event& event) override {
    if (event.kind == events::EventKind::kHostLost) lost_islands.insert(event.island);
    if (event.kind == events::EventKind::kDeviceLost) lost_islands.insert(event.island);
  }
  std::set<IslandId> lost_islands;
};

class ProcessWorld {
 public:
  ProcessWorld(const World& world, const SeedOptions& options)
      : world_(world),
        asked_(options),
        users_(world.clients),
        faults_(make_process_faults(world.seed, world.cluster.islands, world.clients)),
        events_(kEvents) {
    actor::SeededOptions seeded;
    seeded.step_ns_max = world.step_ns_max;
    engine_ = actor::make_seeded_engine(world.seed, seeded);
    ProcessCluster::Options cluster;
    cluster.cluster = world.cluster;
    cluster.seed = world.seed;
    cluster.clients_max = users_ * (1 + kComebacks);
    cluster.faults = faults_;
    cluster_ = std::make_unique<ProcessCluster>(
        std::move(cluster), *engine_, events_,
        [this](actor::Engine& engine, IslandId island, std::function<void()> on_progress) {
          return make_backend(engine, island, std::move(on_progress));
        });
    set_running(&events_.ring());
    events_.add_observer(hash_);
    events_.add_observer(troubles_);
  }

  ~ProcessWorld() {
    set_running(nullptr);
    engine_->abandon_bodies();
    cluster_.reset();
    engine_.reset();
  }

  SeedReport run() {
    for (std::uint32_t user = 0; user < users_; ++user) begin_life(user);
    std::uint64_t steps = 0;
    const std::uint64_t heal_ns = faults_.end_ns + 1;
    std::uint64_t settled_ns = 0;  // When all clients had ended for long enough; 0: not yet.
    while (steps < kStepsMax && verdict_.ok() && engine_->step()) {
      ++steps;
      const std::uint64_t now_ns = engine_->now_ns();
      if (now_ns >= heal_ns && !cluster_->is_healed()) cluster_->heal();
      if (steps % 16 == 0) look_for_ends();
      if (settled_ns == 0 && cluster_->is_healed() && have_all_ended()) {
        settled_ns = now_ns + kSettleNs;
      }
      if (settled_ns != 0 && now_ns >= settled_ns) break;
      if (settled_ns == 0 && now_ns > heal_ns + kLivenessNs) {
        std::string text = "long after everything was whole again there waits";
        for (const std::string& body : engine_->unfinished_bodies()) text += " " + body;
        verdict_.report(Breach::kLiveness, "I2", text);
      }
    }
    SeedReport report;
    if (steps == kStepsMax) {
      verdict_.report(Breach::kLiveness, "I12",
                      "still busy after " + std::to_string(steps) + " steps");
    }
    if (verdict_.ok()) check_end();
    if (!verdict_.ok()) report.waiting = waiting();
    report.seed = world_.seed;
    report.is_of_processes = true;
    report.steps = engine_->steps();
    report.virtual_ns = engine_->now_ns();
    report.events = hash_.count();
    report.hash = mix64(hash_.hash() ^ engine_->choices_hash() ^ cluster_->hash());
    report.world = world_.to_string() + faults_.to_string();
    report.policy = actor::to_string(engine_->policy());
    report.counts = verdict_.counts;
    report.coverage = verdict_.coverage;
    report.breach = verdict_.breach();
    report.violations = verdict_.violations();
    if (asked_.keep_events || !verdict_.ok()) report.last_events = events_.ring().snapshot();
    return report;
  }

 private:
  struct User {
    ClientId client = 0;
    std::uint32_t lives = 0;
    bool is_done = false;
  };

  std::unique_ptr<device::Backend> make_backend(actor::Engine& engine, IslandId island,
                                                std::function<void()> on_progress) {
    // What a device has in its memory is gone with its host; what is wrong with it is not.
    return std::make_unique<SimBackend>(
        engine, mix64(world_.seed + ++backends_), island, world_.cost, std::move(on_progress),
        [this](std::string text) { verdict_.report(Breach::kCorrectness, "I9", std::move(text)); },
        world_.faults.of(island));
  }

  void begin_life(std::uint32_t user) {
    User& state = states_[user];
    state.client = ++last_client_;
    ++state.lives;
    cluster_->start_client(state.client,
                           [this, user](cluster::Member& member, actor::SeededProcess& process) {
                             be_client(user, member, process);
                           });
  }

  void be_client(std::uint32_t user, cluster::Member& member, actor::SeededProcess& process) {
    ClientOptions options;
    options.tenant = World::tenant_of(user);
    options.weight = world_.weight_of(options.tenant);
    options.upload_bytes_max = world_.upload_bytes_max;
    options.runs_in_flight_max = world_.runs_in_flight_max;
    options.request_timeout = std::chrono::seconds(3);
    options.when_full = user % 2 == 0 ? WhenFull::kWait : WhenFull::kRefuse;
    auto client = member.connect(std::move(options));
    if (!client.ok()) return;  // Its deadline passed, or the controller was lost: it comes back.
    RandomStream pauses(world_.seed, kPauseStream + member.name().index);
    const auto pause = [&process, &pauses] {
      if (pauses.chance(70)) return process.yield();
      const std::uint64_t time_ns = pauses.below(std::uint64_t{1} << pauses.between(10, 28));
      process.wait([] { return false; }, process.clock().now_ns() + 1 + time_ns);
    };
    const auto nothing = [](const std::set<ArrayId>&) {};
    const auto is_struck = [this](SliceId slice) { return is_in_trouble(slice); };
    SimulatedClient(
        world_, member.name().index - 1, pause, verdict_, [] {}, nothing, is_struck)
        .live(*std::move(client));
    states_[user].is_done = true;
  }

  /// With whole processes and links nothing may fail but for devices.
  bool is_in_trouble(SliceId) const {
    return !troubles_.lost_islands.empty() || !faults_.faults.empty() || has_wire_faults();
  }
  bool has_wire_faults() const {
    const transport::WireFaults& wires = faults_.wires.faults;
    return wires.cut + wires.half_open + wires.flip + wires.repeat > 0;
  }

  void look_for_ends() {
    for (auto& [user, state] : states_) {
      if (state.is_done || !cluster_->has_ended(state.client)) continue;
      if (state.lives > kComebacks) {
        state.is_done = true;
      } else {
        begin_life(user);
      }
    }
  }

  bool have_all_ended() const {
    return std::all_of(states_.begin(), states_.end(), [this](const auto& entry) {
      return entry.second.is_done && cluster_->has_ended(entry.second.client);
    });
  }

  std::string waiting() {
    std::string text;
    for (IslandId island = 0; island < world_.cluster.islands; ++island) {
      const cluster::Member* scheduler = cluster_->member({Role::kIsland, island});
      cluster::Member* host = cluster_->member({Role::kHost, island});
      text += "island " + std::to_string(island) + ":" + (scheduler ? "" : " no scheduler") +
              (host ? "" : " no host") + "\n";
      if (scheduler) {
        text += " view " + std::to_string(scheduler->scheduler()->view()) + "\n" +
                scheduler->scheduler()->core().to_string();
      }
      for (Stamp stamp = 1; host && stamp < 10'000; ++stamp) {
        const std::string why = host->host()->why(stamp);
        if (!why.empty()) text += "host, stamp " + std::to_string(stamp) + ": " + why + "\n";
      }
    }
    for (const auto& [user, state] : states_) {
      cluster::Member* const client = cluster_->member({Role::kClient, state.client});
      if (client)
        text += "client " + std::to_string(state.client) + ": " + client->waiting() + "\n";
    }
    cluster::Member* controller = cluster_->member({Role::kController, 0});
    if (controller) {
      text += "controller: " + std::to_string(controller->controller()->runs_unfinished()) +
              " runs unfinished, " + std::to_string(controller->controller()->array_count()) +
              " arrays\n" + controller->controller()->waiting();
    }
    return text;
  }

  /// All clients are gone, and everything is whole: nothing may be left.
  void check_end() {
    cluster::Member* member = cluster_->member({Role::kController, 0});
    if (!member) return expect_none("controllers are missing", 1);
    const controller::ControllerCore& controller = *member->controller();
    expect_none("runs without an outcome at the controller", controller.runs_unfinished());
    expect_none("arrays known to the controller", controller.array_count());
    expect_none("clients known to the controller", controller.client_count());
    for (IslandId island = 0; island < world_.cluster.islands; ++island) {
      const std::string where = " on island " + std::to_string(island);
      cluster::Member* const host_member = cluster_->member({Role::kHost, island});
      cluster::Member* const scheduler_member = cluster_->member({Role::kIsland, island});
      if (!host_member || !scheduler_member) {
        expect_none("roles are missing" + where, 1);
        continue;
      }
      device::HostCore& host = *host_member->host();
      const island::SchedulerCore& scheduler = scheduler_member->scheduler()->core();
      expect_none("arrays of the host" + where, host.array_count());
      expect_none("plans of the host" + where, host.plan_count());
      expect_none("functions of the host" + where, host.function_count());
      expect_none("specs of the host" + where, host.spec_count());
      expect_none("unfinished parts of the host" + where, host.is_idle() ? 0 : 1);
      expect_none("values that nobody took from the transport" + where, host_member->bulk().size());
      expect_none("unfinished parts of the scheduler" + where, scheduler.idle() ? 0 : 1);
      expect_none("arrays of the scheduler" + where, scheduler.array_count());
      expect_none("plans of the scheduler" + where,
                  scheduler_member->scheduler()->plan_count() + scheduler.plan_count());
      for (DeviceId device = 0; device < world_.cluster.devices; ++device) {
        const std::string which = " on device " + std::to_string(device) + where;
        expect_none("bytes in use" + which, host.device(device).used_bytes);
        expect_none("bytes reserved" + which, scheduler.used_bytes(device));
      }
    }
  }
  void expect_none(const std::string& what, std::uint64_t count) {
    if (count == 0) return;
    verdict_.report(Breach::kCorrectness, "I9",
                    "at the end there are left: " + std::to_string(count) + " " + what);
  }

  const World& world_;
  const SeedOptions& asked_;
  const std::uint32_t users_;
  const ProcessFaults faults_;
  Verdict verdict_;
  events::EventStream events_;
  events::EventHash hash_;
  Troubles troubles_;
  std::map<std::uint32_t, User> states_;
  ClientId last_client_ = 0;
  std::uint64_t backends_ = 0;
  std::unique_ptr<actor::SeededEngine> engine_;
  std::unique_ptr<ProcessCluster> cluster_;
};

}  // namespace

SeedReport run_process_seed(std::uint64_t seed, const SeedOptions& options) {
  World world = make_world(seed);
  for (std::uint64_t other = seed; world.is_contest;) world = make_world(other = mix64(other));
  world.seed = seed;
  world.has_processes = true;
  return ProcessWorld(world, options).run();
}

}  // namespace seaway::sim
