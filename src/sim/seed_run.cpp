// Wiring one world: engine, cluster, clients, oracle and checkers.

#include "sim/seed_run.hpp"

#include <map>
#include <memory>
#include <set>
#include <utility>

#include "actor/seeded_engine.hpp"
#include "cluster/trace.hpp"
#include "sim/checkers.hpp"
#include "sim/corruption_checker.hpp"
#include "sim/functions.hpp"
#include "sim/history_checker.hpp"
#include "sim/mischief_truth.hpp"
#include "sim/simulated_client.hpp"
#include "sim/stock.hpp"
#include "sim/tester_deeds.hpp"
#include "sim/wait_log.hpp"
#include "sim/world.hpp"

namespace seaway::sim {
namespace {

constexpr std::size_t kEvents = 1 << 12;       // For the last words of a world.
constexpr std::size_t kTraceEvents = 1 << 20;  // More than any world has.
constexpr std::size_t kChainLines = 20;

/// Only for the report of a crash: nothing else may look into a world while it runs.
const events::EventRing* running_ring = nullptr;

/// The devices that are lost by now.
struct Losses final : events::EventSink {
  void record(const events::Event& event) override {
    if (event.kind == events::EventKind::kDeviceLost) lost.emplace(event.island, event.place);
  }
  std::set<std::pair<IslandId, DeviceId>> lost;
};

/// One world while it runs. Members end in the order that an embedded cluster asks for.
class SimulatedCluster {
 public:
  SimulatedCluster(const World& world, const SeedOptions& options)
      : world_(world),
        asked_(options),
        events_(options.trace ? kTraceEvents : kEvents),
        checkers_(surroundings_, verdict_),
        corruption_(surroundings_, world.cluster.integrity.replay_per_mille == 1000, verdict_),
        truth_([this](IslandId island, DeviceId device) {
          return embedded_->controller().slices_on(island, device);
        }),
        coverage_(verdict_.coverage) {
    running_ring = &events_.ring();
    actor::SeededOptions seeded;
    seeded.step_ns_max = world.step_ns_max;
    seeded.choices_max = world.edits.choices;
    engine_ = actor::make_seeded_engine(world.seed, seeded);
    embedded_ = std::make_unique<cluster::Embedded>(
        world.cluster, *engine_, events_,
        [this](IslandId island, std::function<void()> on_progress) {
          return make_backend(island, std::move(on_progress));
        },
        cluster::ActorEngines(), app::AppsTuning(),
        [this](IslandId island) { return make_spill(island); });
    look_around();
    events_.add_observer(hash_);
    events_.add_observer(checkers_);
    events_.add_observer(corruption_);
    events_.add_observer(coverage_);
    events_.add_observer(losses_);
    events_.add_observer(waits_);
    for (const MemoryRot& rot : world.faults.rots) {
      engine_->schedule(rot.at_ns, [this, &rot] {
        if (const auto value = change_bit(embedded_->host(rot.island), rot)) note(*value);
      });
    }
  }

  ~SimulatedCluster() {
    engine_.reset();
    embedded_.reset();
    running_ring = nullptr;
  }

  SeedReport run() {
    for (std::uint32_t i = 0; i < world_.clients; ++i) {
      engine_->spawn_body("client" + std::to_string(i), [this, i] { be_client(i); });
    }
    std::uint64_t steps = 0;
    // It stops at the first violation, so that the last events are those that led to it.
    while (steps < kStepsMax && verdict_.ok() && !is_cut() && (engine_->step() || wake_clients())) {
      ++steps;
      if (!losses_.lost.empty()) look_for_struck();
      const controller::ControllerCore& controller = embedded_->controller();
      check_backlog(verdict_, controller.runs_unfinished() - controller.moves_unfinished(),
                    world_.clients, world_.runs_in_flight_max);
    }
    SeedReport report;
    if (steps == kStepsMax) {
      verdict_.report(Breach::kLiveness, "I12",
                      "still busy after " + std::to_string(steps) + " steps");
    } else if (verdict_.ok() && !is_cut() && !engine_->unfinished_bodies().empty()) {
      std::string text = "nothing can move any more, but there waits";
      for (const std::string& body : engine_->unfinished_bodies()) text += " " + body;
      verdict_.report(Breach::kLiveness, "I12", text);
    }
    if (verdict_.ok() && !is_cut()) check_end();
    if (verdict_.ok() && !is_cut()) {
      for (Violation& one : check_history(history_, deeds_of(world_))) {
        verdict_.report(one.breach, std::move(one.invariant), std::move(one.text));
      }
    }
    if (!verdict_.ok() || is_cut()) report.waiting = waiting();
    report.is_cut = is_cut();
    if (verdict_.breach() == Breach::kLiveness) {
      report.chain = waits_.explain(surroundings_, verdict_.violations(), kChainLines);
    }
    report.seed = world_.seed;
    describe(world_, report);
    report.steps = engine_->steps();
    report.virtual_ns = engine_->now_ns();
    report.events = hash_.count();
    report.hash = mix64(hash_.hash() ^ engine_->choices_hash());
    report.world = world_.to_string();
    for (IslandId island = 0; island < world_.cluster.islands; ++island) {
      const island::Counters& counters = embedded_->scheduler(island).counters();
      report.world +=
          "\n  island " + std::to_string(island) + ": " + std::to_string(counters.launched) +
          " parts, " + std::to_string(counters.overtakes) + " overtakes, " +
          std::to_string(counters.moves) + " moves, " + std::to_string(counters.spills) +
          " spills, " + std::to_string(counters.cancelled) + " cancels";
    }
    report.policy = actor::to_string(engine_->policy());
    report.counts = verdict_.counts;
    cover();
    report.coverage = verdict_.coverage;
    report.shares_measured = checkers_.shares().measured();
    report.breach = verdict_.breach();
    report.violations = verdict_.violations();
    if (asked_.keep_events || !verdict_.ok()) report.last_events = events_.ring().snapshot();
    if (asked_.trace) report.trace = cluster::trace_of(*embedded_);
    return report;
  }

