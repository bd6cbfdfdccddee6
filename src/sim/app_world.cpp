// Drawing a world of actors from its seed, and running it.

#include "sim/app_world.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "sim/app_actor.hpp"
#include "sim/app_client.hpp"
#include "sim/history_checker.hpp"
#include "sim/process_faults.hpp"

namespace seaway::sim {
namespace {

constexpr std::uint64_t kWorldStream = 0x617070776f726c64;
constexpr std::uint64_t kWireStream = 0x7769726573000000;
constexpr std::uint64_t kMachineStream = 0x6d616368696e6573;
constexpr std::uint64_t kMailboxLookEvery = 16;  // Steps.
constexpr std::size_t kStoryLines = 40;

/// Only for the report of a crash.
const AppLedger* running_ledger = nullptr;

/// One world while it runs.
class AppRun {
 public:
  AppRun(const AppWorld& world, const SeedOptions& options)
      : world_(world),
        asked_(options),
        ledger_(verdict_, [this] { return simulation_ ? simulation_->engine().now_ns() : 0; }),
        stage_{ledger_, history_, world.hosts, [this](std::function<void()> work) {
                 simulation_->engine().post(std::move(work));
               }} {
    register_actors(types_, &stage_);
    running_ledger = &ledger_;
  }
  ~AppRun() { running_ledger = nullptr; }

  AppSeedReport run() {
    SimulationOptions options;
    options.seed = world_.seed;
    options.latency_min = std::chrono::nanoseconds(world_.latency_min_ns);
    options.latency_max = std::chrono::nanoseconds(world_.latency_max_ns);
    options.steps_max = kStepsMax;
    cluster::EmbeddedOptions cluster;
    cluster.islands = world_.hosts;
    SimulationTuning tuning;
    tuning.limits.restart_pause_ns = 1'000'000;
    tuning.faults = world_.faults;
    tuning.types = &types_;
    tuning.after_step = [this] { return look(); };
    tuning.choices_max = world_.edits.choices;
    simulation_ = std::make_shared<SimulatedWorld>(options, cluster, std::move(tuning));
    const SimulationReport simulated = simulation_->run([this](Simulation&) { begin(); });
    AppSeedReport report;
    report.seed.is_cut = is_cut();
    if (verdict_.ok() && !is_cut() && !simulated.status.ok()) {
      const bool is_hang = simulated.status.code() == StatusCode::kDeadlineExceeded;
      verdict_.report(is_hang ? Breach::kLiveness : Breach::kCorrectness, is_hang ? "AP-1" : "AP-6",
                      simulated.status.to_string());
    }
    if (verdict_.ok() && !is_cut()) ledger_.finish();
    if (verdict_.ok() && !is_cut()) {
      for (Violation& one : check_history(history_, deeds())) {
        verdict_.report(one.breach, std::move(one.invariant), std::move(one.text));
      }
    }
    report.seed.seed = world_.seed;
    report.seed.kind = WorldKind::kApps;
    report.seed.steps = simulated.steps;
    report.seed.virtual_ns = static_cast<std::uint64_t>(simulated.virtual_time.count());
    report.seed.hash = mix64(simulated.hash ^ ledger_.hash());
    report.seed.events = ledger_.events();
    report.seed.clients = world_.clients;
    report.seed.actions = world_.actions;
    report.seed.islands = world_.hosts;
    report.seed.world = world_.to_string();
    report.seed.policy = actor::to_string(simulation_->engine().policy());
    report.seed.counts = verdict_.counts;
    report.seed.breach = verdict_.breach();
    report.seed.violations = verdict_.violations();
    if (is_cut()) report.seed.waiting = simulation_->why();
    if (asked_.keep_events || !verdict_.ok()) report.seed.story = ledger_.story(kStoryLines);
    report.counts = ledger_.counts();
    report.counts["host killed"] = ledger_.faults.host_kills;
    report.counts["host paused"] = ledger_.faults.pauses;
    report.counts["clock set"] = ledger_.faults.wrong_clocks;
    if (const app::SimulatedNetwork* const network = simulation_->network()) {
      const auto& wires = network->wire_counts();
      report.counts["connection cut"] = wires.cuts;
      report.counts["connection half open"] = wires.half_opens;
      report.counts["bits flipped"] = wires.flips;
      report.counts["packets repeated"] = wires.repeats;
      // Each packet has a delay of its own.
      const bool is_jittery = world_.latency_max_ns > world_.latency_min_ns;
      report.counts["packets delayed"] = is_jittery ? wires.writes : 0;
    }
    if (asked_.trace) {
      ledger_.draw(trace_);
      report.seed.trace = trace_.to_json();
    }
    simulation_.reset();
    return report;
  }

