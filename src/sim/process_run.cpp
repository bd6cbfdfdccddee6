// Wiring one world of processes: engine, cluster, clients and what is checked.

#include "sim/process_run.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "cluster/registry.hpp"
#include "cluster/role_options.hpp"
#include "seaway/host_main.hpp"
#include "sim/client_watch.hpp"
#include "sim/corruption_checker.hpp"
#include "sim/detector_checker.hpp"
#include "sim/history_checker.hpp"
#include "sim/hostile_client.hpp"
#include "sim/life_checkers.hpp"
#include "sim/mischief_truth.hpp"
#include "sim/process_cluster.hpp"
#include "sim/process_stock.hpp"
#include "sim/process_trace.hpp"
#include "sim/process_truth.hpp"
#include "sim/restart_checker.hpp"
#include "sim/sharing_client.hpp"
#include "sim/simulated_client.hpp"
#include "sim/stock.hpp"
#include "sim/taken_back.hpp"
#include "sim/tester_deeds.hpp"
#include "sim/world.hpp"

namespace seaway::sim {
namespace {

using actor::Role;
using cluster::RoleName;

constexpr std::size_t kEvents = 1 << 12;
constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint64_t kSecond = 1'000 * kMs;
/// Each user may come back so often, as a new client: after its death, or its controller's.
constexpr std::uint32_t kComebacks = 3;
/// After everything is whole, a client has so long to end: its requests have deadlines.
constexpr std::uint64_t kLivenessNs = 150 * kSecond;
/// The same where ten times as much is asked for, and may wait for room each time.
constexpr std::uint64_t kFloodNs = 10 * kLivenessNs;
/// When nothing was left for so long, nothing comes back: wires are faster.
constexpr std::uint64_t kQuietNs = 30 * kMs;
/// Steps between two looks at who has ended, and looks between two at what they left.
constexpr std::uint64_t kLookEvery = 8;
constexpr std::uint64_t kCountEvery = 8;
/// How long a client waits for an answer.
constexpr std::uint64_t kRequestNsMax = 3 * kSecond;
constexpr std::uint64_t kPauseStream = 0x7573657270617573;

/// A client that may be looked at, until its end, whatever that is.
class Watched {
 public:
  template <class Watchable>
  Watched(ClientWatch& watch, ClientId id, const Watchable& client) : watch_(watch), id_(id) {
    watch_.add(id_, [&client] { return client.waits_since_ns(); });
  }
  ~Watched() { watch_.remove(id_); }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

