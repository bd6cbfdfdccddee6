// Drawing the faults of processes and of the links between them.

#include "sim/process_faults.hpp"

#include <algorithm>
#include <utility>

#include "base/random.hpp"

namespace seaway::sim {
namespace {

using actor::Role;
using cluster::RoleName;
using Kind = ProcessFault::Kind;

constexpr std::uint64_t kSwarmStream = 0x737761726d000000;
constexpr std::uint64_t kFaultStream = 0x70726f6366617500;
constexpr std::uint64_t kDrainStream = 0x647261696e000000;
constexpr std::uint64_t kWireStream = 0x7769726573000000;
constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint64_t kFaultsMax = 6, kDrainsMax = 4;
constexpr std::size_t kDrawnKinds = 10;  // Drains are drawn apart.

/// Up to 1 s, early ones as often as late ones: most of it while clients work.
std::uint64_t random_time(RandomStream& random) {
  return random.below(std::uint64_t{1} << random.between(19, 30));
}

/// Some last for about as long as silence is borne.
std::uint64_t random_duration(RandomStream& random) {
  if (random.chance(30)) return 700 * kMs + random.below(1'500 * kMs);
  return random.below(std::uint64_t{1} << random.between(16, 30));
}

RoleName random_role(RandomStream& random, std::uint32_t islands, std::uint32_t clients) {
  const auto island = static_cast<std::uint32_t>(random.below(islands));
  const std::uint64_t choice = random.below(100);
  if (choice < 15) return {Role::kController, 0};
  if (choice < 50) return {Role::kHost, island};
  if (choice < 80) return {Role::kIsland, island};
  return {Role::kClient, 1 + static_cast<std::uint32_t>(random.below(clients))};
}

ProcessFault random_fault(RandomStream& random, Kind kind, std::uint32_t islands,
                          std::uint32_t clients) {
  ProcessFault fault;
  fault.kind = kind;
  fault.target = random_role(random, islands, clients);
  fault.other = random_role(random, islands, clients);
  fault.duration_ns = 1 + random_duration(random);
  if (kind == Kind::kKillMachine) {
    fault.target = {Role::kHost, static_cast<std::uint32_t>(random.below(islands))};
  }
  if (kind == Kind::kCrashLoop) {
    const Role role = random.chance(50) ? Role::kHost : Role::kIsland;
    fault.target = {role, static_cast<std::uint32_t>(random.below(islands))};
    fault.amount = random.between(20, 200) * 1'000'000;
    fault.duration_ns = static_cast<std::uint64_t>(fault.amount) * (2 + random.below(6));
  }
  if (kind == Kind::kClockJump) fault.amount = random.between(-3'000, 3'000) * 1'000'000;
  if (kind == Kind::kClockRate) fault.amount = random.between(-50'000, 50'000);
  return fault;
}

/// Any of the hosts of the island.
void choose_host(RandomStream& random, std::uint32_t hosts, ProcessFault& fault) {
  if (hosts == 1) return;
  for (RoleName* const name : {&fault.target, &fault.other}) {
    const auto host = static_cast<std::uint32_t>(random.below(hosts));
    if (name->role == Role::kHost && host > 0) {
      *name = {Role::kAnnex, actor::annex_of(name->index, host)};
    }
  }
}

/// One island after the other, so that there is always another one to go to.
void add_drains(std::uint64_t seed, std::uint32_t islands, bool is_wild,
                std::vector<ProcessFault>& faults) {
  RandomStream random(seed, kDrainStream);
  if (islands == 1 || !(random.chance(20) || is_wild)) return;
  std::uint64_t at_ns = 0;
  for (std::uint64_t left = 1 + random.below(kDrainsMax); left > 0; --left) {
    ProcessFault drain;
    drain.kind = Kind::kDrain;
    drain.target = {Role::kHost, static_cast<std::uint32_t>(random.below(islands))};
    drain.at_ns = at_ns + 1 + random_time(random) / 4;
    drain.duration_ns = 1 + random_duration(random) / 4;
    drain.number = static_cast<std::uint32_t>(kFaultsMax + left);
    at_ns = drain.at_ns + drain.duration_ns;
    faults.push_back(drain);
  }
}

/// Most worlds have whole wires: what breaks all the time hides what breaks once.
transport::WireOptions random_wires(std::uint64_t seed, bool is_wild) {
  RandomStream random(seed, kWireStream);
  transport::WireOptions wires;
  wires.seed = seed;
  wires.latency_min_ns = 1 + random.below(50'000);
  wires.latency_max_ns =
      wires.latency_min_ns + random.below(random.chance(80) ? 200'000 : 5'000'000);
  if (random.chance(20)) wires.bytes_per_second = 1'000'000 + random.below(1'000'000'000);
  wires.keepalive_ns = 20 * kMs;
  if (random.chance(25) || is_wild)
    wires.faults.cut = 1 + static_cast<std::uint32_t>(random.below(20));
  if (random.chance(25) || is_wild)
    wires.faults.half_open = 1 + static_cast<std::uint32_t>(random.below(20));
  if (random.chance(25) || is_wild)
    wires.faults.flip = 1 + static_cast<std::uint32_t>(random.below(20));
  if (random.chance(25) || is_wild)
    wires.faults.repeat = 1 + static_cast<std::uint32_t>(random.below(50));
  return wires;
}

}  // namespace

std::string_view to_string(Kind kind) {
  switch (kind) {
    case Kind::kKill:
      return "kill of";
    case Kind::kKillMachine:
      return "kill of the machine of";
    case Kind::kPause:
      return "pause of";
    case Kind::kIsolate:
      return "isolation of";
    case Kind::kDeafen:
      return "nothing gets to";
    case Kind::kMute:
      return "nothing gets from";
    case Kind::kCutPair:
      return "cut between";
    case Kind::kClockJump:
      return "clock moved at";
    case Kind::kClockRate:
      return "clock rate of";
    case Kind::kCrashLoop:
      return "crash loop of";
    case Kind::kDrain:
      return "drain of the island of";
  }
  return "unknown";
}

namespace {

/// The beginning of the name, and the family.
std::pair<const char*, const char*> names_of(Kind kind) {
  switch (kind) {
    case Kind::kKill:
      return {"kill", "kill"};
    case Kind::kKillMachine:
      return {"machine", "kill"};
    case Kind::kPause:
      return {"pause", "pause"};
    case Kind::kIsolate:
      return {"isolate", "partition"};
    case Kind::kDeafen:
      return {"deafen", "partition"};
    case Kind::kMute:
      return {"mute", "partition"};
    case Kind::kCutPair:
      return {"cut-pair", "partition"};
    case Kind::kClockJump:
      return {"clock-jump", "clock"};
    case Kind::kClockRate:
      return {"clock-rate", "clock"};
    case Kind::kCrashLoop:
      return {"crash-loop", "kill"};
    case Kind::kDrain:
      return {"drain", "drain"};
  }
  return {"unknown", "unknown"};
}

}  // namespace

std::string ProcessFault::name() const {
  return std::string(names_of(kind).first) + "#" + std::to_string(number);
}

std::vector<FaultLine> lines_of(const transport::WireFaults& faults) {
  std::vector<FaultLine> lines;
  const auto add = [&lines](const char* name, const char* done, std::uint32_t per_mille) {
    if (per_mille == 0) return;
    lines.push_back({std::string("wire ") + name, "wire",
                     std::to_string(per_mille) + " of 1000 writes " + done, 0, 0});
  };
  add("cut", "cut", faults.cut);
  add("half-open", "half open", faults.half_open);
  add("flip", "flipped", faults.flip);
  add("repeat", "repeated", faults.repeat);
  return lines;
}

std::vector<FaultLine> ProcessFaults::lines() const {
  std::vector<FaultLine> lines;
  for (const ProcessFault& fault : faults) {
    std::string text =
        std::string(sim::to_string(fault.kind)) + " " + cluster::to_string(fault.target);
    if (fault.kind == Kind::kCutPair) text += " and " + cluster::to_string(fault.other);
    if (fault.amount != 0) text += " by " + std::to_string(fault.amount);
    text += " at " + std::to_string(fault.at_ns) + " ns for " + std::to_string(fault.duration_ns);
    lines.push_back({fault.name(), names_of(fault.kind).second, std::move(text), fault.at_ns,
                     fault.duration_ns});
  }
  for (FaultLine& line : lines_of(wires.faults)) lines.push_back(std::move(line));
  return lines;
}

std::string ProcessFaults::to_string() const {
  return ", wires of " + std::to_string(wires.latency_min_ns) + " to " +
         std::to_string(wires.latency_max_ns) + " ns" + sim::to_string(lines());
}

void ProcessFaults::set_end() {
  end_ns = 0;
  for (const ProcessFault& fault : faults) {
    end_ns = std::max(end_ns, fault.at_ns + fault.duration_ns);
  }
}

ProcessFaults make_process_faults(std::uint64_t seed, const cluster::Shape& shape,
                                  std::uint32_t clients, bool is_wild) {
  const std::uint32_t islands = shape.islands;
  ProcessFaults made;
  made.wires = random_wires(seed, is_wild);
  RandomStream swarm(seed, kSwarmStream);
  std::vector<Kind> kinds;
  for (std::size_t kind = 0; kind < kDrawnKinds; ++kind) {
    if (swarm.chance(40) || is_wild) kinds.push_back(static_cast<Kind>(kind));
  }
  const std::uint64_t drawn = swarm.chance(10) ? 0 : 1 + swarm.below(kFaultsMax);
  const std::uint64_t count = is_wild ? kFaultsMax : drawn;
  std::uint64_t before_ns = 0;
  for (std::uint64_t number = 0; number < count && !kinds.empty(); ++number) {
    RandomStream random(seed, kFaultStream + number);
    ProcessFault fault = random_fault(random, kinds[random.below(kinds.size())], islands, clients);
    fault.at_ns = 1 + random_time(random);
    // While what came before is being found out, or recovered from.
    if (number > 0 && random.chance(35)) fault.at_ns = before_ns + random.below(2'000 * kMs);
    before_ns = fault.at_ns;
    fault.number = static_cast<std::uint32_t>(number);
    if (fault.kind != Kind::kKillMachine) choose_host(random, shape.hosts, fault);
    made.faults.push_back(fault);
  }
  add_drains(seed, islands, is_wild, made.faults);
  made.set_end();
  std::stable_sort(made.faults.begin(), made.faults.end(),
                   [](const auto& a, const auto& b) { return a.at_ns < b.at_ns; });
  return made;
}

}  // namespace seaway::sim