 private:
  std::unique_ptr<device::Backend> make_backend(IslandId island,
                                                std::function<void()> on_progress) {
    std::unique_ptr<device::Backend> backend = std::make_unique<SimBackend>(
        *engine_, world_.seed, island, world_.cost, std::move(on_progress),
        [this](std::string text) { verdict_.report(Breach::kCorrectness, "I9", std::move(text)); },
        world_.faults.of(island), [this](const Mischief& mischief) { note(mischief); });
    return asked_.replace_backend ? asked_.replace_backend(std::move(backend)) : std::move(backend);
  }

  std::unique_ptr<store::SpillFile> make_spill(IslandId island) {
    if (world_.cluster.spill_memory == 0) return nullptr;
    return std::make_unique<SimSpill>(
        *engine_, world_.seed, island, 1, world_.spill,
        [this](const SpillLoss& loss) {
          const auto* const devices = embedded_->host(loss.island).array_devices(loss.array);
          if (devices) truth_.note(loss, *devices);
        },
        [this](std::string text) { verdict_.report(Breach::kCorrectness, "I9", std::move(text)); });
  }

  bool is_cut() const { return is_cut_at(hash_.count(), asked_); }

  template <class Done>
  void note(const Done& done) {
    truth_.note(done);
    corruption_.note(done);
  }

  /// Slices lie on a lost device until the controller has bound them anew.
  void look_for_struck() {
    const controller::ControllerCore& controller = embedded_->controller();
    for (const auto& [island, device] : losses_.lost) {
      const std::vector<SliceId> found = controller.slices_on(island, device);
      std::set<SliceId> there(found.begin(), found.end());
      struck_.insert(there.begin(), there.end());
      std::set<SliceId>& before = struck_now_[{island, device}];
      for (const SliceId slice : before) {
        const bool has_left = !there.contains(slice) && controller.has_slice(slice);
        verdict_.coverage.add(Feature::kSliceLeftLoss, has_left);
      }
      before = std::move(there);
    }
  }

  /// What the checkers may ask.
  void look_around() {
    surroundings_.devices = world_.cluster.devices;
    surroundings_.is_flooded = world_.is_flooded;
    surroundings_.part_of = [this](IslandId island, Stamp stamp) {
      const device::PartRun* const part = embedded_->host(island).find_part(stamp);
      if (part == nullptr) return PartFacts{};
      return PartFacts{part->plan->part.get(), &part->args,        &part->outputs,
                       part->is_admitted,      part->gangs_placed, part->has_moved};
    };
    surroundings_.devices_of_array = [this](IslandId island, ArrayId array) {
      return embedded_->host(island).array_devices(array);
    };
    surroundings_.memory_of = [this](IslandId island, DeviceId device) {
      const device::DeviceState& state = embedded_->host(island).device(device);
      return std::pair(state.used_bytes, state.budget_bytes);
    };
    surroundings_.reserved_of = [this](IslandId island, DeviceId device) {
      return embedded_->scheduler(island).used_bytes(device);
    };
    surroundings_.gangs_of = [this](IslandId island, DeviceId device) {
      return embedded_->host(island).device(device).gangs_done;
    };
    surroundings_.has_effects = [this](FunctionId function) {
      return embedded_->controller().function_name(function).starts_with(kOnce);
    };
    surroundings_.may_be_lost = [this](IslandId island, DeviceId device, std::uint64_t now_ns) {
      return world_.faults.may_take(island, device, now_ns);
    };
    surroundings_.weight_of = [this](TenantId tenant) {
      return world_.weight_of(embedded_->controller().tenant_name(tenant));
    };
  }