 private:
  ClientWatch& watch_;
  const ClientId id_;
};

class ProcessWorld final : public ProcessSink {
 public:
  /// `points`, if there are some, outlive it.
  ProcessWorld(const World& world, ProcessFaults faults, const SeedOptions& options,
               FaultPoints* points = nullptr)
      : world_(world),
        asked_(options),
        points_(points),
        users_(world.clients),
        faults_(std::move(faults)),
        events_(kEvents),
        coverage_(verdict_.coverage),
        member_([this](Role role, std::uint32_t index) { return member(role, index); }),
        surroundings_(surroundings_of(world, member_)),
        now_([this] { return engine_->now_ns(); }),
        trace_(now_),
        truth_(world.cluster.islands, world.cluster.devices, now_,
               [this](IslandId island, DeviceId device) { return slices_on(island, device); }),
        corruption_(surroundings_, world.cluster.integrity.replay_per_mille == 1000, verdict_),
        mischief_([this](IslandId island, DeviceId device) { return slices_on(island, device); }),
        detector_(truth_, now_, verdict_),
        restarts_(cluster::controller_options(world.cluster).limits, verdict_),
        lives_(sources(), verdict_),
        watch_(
            truth_, now_, settle_ns(),
            [this](ClientId client) { return remains_of(client, world_, member_); }, verdict_) {
    registry_.actor<Sharer, Slice, std::vector<Array>, std::vector<std::int64_t>>();
    // A host comes when all others of its island are there, and clients do not wait for it.
    if (world.cluster.hosts > 1) truth_.note_late_connections();
    actor::SeededOptions seeded;
    seeded.step_ns_max = world.step_ns_max;
    seeded.choices_max = world.edits.choices;
    engine_ = actor::make_seeded_engine(world.seed, seeded);
    ProcessCluster::Options cluster;
    cluster.cluster = world.cluster;
    cluster.seed = world.seed;
    cluster.clients_max = users_ * (1 + kComebacks) + HostileClient::kLivesMax;
    cluster.tenant_of = [this](ClientId client) { return tenants_[client]; };
    if (world.has_hostile_client) {
      hostile_.emplace(world.seed, cluster::Shape(world.cluster).all_hosts());
      cluster.tap = [this](const RoleName& from, transport::ProcessId to, std::uint32_t channel,
                           const Frame& frame) {
        if (from.role != Role::kClient || hostile_clients_.contains(from.index)) return;
        hostile_->tap(from.index, to, channel, frame);
      };
    }
    cluster.faults = faults_;
    if (world.has_sharers) cluster.types = &registry_.state().types;
    cluster.sinks = {this, &truth_, &detector_, &restarts_, &lives_, &watch_};
    if (world.cluster.spill_memory > 0) {
      cluster.make_spill = [this](actor::Engine& engine, IslandId island, std::uint32_t life) {
        return make_spill(engine, island, life);
      };
    }
    if (options.trace) cluster.sinks.push_back(&trace_);
    cluster_ = std::make_unique<ProcessCluster>(
        std::move(cluster), *engine_, events_,
        [this](actor::Engine& engine, IslandId island, std::function<void()> on_progress) {
          return make_backend(engine, island, std::move(on_progress));
        });
    if (options.trace) {
      cluster_->watch_writes(
          [this](const RoleName& from, const RoleName& to, std::uint64_t bytes,
                 std::uint64_t arrives_ns) { trace_.wrote(from, to, bytes, arrives_ns); });
    }
    set_running(&events_.ring());
    events_.add_observer(hash_);
    events_.add_observer(coverage_);
    for (const MemoryRot& rot : world.faults.rots) {
      engine_->schedule(rot.at_ns, [this, &rot] { change(rot); });
    }
  }

  ~ProcessWorld() override {
    set_running(nullptr);
    engine_->abandon_bodies();
    cluster_.reset();
    engine_.reset();
  }

  SeedReport run() {
    for (std::uint32_t user = 0; user < users_; ++user) begin_life(user);
    if (hostile_) begin_hostile_life();
    std::uint64_t steps = 0;
    while (steps < kStepsMax && verdict_.ok() && !is_over_ && !is_cut() && engine_->step()) {
      ++steps;
      if (engine_->now_ns() > faults_.end_ns && !cluster_->is_healed()) heal();
      if (steps % kLookEvery == 0) look();
    }
    SeedReport report;
    if (steps == kStepsMax) {
      verdict_.report(Breach::kLiveness, "I12",
                      "still busy after " + std::to_string(steps) + " steps");
    }
    if (verdict_.ok() && !is_cut()) check_end();
    if (verdict_.ok() && !is_cut()) {
      for (Violation& one : check_history(history_, deeds_of(world_, faults_, is_point_struck()))) {
        verdict_.report(one.breach, std::move(one.invariant), std::move(one.text));
      }
    }
    if (!verdict_.ok() || is_cut()) report.waiting = waiting_for();
    report.is_cut = is_cut();
    report.seed = world_.seed;
    report.kind = WorldKind::kProcesses;
    describe(world_, report);
    report.steps = engine_->steps();
    report.virtual_ns = engine_->now_ns();
    report.events = hash_.count();
    report.hash = mix64(hash_.hash() ^ engine_->choices_hash() ^ cluster_->hash());
    report.world = world_.to_string() + faults_.to_string();
    report.policy = actor::to_string(engine_->policy());
    report.counts = verdict_.counts;
    cover();
    report.coverage = verdict_.coverage;
    report.breach = verdict_.breach();
    report.violations = verdict_.violations();
    if (asked_.keep_events || !verdict_.ok()) report.last_events = events_.ring().snapshot();
    if (asked_.trace) report.trace = trace_.to_json();
    return report;
  }