 private:
  /// What was done to hosts and clocks.
  TesterDeeds deeds() const {
    // Whoever waits gets a turn behind all others: each step takes up to 2 us.
    constexpr std::uint64_t kSlackNs = 10'000'000;
    TesterDeeds deeds;
    deeds.late_ns = ledger_.faults.late_ns + kSlackNs;
    deeds.has_wrong_clocks = ledger_.faults.wrong_clocks > 0;
    deeds.first_fault_ns = history_.first_death_ns;
    deeds.faults_cause = {StatusCode::kHostLost, StatusCode::kActorLost};
    return deeds;
  }

  void begin() {
    for (std::uint32_t i = 1; i <= world_.clients; ++i) {
      ++clients_left_;
      simulation_->spawn("client " + std::to_string(i), [this, i] {
        AppClient(world_, i, *simulation_, stage_, verdict_).live();
        --clients_left_;
      });
    }
    tester_ = std::make_unique<HostTester>(
        *simulation_, world_.host_faults,
        HostTester::Hooks{[this] { return clients_left_ == 0; },
                          [this](const HostFault& fault) { note(fault); },
                          [this](const Status& status) {
                            verdict_.report(Breach::kCorrectness, "AP-1", status.to_string());
                          }});
    tester_->spawn();
  }

  void note(const HostFault& fault) {
    if (asked_.trace) {
      const std::uint64_t at_ns = simulation_->engine().now_ns();
      constexpr WorldTrace::Machine kHosts = 2;
      trace_.name_machine(kHosts + fault.host, "host " + std::to_string(fault.host));
      trace_.add_fault(kHosts + fault.host, fault.name(), at_ns, at_ns + fault.for_ns);
    }
    switch (fault.kind) {
      case HostFault::Kind::kKill:
        stage_.note_host_kill();
        break;
      case HostFault::Kind::kPause:
        ++ledger_.faults.pauses;
        ledger_.faults.late_ns += fault.for_ns;
        break;
      case HostFault::Kind::kClock:
        ++ledger_.faults.wrong_clocks;
        // Set forth and back again it stands still for so long.
        ledger_.faults.late_ns += 2 * kAheadMaxNs;
        break;
    }
  }

  /// After each step; false when there is a violation, so that the newest events led to it.
  bool look() {
    if (simulation_->engine().steps() % kMailboxLookEvery == 0) look_at_mailboxes();
    return verdict_.ok() && !is_cut();
  }
  bool is_cut() const { return is_cut_at(ledger_.events(), asked_); }
  void look_at_mailboxes() {
    app::Apps* const apps = simulation_->apps();
    if (!apps || !world_.has_tight) return;
    std::map<std::pair<MemberName, app::SiloId>, std::uint64_t> waiting;
    for (std::uint32_t host = 0; host < world_.hosts; ++host) {
      const app::Silo* const silo = apps->silo(app::silo_of_host(host));
      if (!silo) continue;
      silo->for_each_waiting([&](MemberName member, app::SiloId from, std::uint32_t max) {
        const std::uint64_t count = ++waiting[{member, from}];
        ledger_.fill(member, from, count, max);
      });
    }
  }

