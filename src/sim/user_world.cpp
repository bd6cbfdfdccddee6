// Drawing a world of a user's from its seed, and running it.

#include "sim/user_world.hpp"

#include <deque>
#include <memory>
#include <utility>

#include "base/random.hpp"
#include "seaway/app/task.hpp"
#include "sim/process_faults.hpp"
#include "sim/simulation.hpp"

namespace seaway::sim {
namespace {

constexpr std::uint64_t kSwarmStream = 0x757365727377726d;
constexpr std::uint64_t kDeathStream = 0x7573657264656164;
constexpr std::uint64_t kWireStream = 0x7573657277697265;
constexpr std::size_t kEvents = 1 << 16;
constexpr unsigned kSwarmPercent = 50;

/// All kinds of faults spread over so many ns, as they were drawn over that many.
template <class Fault>
void scale(std::vector<Fault>& faults, std::uint64_t fault_ns) {
  constexpr std::uint64_t kDrawnNs = std::uint64_t{1} << 27;
  for (Fault& fault : faults) {
    auto& at_ns = [&fault]() -> std::uint64_t& {
      if constexpr (requires { fault.begin_ns; }) {
        return fault.begin_ns;
      } else {
        return fault.at_ns;
      }
    }();
    const auto moved = static_cast<std::uint64_t>(static_cast<double>(at_ns) / kDrawnNs *
                                                  static_cast<double>(fault_ns));
    if constexpr (requires { fault.end_ns; }) fault.end_ns = fault.end_ns - at_ns + moved;
    at_ns = moved;
  }
}

class UserRun final : public Explored {
 public:
  UserRun(const UserWorld& world, const SeedOptions& asked) : world_(world), asked_(asked) {}

  SeedReport run(const UserBody& body, const UserChecks& checks) {
    SimulationTuning tuning;
    tuning.choices_max = world_.choices;
    tuning.faults = world_.wires;
    tuning.device_faults = world_.device_faults;
    tuning.limits.restart_pause_ns = 1'000'000;
    tuning.on_heal = [this] { is_healed_ = true; };
    tuning.on_broken = [this](const std::string& invariant, const std::string& text,
                              const std::source_location& at) {
      verdict_.report(Breach::kCorrectness, invariant, text, at);
    };
    tuning.after_step = [this] { return goes_on(); };
    simulation_ =
        std::make_shared<SimulatedWorld>(world_.simulation, world_.cluster, std::move(tuning));
    simulation_->events().add_observer(recorder_);
    set_running(&simulation_->events().ring());
    HostTester tester(*simulation_, world_.host_faults,
                      {[this] { return is_healed_; }, [](const HostFault&) {},
                       [this](const Status& status) {
                         verdict_.report(Breach::kCorrectness, "setup", status.to_string());
                       }});
    const SimulationReport simulated = simulation_->run([&](Simulation& simulation) {
      tester.spawn();
      body(simulation);
      is_healed_ = true;
    });
    SeedReport report;
    report.is_cut = is_cut();
    if (verdict_.ok() && !is_cut() && !simulated.status.ok()) note_end(simulated.status);
    if (verdict_.ok() && !is_cut() && checks) look(checks);
    fill(simulated, report);
    set_running(nullptr);
    return report;
  }

  // Explored.
  std::uint64_t seed() const override { return world_.seed; }
  const std::vector<std::string>& faults() const override { return faults_; }
  std::span<const WorldEvent> events() const override { return events_; }
  void expect(bool holds, std::string_view invariant, std::string_view text,
              const std::source_location& at) override {
    if (holds) return;
    verdict_.report(Breach::kCorrectness, std::string(invariant), std::string(text), at);
  }

 private:
  struct Recorder final : events::EventSink {
    void record(const events::Event& event) override {
      if (kept.size() == kEvents) kept.pop_front();
      kept.push_back(event);
    }
    std::deque<events::Event> kept;
  };

  /// Who waits for what is there to be asked only as long as the world runs.
  bool goes_on() {
    if (verdict_.ok() && !is_cut()) return true;
    waiting_ = simulation_->why();
    return false;
  }
  bool is_cut() const { return simulation_ && is_cut_at(simulation_->event_count(), asked_); }

  void note_end(const Status& status) {
    switch (status.code()) {
      case StatusCode::kDeadlineExceeded:
        return verdict_.report(Breach::kLiveness, "hang", status.message());
      case StatusCode::kDataCorruption:
        return verdict_.report(Breach::kCorrectness, "left over", status.message());
      default:
        return verdict_.report(Breach::kCorrectness, "exception", status.to_string());
    }
  }

  void look(const UserChecks& checks) {
    for (const FaultLine& line : world_.lines()) faults_.push_back(line.text);
    for (const events::Event& event : recorder_.kept) {
      events_.push_back({std::chrono::nanoseconds(static_cast<std::int64_t>(event.time_ns)),
                         events::to_string(event.kind), event.stamp, event.object, event.value,
                         event.position, event.place, event.island, event.code});
    }
    try {
      checks(*this);
    } catch (...) {
      const Status status = internal::status_of_user_exception();
      verdict_.report(Breach::kCorrectness, "exception", "the checks: " + status.message());
    }
  }