  void began(const ProcessFault& fault) override {
    verdict_.coverage.add(Feature::kFaultInRecovery, truth_.is_troubled());
    const bool stops_reading =
        fault.kind == ProcessFault::Kind::kPause && fault.target.role == Role::kClient;
    verdict_.coverage.add(Feature::kSlowReader, stops_reading && watch_.waits(fault.target.index));
  }
  void started(const RoleName& name, std::uint32_t) override {
    if (name.role == Role::kHost) corruption_.forget(name.index);
  }
  void record(const RoleName& teller, const events::Event& event) override {
    if (teller.role != Role::kIsland) corruption_.record(event);
  }

 private:
  static bool has_late_connections(const FaultPointCounts& counts) {
    return counts.of(FaultPoint::kLostConnection) + counts.of(FaultPoint::kFailedConnection) +
               counts.of(FaultPoint::kLongPause) >
           0;
  }

  /// Points that break connections or kill have fired.
  bool is_point_struck() const {
    return points_ && (has_late_connections(points_->counts()) ||
                       points_->counts().of(FaultPoint::kOutOfMemory) > 0);
  }

  struct User {
    ClientId client = 0;
    std::uint32_t lives = 0;
    bool is_done = false;
  };

  std::unique_ptr<store::SpillFile> make_spill(actor::Engine& engine, IslandId island,
                                               std::uint32_t life) {
    return std::make_unique<SimSpill>(
        engine, world_.seed, island, life, world_.spill,
        [this](const SpillLoss& loss) {
          cluster::Member* const host = member(Role::kHost, loss.island);
          const auto* const devices = host ? host->host()->array_devices(loss.array) : nullptr;
          if (devices) mischief_.note(loss, *devices);
        },
        [this](std::string text) { verdict_.report(Breach::kCorrectness, "I9", std::move(text)); });
  }

  std::unique_ptr<device::Backend> make_backend(actor::Engine& engine, IslandId island,
                                                std::function<void()> on_progress) {
    // What a device has in its memory is gone with its host; what is wrong with it is not.
    auto simulated = std::make_unique<SimBackend>(
        engine, mix64(world_.seed + ++backends_), island, world_.cost, std::move(on_progress),
        [this](std::string text) { verdict_.report(Breach::kCorrectness, "I9", std::move(text)); },
        world_.faults.of(island), [this](const Mischief& mischief) { note(mischief); });
    simulated->excuse([this, island](const device::GangWork& work) {
      cluster::Member* const host = member(Role::kHost, island);
      return host && host->host() && reads_what_was_taken_back(*host->host(), work);
    });
    std::unique_ptr<device::Backend> backend = std::move(simulated);
    return asked_.replace_backend ? asked_.replace_backend(std::move(backend)) : std::move(backend);
  }

  bool is_cut() const { return is_cut_at(hash_.count(), asked_); }
  void heal() {
    cluster_->heal();
    if (points_) points_->spare(FaultPoint::kOutOfMemory);
  }
  template <class Done>
  void note(const Done& done) {
    mischief_.note(done);
    corruption_.note(done);
  }
  void change(const MemoryRot& rot) {
    cluster::Member* const host = member(Role::kHost, rot.island);
    if (!host) return;
    if (const auto value = change_bit(*host->host(), rot)) note(*value);
  }

  /// Of a cluster that begins or ends there is nothing to see.
  cluster::Member* member(Role role, std::uint32_t index) {
    return cluster_ ? cluster_->member({role, index}) : nullptr;
  }
  controller::ControllerCore* controller() {
    cluster::Member* const found = member(Role::kController, 0);
    return found ? found->controller() : nullptr;
  }
  std::vector<SliceId> slices_on(IslandId island, DeviceId device) {
    return controller() ? controller()->slices_on(island, device) : std::vector<SliceId>();
  }
  LifeCheckers::Sources sources() {
    return {surroundings_,
            [this](const RoleName& name) {
              const cluster::Member* const found = member(name.role, name.index);
              return found ? found->controller_life() : 0;
            },
            [this](IslandId island) -> std::uint64_t {
              return controller() ? controller()->view_of(island).number : 0;
            }};
  }
  /// Devices that hang are given up one after the other.
  std::uint64_t settle_ns() const {
    // What was asked for in a flood is worked on for as long as it takes.
    if (world_.is_flooded) return kFloodNs;
    return world_.faults.hangs.size() * 2 * world_.cluster.gang_timeout_ns;
  }

