// Drawing a world of actors from its seed, and running it.

#include "sim/app_world.hpp"

#include <memory>
#include <utility>

#include "sim/app_client.hpp"

namespace seaway::sim {
namespace {

constexpr std::uint64_t kWorldStream = 0x617070776f726c64;
constexpr std::uint64_t kWireStream = 0x7769726573000000;
constexpr std::uint64_t kMonkeyStream = 0x6d6f6e6b65790000;
constexpr std::uint64_t kMailboxLookEvery = 16;  // Steps.
constexpr std::size_t kStoryLines = 40;

/// Only for the report of a crash.
const AppLedger* running_ledger = nullptr;

/// One world while it runs.
class AppRun {
 public:
  explicit AppRun(const AppWorld& world)
      : world_(world),
        ledger_(verdict_, [this] { return simulation_ ? simulation_->engine().now_ns() : 0; }),
        stage_{ledger_, world.hosts, [this](std::function<void()> work) {
                 simulation_->engine().post(std::move(work));
               }} {
    running_ledger = &ledger_;
  }
  ~AppRun() { running_ledger = nullptr; }

  AppSeedReport run(bool keeps_story) {
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
    tuning.after_step = [this] { return look(); };
    simulation_ = std::make_shared<SimulatedWorld>(options, cluster, std::move(tuning));
    const SimulationReport simulated = simulation_->run([this](Simulation&) { begin(); });
    AppSeedReport report;
    if (verdict_.ok() && !simulated.status.ok()) {
      const bool is_hang = simulated.status.code() == StatusCode::kDeadlineExceeded;
      verdict_.report(is_hang ? Breach::kLiveness : Breach::kCorrectness, is_hang ? "AP-1" : "AP-6",
                      simulated.status.to_string());
    }
    if (verdict_.ok()) ledger_.finish();
    report.seed.seed = world_.seed;
    report.seed.is_of_apps = true;
    report.seed.steps = simulated.steps;
    report.seed.virtual_ns = static_cast<std::uint64_t>(simulated.virtual_time.count());
    report.seed.hash = mix64(simulated.hash ^ ledger_.hash());
    report.seed.events = simulation_->network() ? simulation_->network()->counts().batches : 0;
    report.seed.world = world_.to_string();
    report.seed.policy = actor::to_string(simulation_->engine().policy());
    report.seed.counts = verdict_.counts;
    report.seed.breach = verdict_.breach();
    report.seed.violations = verdict_.violations();
    if (keeps_story || !verdict_.ok()) report.seed.story = ledger_.story(kStoryLines);
    report.counts = ledger_.counts();
    report.counts["host killed"] = ledger_.faults.host_kills;
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
    simulation_.reset();
    return report;
  }

 private:
  void begin() {
    for (std::uint32_t i = 1; i <= world_.clients; ++i) {
      ++clients_left_;
      simulation_->spawn("client " + std::to_string(i), [this, i] {
        AppClient(world_, i, *simulation_, stage_, verdict_).live();
        --clients_left_;
      });
    }
    if (world_.has_host_kills) simulation_->spawn("monkey", [this] { be_monkey(); });
  }

  /// Kills hosts, and has them return, for as long as there is somebody to hear of it.
  void be_monkey() {
    RandomStream random(world_.seed, kMonkeyStream);
    const std::uint64_t rounds = 1 + random.below(6);
    for (std::uint64_t i = 0; i < rounds && clients_left_ > 0; ++i) {
      simulation_->sleep(std::chrono::nanoseconds(random.below(4'000'000)));
      const auto host = static_cast<std::uint32_t>(random.below(world_.hosts));
      std::uint32_t alive = 0;
      for (std::uint32_t h = 0; h < world_.hosts; ++h) alive += simulation_->is_alive(h) ? 1 : 0;
      if (!simulation_->is_alive(host)) {
        expect_ok(simulation_->restart_host(host));
      } else if (alive > 1) {
        ++ledger_.faults.host_kills;
        expect_ok(simulation_->kill_host(host));
      }
    }
  }
  void expect_ok(const Status& status) {
    if (!status.ok()) verdict_.report(Breach::kCorrectness, "AP-1", status.to_string());
  }

  /// After each step; false when there is a violation, so that the newest events led to it.
  bool look() {
    if (simulation_->engine().steps() % kMailboxLookEvery == 0) look_at_mailboxes();
    return verdict_.ok();
  }
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
  Verdict verdict_;
  std::shared_ptr<SimulatedWorld> simulation_;
  AppLedger ledger_;
  AppStage stage_;
  std::uint32_t clients_left_ = 0;
};

}  // namespace

std::string AppWorld::to_string() const {
  const auto flag = [](bool is, const char* name) { return is ? std::string(", ") + name : ""; };
  return std::to_string(hosts) + " hosts, " + std::to_string(clients) + " clients, " +
         std::to_string(actions) + " actions each, messages take " +
         std::to_string(latency_min_ns / 1000) + ".." + std::to_string(latency_max_ns / 1000) +
         " us" + flag(has_crashes, "crashes") + flag(has_host_kills, "hosts die") +
         flag(has_cancels, "cancels") + flag(has_deadlines, "short deadlines") +
         flag(has_tight, "small mailboxes") + flag(faults.cut > 0, "cuts") +
         flag(faults.half_open > 0, "half-open connections") +
         flag(faults.flip > 0, "flipped bits") + flag(faults.repeat > 0, "repeated packets");
}

AppWorld make_app_world(std::uint64_t seed) {
  RandomStream random(seed, kWorldStream);
  AppWorld world;
  world.seed = seed;
  world.hosts = static_cast<std::uint32_t>(1 + random.below(5));
  world.clients = static_cast<std::uint32_t>(1 + random.below(4));
  world.actions = static_cast<std::uint32_t>(3 + random.below(1 + random.below(40)));
  world.latency_min_ns = 100 + random.below(20'000);
  world.latency_max_ns = world.latency_min_ns + random.below(1 + random.below(3'000'000));
  world.pause_ns = random.below(1 + random.below(2'000'000));
  world.has_crashes = random.chance(60);
  world.has_host_kills = world.hosts > 1 && random.chance(60);
  world.has_cancels = random.chance(60);
  world.has_deadlines = random.chance(50);
  world.has_tight = random.chance(50);
  RandomStream wires(seed, kWireStream);
  if (wires.chance(50)) {
    const auto draw = [&wires](std::uint64_t max) {
      return static_cast<std::uint32_t>(wires.below(1 + wires.below(max)));
    };
    world.faults = {draw(40), draw(20), draw(30), draw(80)};
  }
  return world;
}

AppSeedReport run_app_seed(std::uint64_t seed, bool keeps_story) {
  return AppRun(make_app_world(seed)).run(keeps_story);
}

std::string app_story_so_far(std::size_t lines_max) {
  return running_ledger ? running_ledger->story(lines_max) : "";
}

}  // namespace seaway::sim