  const AppWorld world_;
  const SeedOptions& asked_;
  Verdict verdict_;
  internal::TypeTable types_;  // What hosts know by name.
  std::shared_ptr<SimulatedWorld> simulation_;
  std::unique_ptr<HostTester> tester_;
  WorldTrace trace_;
  AppLedger ledger_;
  History history_{[this] { return simulation_ ? simulation_->engine().now_ns() : 0; }};
  AppStage stage_;
  std::uint32_t clients_left_ = 0;
};

}  // namespace

std::string AppWorld::to_string() const {
  const auto flag = [](bool is, const char* name) { return is ? std::string(", ") + name : ""; };
  return std::to_string(hosts) + " hosts, " + std::to_string(clients) + " clients, " +
         std::to_string(actions) + " actions each, messages take " +
         std::to_string(latency_min_ns / 1000) + ".." + std::to_string(latency_max_ns / 1000) +
         " us" + flag(has_crashes, "crashes") + flag(has(HostFault::Kind::kKill), "hosts die") +
         flag(has_cancels, "cancels") + flag(has_deadlines, "short deadlines") +
         flag(has_tight, "small mailboxes") + flag(has(HostFault::Kind::kPause), "hosts pause") +
         flag(has(HostFault::Kind::kClock), "wrong clocks") + flag(faults.cut > 0, "cuts") +
         flag(faults.half_open > 0, "half-open connections") +
         flag(faults.flip > 0, "flipped bits") + flag(faults.repeat > 0, "repeated packets");
}

bool AppWorld::has(HostFault::Kind kind) const {
  return std::any_of(host_faults.begin(), host_faults.end(), [kind](const HostFault& fault) {
    return fault.kind == kind && !fault.is_left_out;
  });
}

std::vector<FaultLine> AppWorld::lines() const {
  std::vector<FaultLine> lines = lines_of(host_faults);
  for (FaultLine& line : lines_of(faults)) lines.push_back(std::move(line));
  if (has_crashes) lines.push_back({"crashes", "actor", "actors throw, and are killed"});
  return lines;
}

AppWorld make_app_world(std::uint64_t seed, bool is_wild) {
  RandomStream random(seed, kWorldStream);
  AppWorld world;
  world.seed = seed;
  world.hosts = static_cast<std::uint32_t>(1 + random.below(5));
  world.clients = static_cast<std::uint32_t>(1 + random.below(4));
  world.actions = static_cast<std::uint32_t>(3 + random.below(1 + random.below(40)));
  world.latency_min_ns = 100 + random.below(300'000);
  world.latency_max_ns = world.latency_min_ns + random.below(1 + random.below(40'000'000));
  world.pause_ns = random.below(1 + random.below(25'000'000));
  world.has_crashes = random.chance(60) || is_wild;
  const bool has_kills = world.hosts > 1 && (random.chance(60) || is_wild);
  world.has_cancels = random.chance(60);
  world.has_deadlines = random.chance(50);
  world.has_tight = random.chance(50);
  RandomStream machines(seed, kMachineStream);
  const bool has_pauses = machines.chance(40) || is_wild;
  const bool has_clocks = machines.chance(40) || is_wild;
  const auto add = [&world](std::vector<HostFault> faults) {
    world.host_faults.insert(world.host_faults.end(), faults.begin(), faults.end());
  };
  if (has_kills) add(draw_kills(seed, world.hosts));
  if (has_pauses) add(draw_pauses(seed, world.hosts));
  if (has_clocks) add(draw_clocks(seed, world.hosts));
  RandomStream wires(seed, kWireStream);
  if (wires.chance(50) || is_wild) {
    const auto draw = [&wires](std::uint64_t max) {
      return static_cast<std::uint32_t>(wires.below(1 + wires.below(max)));
    };
    world.faults = {draw(40), draw(20), draw(30), draw(80)};
  }
  return world;
}

AppSeedReport run_app_seed(std::uint64_t seed, const SeedOptions& options) {
  AppWorld world = make_app_world(seed, options.edits.is_wild);
  apply(options.edits, world);
  FaultPoints points(seed, options.edits.is_wild);
  apply(options.edits, points);
  AppSeedReport report = AppRun(world, options).run();
  report.seed.fault_points = points.counts();
  report.seed.faults = world.lines();
  append(report.seed.faults, points.lines());
  return report;
}

std::string app_story_so_far(std::size_t lines_max) {
  return running_ledger ? running_ledger->story(lines_max) : "";
}

}  // namespace seaway::sim