  void begin_life(std::uint32_t user) {
    User& state = states_[user];
    state.client = ++last_client_;
    tenants_[state.client] = transport::tenant_key(World::tenant_of(user));
    ++state.lives;
    cluster_->start_client(state.client,
                           [this, user](cluster::Member& member, actor::SeededProcess& process) {
                             be_client(user, member, process);
                           });
  }

  void begin_hostile_life() {
    const ClientId client = ++last_client_;
    hostile_clients_.insert(client);
    tenants_[client] = transport::tenant_key(HostileClient::kTenant);
    cluster_->start_client(client, [this](cluster::Member& member, actor::SeededProcess& process) {
      hostile_->live(member, process);
    });
  }

  void be_client(std::uint32_t user, cluster::Member& member, actor::SeededProcess& process) {
    ClientOptions options;
    options.tenant = World::tenant_of(user);
    options.weight = world_.weight_of(options.tenant);
    options.upload_bytes_max = world_.upload_bytes_max;
    options.runs_in_flight_max = world_.runs_in_flight_max;
    options.request_timeout = std::chrono::nanoseconds(kRequestNsMax);
    options.when_full = user % 2 == 0 ? WhenFull::kWait : WhenFull::kRefuse;
    const ClientId id = member.name().index;
    ClientScribe scribe(history_, id, kRequestNsMax);
    auto connected =
        scribe.ask(CallKind::kConnect, [&] { return member.connect(std::move(options)); });
    if (!connected.ok()) {  // It comes back.
      if (truth_.is_excused(id)) return;
      return verdict_.report(
          Breach::kCorrectness, "I3",
          "client " + std::to_string(id) + " could not connect: " + connected.status().to_string());
    }
    RandomStream pauses(world_.seed, kPauseStream + id);
    const auto pause = [&process, &pauses](std::uint64_t time_min_ns) {
      if (time_min_ns == 0 && pauses.chance(70)) return process.yield();
      const std::uint64_t time_ns =
          std::max(time_min_ns, pauses.below(std::uint64_t{1} << pauses.between(10, 28)));
      process.wait([] { return false; }, process.clock().now_ns() + 1 + time_ns);
    };
    const auto nothing = [](const std::set<ArrayId>&) {};
    const SimulatedClient::Excuses excuses = {
        [this, id](SliceId slice) { return truth_.is_excused(id, slice); },
        [this, id] { return truth_.is_any_excused(id) || truth_.was_drained(); },
        [this, id] { return truth_.is_excused(id); },
        [this] { return truth_.was_troubled(kRequestNsMax); },
        [this](const Status& status, SliceId slice) { return mischief_.is_excused(status, slice); },
        [this](SliceId slice) {
          return world_.cluster.integrity.replay_per_mille < 1000 && mischief_.may_be_wrong(slice);
        }};
    if (world_.has_sharers) return share(user, member, pause, *std::move(connected));
    SimulatedClient client(
        world_, id - 1, pause, verdict_, [] {}, nothing, excuses, scribe);
    client.note_times(engine_->clock());
    // One that waits for room may be the only one who could make some.
    const bool may_wait = world_.is_memory_tight && user % 2 == 0;
    {
      const Watched watched(watch_, id, client);
      if (may_wait) watch_.remove(id);
      client.live(*std::move(connected));
    }
    states_[user].is_done = !client.has_lost_controller();
    if (!truth_.is_any_excused(id) && verdict_.ok()) lives_.finish(id, client.counts());
  }

  void share(std::uint32_t user, cluster::Member& member, const SimulatedClient::Pause& pause,
             Client session) {
    const ClientId id = member.name().index;
    const SharingClient::Surroundings around = {
        pause, [this] { return truth_.has_begun() || is_point_struck(); },
        [&member] { return member.relay()->has_lost_actors(); }, now_,
        [&member] { return cluster::to_string(member.relay()->stock()); }};
    SharingClient client(world_, id - 1, around, verdict_);
    {
      const Watched watched(watch_, id, client);
      client.live(std::move(session));
    }
    states_[user].is_done = !client.has_lost_controller();
  }