  /// What kind of world it was, and what its schedulers did.
  void cover() {
    Coverage& coverage = verdict_.coverage;
    coverage.add(Feature::kSeveralClients, world_.clients > 1);
    coverage.add(Feature::kSeveralIslands, world_.cluster.islands > 1);
    const bool is_fifo = world_.cluster.policy == island::Policy::kFifo;
    coverage.add(is_fifo ? Feature::kFifoPolicy : Feature::kSharesPolicy);
    coverage.add(Feature::kTightMemory, world_.is_memory_tight);
    coverage.add(Feature::kFloodedWorld, world_.is_flooded);
    coverage.add(Feature::kWorldWithLosses, !losses_.lost.empty());
    coverage.add(Feature::kSlowDevice, world_.faults.slow.size());
    if (world_.weights[0] != world_.weights[1]) {
      coverage.add(Feature::kWeightedShares, checkers_.shares().measured());
    }
    for (IslandId island = 0; island < world_.cluster.islands; ++island) {
      const island::Counters& counters = embedded_->scheduler(island).counters();
      coverage.add(Feature::kEarlyGang, counters.gangs_placed_early);
      coverage.add(Feature::kOvertake, counters.overtakes);
      coverage.add(Feature::kMovedSends, counters.moves);
    }
  }

  void be_client(std::uint32_t index) {
    ClientOptions options;
    options.tenant = World::tenant_of(index);
    options.weight = world_.weight_of(options.tenant);
    options.upload_bytes_max = world_.upload_bytes_max;
    options.runs_in_flight_max = world_.runs_in_flight_max;
    options.when_full = index % 2 == 0 ? WhenFull::kWait : WhenFull::kRefuse;
    ClientScribe scribe(history_, index + 1,
                        static_cast<std::uint64_t>(options.request_timeout.count()));
    auto client =
        scribe.ask(CallKind::kConnect, [&] { return embedded_->connect(std::move(options)); });
    if (!client.ok()) {
      verdict_.report(Breach::kCorrectness, "I3",
                      "a client could not connect: " + client.status().to_string());
      return;
    }
    const auto rest = [this](const std::set<ArrayId>& held) {
      held_.insert(held.begin(), held.end());
      ++clients_at_rest_;
      if (!engine_->wait([this] { return is_audited_; }, 0)) return;
    };
    const auto begin = [this] {
      ++clients_ready_;
      engine_->notify();
      if (!engine_->wait([this] { return clients_ready_ == world_.clients; }, 0)) return;
    };
    const SimulatedClient::Excuses excuses = {
        [this](SliceId slice) { return struck_.contains(slice); },
        [this] { return world_.faults.may_take_any(); },
        [] { return false; },
        [] { return false; },
        [this](const Status& status, SliceId slice) { return truth_.is_excused(status, slice); },
        [this](SliceId slice) {
          return world_.cluster.integrity.replay_per_mille < 1000 && truth_.may_be_wrong(slice);
        }};
    SimulatedClient(
        world_, index, [this](std::uint64_t) { engine_->yield(); }, verdict_, begin, rest, excuses,
        scribe)
        .live(*std::move(client));
  }

  /// Nothing moves. When that is because all clients rest, it is the time to compare what is there
  /// with what they hold; then they go on.
  bool wake_clients() {
    if (is_audited_ || clients_at_rest_ < world_.clients) return false;
    is_audited_ = true;
    check_holders(verdict_, take_stock());
    engine_->notify();
    return true;
  }

  Stock take_stock() {
    Stock stock;
    stock.held = held_.size();
    stock.known = embedded_->controller().array_count();
    for (IslandId island = 0; island < world_.cluster.islands; ++island) {
      stock.on_hosts += embedded_->host(island).array_count();
      for (DeviceId device = 0; device < world_.cluster.devices; ++device) {
        stock.devices.push_back({island, device, embedded_->host(island).device(device).used_bytes,
                                 embedded_->scheduler(island).used_bytes(device)});
      }
    }
    return stock;
  }

