// Wiring one world of processes: engine, cluster, clients and what is checked.

#include "sim/process_run.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "sim/client_watch.hpp"
#include "sim/detector_checker.hpp"
#include "sim/life_checkers.hpp"
#include "sim/process_cluster.hpp"
#include "sim/process_stock.hpp"
#include "sim/process_truth.hpp"
#include "sim/simulated_client.hpp"
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
  Watched(ClientWatch& watch, ClientId id, const SimulatedClient& client) : watch_(watch), id_(id) {
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
  ProcessWorld(const World& world, ProcessFaults faults, const SeedOptions& options)
      : world_(world),
        asked_(options),
        users_(world.clients),
        faults_(std::move(faults)),
        events_(kEvents),
        coverage_(verdict_.coverage),
        member_([this](Role role, std::uint32_t index) { return member(role, index); }),
        surroundings_(surroundings_of(world, member_)),
        now_([this] { return engine_->now_ns(); }),
        truth_(world.cluster.islands, world.cluster.devices, now_,
               [this](IslandId island, DeviceId device) { return slices_on(island, device); }),
        detector_(truth_, now_, verdict_),
        lives_(sources(), verdict_),
        watch_(
            truth_, now_, settle_ns(),
            [this](ClientId client) { return remains_of(client, world_, member_); }, verdict_) {
    actor::SeededOptions seeded;
    seeded.step_ns_max = world.step_ns_max;
    engine_ = actor::make_seeded_engine(world.seed, seeded);
    ProcessCluster::Options cluster;
    cluster.cluster = world.cluster;
    cluster.seed = world.seed;
    cluster.clients_max = users_ * (1 + kComebacks);
    cluster.faults = faults_;
    cluster.sinks = {this, &truth_, &detector_, &lives_, &watch_};
    cluster_ = std::make_unique<ProcessCluster>(
        std::move(cluster), *engine_, events_,
        [this](actor::Engine& engine, IslandId island, std::function<void()> on_progress) {
          return make_backend(engine, island, std::move(on_progress));
        });
    set_running(&events_.ring());
    events_.add_observer(hash_);
    events_.add_observer(coverage_);
  }

  ~ProcessWorld() override {
    set_running(nullptr);
    engine_->abandon_bodies();
    cluster_.reset();
    engine_.reset();
  }

  SeedReport run() {
    for (std::uint32_t user = 0; user < users_; ++user) begin_life(user);
    std::uint64_t steps = 0;
    while (steps < kStepsMax && verdict_.ok() && !is_over_ && engine_->step()) {
      ++steps;
      if (engine_->now_ns() > faults_.end_ns && !cluster_->is_healed()) cluster_->heal();
      if (steps % kLookEvery == 0) look();
    }
    SeedReport report;
    if (steps == kStepsMax) {
      verdict_.report(Breach::kLiveness, "I12",
                      "still busy after " + std::to_string(steps) + " steps");
    }
    if (verdict_.ok()) check_end();
    if (!verdict_.ok()) report.waiting = waiting_for();
    report.seed = world_.seed;
    report.is_of_processes = true;
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
    return report;
  }

  void began(const ProcessFault&) override {
    verdict_.coverage.add(Feature::kFaultInRecovery, truth_.is_troubled());
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
    std::unique_ptr<device::Backend> backend = std::make_unique<SimBackend>(
        engine, mix64(world_.seed + ++backends_), island, world_.cost, std::move(on_progress),
        [this](std::string text) { verdict_.report(Breach::kCorrectness, "I9", std::move(text)); },
        world_.faults.of(island));
    return asked_.replace_backend ? asked_.replace_backend(std::move(backend)) : std::move(backend);
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
    return world_.faults.hangs.size() * 2 * world_.cluster.gang_timeout_ns;
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
    options.request_timeout = std::chrono::nanoseconds(kRequestNsMax);
    options.when_full = user % 2 == 0 ? WhenFull::kWait : WhenFull::kRefuse;
    const ClientId id = member.name().index;
    auto connected = member.connect(std::move(options));
    if (!connected.ok()) {  // It comes back.
      if (truth_.is_excused(id)) return;
      return verdict_.report(
          Breach::kCorrectness, "I3",
          "client " + std::to_string(id) + " could not connect: " + connected.status().to_string());
    }
    RandomStream pauses(world_.seed, kPauseStream + id);
    const auto pause = [&process, &pauses] {
      if (pauses.chance(70)) return process.yield();
      const std::uint64_t time_ns = pauses.below(std::uint64_t{1} << pauses.between(10, 28));
      process.wait([] { return false; }, process.clock().now_ns() + 1 + time_ns);
    };
    const auto nothing = [](const std::set<ArrayId>&) {};
    const SimulatedClient::Excuses excuses = {
        [this, id](SliceId slice) { return truth_.is_excused(id, slice); },
        [this, id] { return truth_.is_any_excused(id); },
        [this, id] { return truth_.is_excused(id); },
        [this] { return truth_.was_troubled(kRequestNsMax); }};
    SimulatedClient client(
        world_, id - 1, pause, verdict_, [] {}, nothing, excuses);
    client.note_times(engine_->clock());
    // One that waits for room may be the only one who could make some.
    const bool may_wait = world_.is_memory_tight && user % 2 == 0;
    {
      const Watched watched(watch_, id, client);
      if (may_wait) watch_.remove(id);
      client.live(*std::move(connected));
    }
    states_[user].is_done = true;
    if (!truth_.is_any_excused(id) && verdict_.ok()) lives_.finish(id, client.counts());
  }

  void look() {
    truth_.look();
    detector_.look();
    look_for_ends();
    const bool counts = ++looks_ % kCountEvery == 0;
    if (counts) watch_.look();
    if (!cluster_->is_healed()) return;
    const std::uint64_t now_ns = engine_->now_ns();
    if (!have_all_ended()) {
      if (now_ns <= faults_.end_ns + kLivenessNs) return;
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
  }

  bool have_all_ended() const {
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
  const std::uint32_t users_;
  const ProcessFaults faults_;
  Verdict verdict_;
  events::EventStream events_;
  events::EventHash hash_;
  CoverageCounter coverage_;
  const MemberOf member_;
  const Surroundings surroundings_;
  const ProcessTruth::Now now_;
  ProcessTruth truth_;
  DetectorChecker detector_;
  LifeCheckers lives_;
  ClientWatch watch_;
  std::map<std::uint32_t, User> states_;
  ClientId last_client_ = 0;
  std::uint64_t backends_ = 0, looks_ = 0;
  std::uint64_t ended_ns_ = 0;   // When all clients had; 0: not yet.
  std::uint64_t untidy_ns_ = 0;  // When something of theirs was there last.
  bool is_over_ = false;
  std::unique_ptr<actor::SeededEngine> engine_;
  std::unique_ptr<ProcessCluster> cluster_;
};

}  // namespace

World make_process_world(std::uint64_t seed) {
  World world = make_world(seed);
  for (std::uint64_t other = seed; world.is_contest;) world = make_world(other = mix64(other));
  world.seed = seed;
  world.has_processes = true;
  return world;
}

SeedReport run_process_world(const World& world, ProcessFaults faults, const SeedOptions& options) {
  return ProcessWorld(world, std::move(faults), options).run();
}

SeedReport run_process_seed(std::uint64_t seed, const SeedOptions& options) {
  const World world = make_process_world(seed);
  return run_process_world(world, make_process_faults(seed, world.cluster.islands, world.clients),
                           options);
}

}  // namespace seaway::sim