  void look() {
    if (points_ && has_late_connections(points_->counts())) truth_.note_late_connections();
    truth_.look();
    if (!world_.faults.rots.empty() || world_.cluster.spill_memory > 0) look_at_slices();
    detector_.look();
    restarts_.look();
    if (!hostile_ && cluster_->refusals() > 0) {
      verdict_.report(Breach::kCorrectness, "I22",
                      "a process has rejected a message although no client is hostile");
    }
    if (const controller::ControllerCore* const one = controller()) {
      check_backlog(verdict_, one->runs_unfinished() - one->moves_unfinished(), last_client_,
                    world_.runs_in_flight_max);
    }
    look_for_ends();
    const bool counts = ++looks_ % kCountEvery == 0;
    if (counts) watch_.look();
    if (!cluster_->is_healed()) return;
    const std::uint64_t now_ns = engine_->now_ns();
    if (!have_all_ended()) {
      const std::uint64_t limit_ns = world_.is_flooded ? kFloodNs : kLivenessNs;
      if (now_ns <= faults_.end_ns + limit_ns) return;
      std::string text = "long after everything was whole again there waits";
      for (const std::string& body : engine_->unfinished_bodies()) text += " " + body;
      return verdict_.report(Breach::kLiveness, "I2", text);
    }
    if (ended_ns_ == 0) ended_ns_ = untidy_ns_ = now_ns;
    if (!counts) return;
    if (!leftovers(world_, member_).empty()) untidy_ns_ = now_ns;
    // What is still under way may bring something back; a dead client's things are gone in time.
    is_over_ = now_ns > untidy_ns_ + kQuietNs || now_ns > ended_ns_ + kCleanNsMax;
  }

  void look_at_slices() {
    for (IslandId island = 0; island < world_.cluster.islands; ++island) {
      for (DeviceId device = 0; device < world_.cluster.devices; ++device) {
        mischief_.look(island, device);
      }
    }
  }

  void look_for_ends() {
    for (auto& [user, state] : states_) {
      if (state.is_done || !cluster_->has_ended(state.client)) continue;
      if (state.lives > kComebacks) {
        state.is_done = true;
      } else {
        verdict_.coverage.add(Feature::kClientCameBack);
        begin_life(user);
      }
    }
    const bool comes_back = hostile_ && hostile_clients_.size() < HostileClient::kLivesMax &&
                            cluster_->has_ended(*hostile_clients_.rbegin()) &&
                            !cluster_->is_healed();
    if (comes_back) begin_hostile_life();
  }

  bool have_all_ended() const {
    if (!hostile_clients_.empty() && !cluster_->has_ended(*hostile_clients_.rbegin())) return false;
    return std::all_of(states_.begin(), states_.end(), [this](const auto& entry) {
      return entry.second.is_done && cluster_->has_ended(entry.second.client);
    });
  }

  /// All clients are gone, and everything is whole: nothing may be left.
  void check_end() {
    for (const std::string& left : leftovers(world_, member_)) {
      verdict_.report(Breach::kCorrectness, "I9", "at the end there are left: " + left);
    }
    if (verdict_.ok()) lives_.finish();
  }

  std::string waiting_for() {
    std::string text = waiting(world_, member_);
    for (const auto& [user, state] : states_) {
      cluster::Member* const client = member(Role::kClient, state.client);
      if (client)
        text += "client " + std::to_string(state.client) + ": " + client->waiting() + "\n";
    }
    return text;
  }