  std::string waiting() {
    std::string text;
    for (IslandId island = 0; island < world_.cluster.islands; ++island) {
      text += "island " + std::to_string(island) + ":\n" + embedded_->scheduler(island).to_string();
      for (Stamp stamp = 1; stamp < 10'000; ++stamp) {
        const std::string why = embedded_->host(island).why(stamp);
        if (!why.empty()) text += "host, stamp " + std::to_string(stamp) + ": " + why + "\n";
      }
    }
    return text + "controller: " + std::to_string(embedded_->controller().runs_unfinished()) +
           " runs unfinished, " + std::to_string(embedded_->controller().array_count()) +
           " arrays\n";
  }

  /// All handles are dropped and all clients gone: nothing may be left.
  void check_end() {
    const Counts& counts = verdict_.counts;
    checkers_.finish(counts);
    if (counts.runs != counts.ok + counts.failed + counts.cancelled) {
      verdict_.report(Breach::kCorrectness, "I20",
                      std::to_string(counts.runs) + " runs, but " + std::to_string(counts.ok) +
                          " ok, " + std::to_string(counts.failed) + " failed and " +
                          std::to_string(counts.cancelled) + " cancelled");
    }
    expect_none("runs without an outcome at the controller",
                embedded_->controller().runs_unfinished());
    expect_none("arrays known to the controller", embedded_->controller().array_count());
    expect_none("clients known to the controller", embedded_->controller().client_count());
    expect_none("definitions known to the controller", embedded_->controller().definition_count());
    expect_none("bytes that the controller takes for kept", embedded_->controller().kept_bytes());
    expect_none("values that nobody took from the transport", embedded_->bulk().size());
    for (IslandId island = 0; island < world_.cluster.islands; ++island) {
      const std::string where = " on island " + std::to_string(island);
      device::HostCore& host = embedded_->host(island);
      expect_none("arrays of the host" + where, host.array_count());
      expect_none("gangs that the host foresees" + where, host.foresees() ? 1 : 0);
      expect_none("plans of the host" + where, host.plan_count());
      expect_none("functions of the host" + where, host.function_count());
      expect_none("specs of the host" + where, host.spec_count());
      expect_none("unfinished parts of the host" + where, host.is_idle() ? 0 : 1);
      if (const store::SpillTiers* const spill = host.spill_tiers()) {
        expect_none("bytes in the file of the host" + where, spill->counts().file_bytes);
        expect_none("spilled bytes in its memory" + where, spill->counts().memory_bytes);
      }
      const island::SchedulerCore& scheduler = embedded_->scheduler(island);
      expect_none("unfinished parts of the scheduler" + where, scheduler.idle() ? 0 : 1);
      expect_none("arrays of the scheduler" + where, scheduler.array_count());
      expect_none("plans of the scheduler" + where,
                  embedded_->plans_at_scheduler(island) + scheduler.plan_count());
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
  Verdict verdict_;
  History history_{[this] { return engine_ ? engine_->now_ns() : 0; }};  // Futures may end last.
  Surroundings surroundings_;
  events::EventStream events_;
  events::EventHash hash_;
  Checkers checkers_;
  CorruptionChecker corruption_;
  MischiefTruth truth_;
  CoverageCounter coverage_;
  Losses losses_;
  WaitLog waits_;
  std::set<SliceId> struck_;  // They lay on a lost device, behind its loss,
  std::map<std::pair<IslandId, DeviceId>, std::set<SliceId>> struck_now_;  // and those still do.
  std::set<ArrayId> held_;                                                 // By clients that rest.
  std::uint32_t clients_ready_ = 0, clients_at_rest_ = 0;
  bool is_audited_ = false;
  std::unique_ptr<actor::SeededEngine> engine_;
  std::unique_ptr<cluster::Embedded> embedded_;
};

}  // namespace

void describe(const World& world, SeedReport& report) {
  report.clients = world.clients;
  report.actions = world.actions;
  report.islands = world.cluster.islands;
  report.devices = world.cluster.devices;
}

void set_running(const events::EventRing* ring) { running_ring = ring; }

std::string story_so_far(std::size_t events_max) {
  if (running_ring == nullptr) return "";
  std::string text;
  const std::size_t size = running_ring->size();
  for (std::size_t i = size > events_max ? size - events_max : 0; i < size; ++i) {
    text += "    " + events::to_string(running_ring->at(i)) + "\n";
  }
  return text;
}

SeedReport run_seed(std::uint64_t seed, const SeedOptions& options) {
  World world = make_world(seed, options.edits.is_wild);
  apply(options.edits, world);
  FaultPoints points(seed, options.edits.is_wild);
  apply(options.edits, points);
  SeedReport report = SimulatedCluster(world, options).run();
  report.fault_points = points.counts();
  report.faults = world.faults.lines();
  append(report.faults, world.spill.lines());
  append(report.faults, points.lines());
  return report;
}

}  // namespace seaway::sim