  void fill(const SimulationReport& simulated, SeedReport& report) {
    report.seed = world_.seed;
    report.kind = WorldKind::kUser;
    report.steps = simulated.steps;
    report.virtual_ns = static_cast<std::uint64_t>(simulated.virtual_time.count());
    report.hash = simulated.hash;
    report.events = simulation_->event_count();
    report.faults = world_.lines();
    report.islands = world_.cluster.islands;
    report.devices = world_.cluster.devices;
    report.world = world_.simulation.cluster + to_string(report.faults);
    report.policy = actor::to_string(simulation_->engine().policy());
    report.breach = verdict_.breach();
    report.violations = verdict_.violations();
    if (asked_.keep_events || !verdict_.ok()) {
      report.last_events = simulation_->events().ring().snapshot();
    }
    report.waiting = waiting_;
  }

  const UserWorld& world_;
  const SeedOptions& asked_;
  Verdict verdict_;
  Recorder recorder_;
  std::vector<std::string> faults_;
  std::vector<WorldEvent> events_;
  bool is_healed_ = false;
  std::string waiting_;
  std::shared_ptr<SimulatedWorld> simulation_;
};

SeedReport refused(std::uint64_t seed, const Status& status) {
  SeedReport report;
  report.seed = seed;
  report.kind = WorldKind::kUser;
  report.breach = Breach::kCorrectness;
  report.violations.push_back({Breach::kCorrectness, "setup", status.message()});
  return report;
}

}  // namespace

std::vector<FaultLine> UserWorld::lines() const {
  std::vector<FaultLine> lines = lines_of(host_faults);
  append(lines, lines_of(wires));
  append(lines, device_faults.lines());
  return lines;
}

Result<UserWorld> make_user_world(std::uint64_t seed, const ExploreWorld& world, bool is_wild) {
  auto cluster = cluster::parse_embedded(world.cluster);
  if (!cluster.ok()) return cluster.status();
  if (world.latency_min.count() < 0 || world.latency_max < world.latency_min ||
      world.fault_time.count() < 0) {
    return invalid_argument("latency_min is " + std::to_string(world.latency_min.count()) +
                            " ns, latency_max " + std::to_string(world.latency_max.count()) +
                            " ns and fault_time " + std::to_string(world.fault_time.count()) +
                            " ns; 0 <= latency_min <= latency_max, 0 <= fault_time");
  }
  UserWorld drawn;
  drawn.seed = seed;
  drawn.cluster = *std::move(cluster);
  drawn.simulation = {.cluster = world.cluster,
                      .seed = seed,
                      .latency_min = world.latency_min,
                      .latency_max = world.latency_max,
                      .steps_max = world.steps_max};
  const std::uint32_t hosts = drawn.cluster.islands * drawn.cluster.hosts;
  const auto fault_ns = static_cast<std::uint64_t>(world.fault_time.count());
  RandomStream swarm(seed, kSwarmStream);
  const auto has = [&swarm, is_wild](bool is_allowed) {
    const bool is_drawn = swarm.chance(kSwarmPercent);  // Always, so that all others stay.
    return is_allowed && (is_drawn || is_wild);
  };
  const auto add = [&drawn, fault_ns](std::vector<HostFault> faults) {
    const std::uint64_t last_ns = faults.back().at_ns;
    for (HostFault& fault : faults) {
      if (last_ns > fault_ns) {
        fault.at_ns = static_cast<std::uint64_t>(static_cast<double>(fault.at_ns) /
                                                 static_cast<double>(last_ns) *
                                                 static_cast<double>(fault_ns));
      }
      drawn.host_faults.push_back(fault);
    }
  };
  if (has(world.faults.kills) && hosts > 1) {
    std::vector<HostFault> kills = draw_kills(seed, hosts);
    RandomStream deaths(seed, kDeathStream);
    std::uint64_t dead_ns = 0;
    for (HostFault& kill : kills) {
      kill.for_ns = 1 + deaths.below(std::uint64_t{1} << deaths.between(16, 26));
      kill.at_ns += dead_ns;
      dead_ns += kill.for_ns;
    }
    add(std::move(kills));
  }
  if (has(world.faults.pauses)) add(draw_pauses(seed, hosts));
  if (has(world.faults.clocks)) add(draw_clocks(seed, hosts));
  if (has(world.faults.wires)) {
    RandomStream wires(seed, kWireStream);
    const auto draw = [&wires](std::uint64_t max) {
      return static_cast<std::uint32_t>(wires.below(1 + wires.below(max)));
    };
    drawn.wires = {draw(40), draw(20), draw(30), draw(80)};
  }
  if (has(world.faults.devices)) {
    DeviceFaults& faults = drawn.device_faults;
    faults = make_device_faults(seed, drawn.cluster.islands, drawn.cluster.devices, true);
    // Values that are wrong are for worlds whose options say how they are found.
    faults.flips.clear();
    faults.rots.clear();
    scale(faults.losses, fault_ns);
    scale(faults.slow, fault_ns);
    scale(faults.hangs, fault_ns);
    scale(faults.stutters, fault_ns);
    scale(faults.shortages, fault_ns);
  }
  return drawn;
}

SeedReport run_user_seed(std::uint64_t seed, const ExploreWorld& world, const UserBody& body,
                         const UserChecks& checks, const SeedOptions& options) {
  auto drawn = make_user_world(seed, world, options.edits.is_wild);
  if (!drawn.ok()) return refused(seed, drawn.status());
  apply(options.edits, *drawn);
  return UserRun(*drawn, options).run(body, checks);
}

}  // namespace seaway::sim