  /// What kind of world it was, and what was done to it.
  void cover() {
    Coverage& coverage = verdict_.coverage;
    coverage.add(Feature::kWorldOfProcesses);
    coverage.add(Feature::kSeveralClients, world_.clients > 1);
    coverage.add(Feature::kSeveralIslands, world_.cluster.islands > 1);
    const bool is_fifo = world_.cluster.policy == island::Policy::kFifo;
    coverage.add(is_fifo ? Feature::kFifoPolicy : Feature::kSharesPolicy);
    coverage.add(Feature::kTightMemory, world_.is_memory_tight);
    coverage.add(Feature::kFloodedWorld, world_.is_flooded);
    coverage.add(Feature::kSharingWorld, world_.has_sharers);
    coverage.add(Feature::kSlowDevice, world_.faults.slow.size());
    coverage.add(Feature::kWorldWithLosses,
                 coverage.counts[static_cast<std::size_t>(Feature::kDeviceLoss)] > 0);
    std::uint64_t faults = 0;
    const auto add_fault = [&coverage, &faults](std::size_t feature, std::uint64_t count) {
      coverage.add(static_cast<Feature>(feature), count);
      faults += count;
    };
    for (std::size_t kind = 0; kind < kProcessFaultKinds; ++kind) {
      add_fault(static_cast<std::size_t>(Feature::kKill) + kind,
                cluster_->done(static_cast<ProcessFault::Kind>(kind)));
    }
    const auto& wires = cluster_->wire_counts();
    const auto first = static_cast<std::size_t>(Feature::kWireCut);
    add_fault(first, wires.cuts);
    add_fault(first + 1, wires.half_opens);
    add_fault(first + 2, wires.flips);
    add_fault(first + 3, wires.repeats);
    // Each of them is counted among the kills, too.
    if (points_) {
      coverage.add(Feature::kOutOfMemory, points_->counts().of(FaultPoint::kOutOfMemory));
    }
    coverage.add(Feature::kWholeProcesses, faults == 0);
    for (IslandId island = 0; island < world_.cluster.islands; ++island) {
      const cluster::Member* const found = member(Role::kIsland, island);
      if (!found) continue;
      const island::Counters& counters = found->scheduler()->core().counters();
      coverage.add(Feature::kEarlyGang, counters.gangs_placed_early);
      coverage.add(Feature::kOvertake, counters.overtakes);
      coverage.add(Feature::kMovedSends, counters.moves);
    }
  }

  const World& world_;
  const SeedOptions& asked_;
  FaultPoints* const points_;
  Registry registry_;  // What hosts can make.
  const std::uint32_t users_;
  const ProcessFaults faults_;
  Verdict verdict_;
  History history_{[this] { return engine_ ? engine_->now_ns() : 0; }};  // Futures may end last.
  events::EventStream events_;
  events::EventHash hash_;
  CoverageCounter coverage_;
  const MemberOf member_;
  const Surroundings surroundings_;
  const ProcessTruth::Now now_;
  ProcessTrace trace_;
  ProcessTruth truth_;
  CorruptionChecker corruption_;
  MischiefTruth mischief_;
  DetectorChecker detector_;
  RestartChecker restarts_;
  LifeCheckers lives_;
  ClientWatch watch_;
  std::map<std::uint32_t, User> states_;
  ClientId last_client_ = 0;
  std::map<ClientId, transport::TenantKey> tenants_;
  std::optional<HostileClient> hostile_;
  std::set<ClientId> hostile_clients_;
  std::uint64_t backends_ = 0, looks_ = 0;
  std::uint64_t ended_ns_ = 0;   // When all clients had; 0: not yet.
  std::uint64_t untidy_ns_ = 0;  // When something of theirs was there last.
  bool is_over_ = false;
  std::unique_ptr<actor::SeededEngine> engine_;
  std::unique_ptr<ProcessCluster> cluster_;
};

/// What goes over two wires is sooner there, now and then, than what goes over one.
void spread_latencies(transport::WireOptions& wires) {
  wires.latency_max_ns += 8 * wires.latency_max_ns;
}

}  // namespace

SeedReport run_process_world(const World& world, ProcessFaults faults, const SeedOptions& options) {
  return ProcessWorld(world, std::move(faults), options).run();
}

SeedReport run_process_seed(std::uint64_t seed, const SeedOptions& options) {
  const bool is_wild = options.edits.is_wild;
  World world = make_process_world(seed, is_wild);
  ProcessFaults faults =
      make_process_faults(seed, cluster::Shape(world.cluster), world.clients, is_wild);
  if (world.has_sharers) spread_latencies(faults.wires);
  apply(options.edits, world);
  apply(options.edits, faults);
  FaultPoints points(seed, is_wild);
  apply(options.edits, points);
  SeedReport report = ProcessWorld(world, faults, options, &points).run();
  report.fault_points = points.counts();
  report.faults = faults.lines();
  append(report.faults, world.faults.lines());
  append(report.faults, world.spill.lines());
  append(report.faults, points.lines());
  return report;
}

}  // namespace seaway::sim
