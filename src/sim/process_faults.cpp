// Drawing the faults of processes and of the links between them.

#include "sim/process_faults.hpp"

#include <algorithm>

#include "base/random.hpp"

namespace seaway::sim {
namespace {

using cluster::RoleName;
using Kind = ProcessFault::Kind;

constexpr std::uint64_t kSwarmStream = 0x737761726d000000;
constexpr std::uint64_t kFaultStream = 0x70726f6366617500;
constexpr std::uint64_t kWireStream = 0x7769726573000000;
constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint64_t kFaultsMax = 6;

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
  if (choice < 15) return {actor::Role::kController, 0};
  if (choice < 50) return {actor::Role::kHost, island};
  if (choice < 80) return {actor::Role::kIsland, island};
  return {actor::Role::kClient, 1 + static_cast<std::uint32_t>(random.below(clients))};
}

ProcessFault random_fault(RandomStream& random, Kind kind, std::uint32_t islands,
                          std::uint32_t clients) {
  ProcessFault fault;
  fault.kind = kind;
  fault.target = random_role(random, islands, clients);
  fault.other = random_role(random, islands, clients);
  fault.duration_ns = 1 + random_duration(random);
  if (kind == Kind::kKillMachine) {
    fault.target = {actor::Role::kHost, static_cast<std::uint32_t>(random.below(islands))};
  }
  if (kind == Kind::kClockJump) fault.amount = random.between(-3'000, 3'000) * 1'000'000;
  if (kind == Kind::kClockRate) fault.amount = random.between(-50'000, 50'000);
  return fault;
}

/// Most worlds have whole wires: what breaks all the time hides what breaks once.
transport::WireOptions random_wires(std::uint64_t seed) {
  RandomStream random(seed, kWireStream);
  transport::WireOptions wires;
  wires.seed = seed;
  wires.latency_min_ns = 1 + random.below(50'000);
  wires.latency_max_ns =
      wires.latency_min_ns + random.below(random.chance(80) ? 200'000 : 5'000'000);
  if (random.chance(20)) wires.bytes_per_second = 1'000'000 + random.below(1'000'000'000);
  wires.keepalive_ns = 20 * kMs;
  if (random.chance(25)) wires.faults.cut = 1 + static_cast<std::uint32_t>(random.below(20));
  if (random.chance(25)) wires.faults.half_open = 1 + static_cast<std::uint32_t>(random.below(20));
  if (random.chance(25)) wires.faults.flip = 1 + static_cast<std::uint32_t>(random.below(20));
  if (random.chance(25)) wires.faults.repeat = 1 + static_cast<std::uint32_t>(random.below(50));
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
  }
  return "unknown";
}

std::string ProcessFaults::to_string() const {
  std::string text;
  for (const ProcessFault& fault : faults) {
    text += ", " + std::string(sim::to_string(fault.kind)) + " " + cluster::to_string(fault.target);
    if (fault.kind == Kind::kCutPair) text += " and " + cluster::to_string(fault.other);
    if (fault.amount != 0) text += " by " + std::to_string(fault.amount);
    text += " at " + std::to_string(fault.at_ns) + " ns for " + std::to_string(fault.duration_ns);
  }
  const transport::WireFaults& broken = wires.faults;
  text += ", wires of " + std::to_string(wires.latency_min_ns) + " to " +
          std::to_string(wires.latency_max_ns) + " ns";
  const auto add = [&text](const char* name, std::uint32_t per_mille) {
    if (per_mille > 0) text += ", " + std::to_string(per_mille) + " of 1000 " + name;
  };
  add("cut", broken.cut);
  add("half open", broken.half_open);
  add("flipped", broken.flip);
  add("repeated", broken.repeat);
  return text;
}

ProcessFaults make_process_faults(std::uint64_t seed, std::uint32_t islands,
                                  std::uint32_t clients) {
  ProcessFaults made;
  made.wires = random_wires(seed);
  RandomStream swarm(seed, kSwarmStream);
  std::vector<Kind> kinds;
  for (std::size_t kind = 0; kind < kProcessFaultKinds; ++kind) {
    if (swarm.chance(40)) kinds.push_back(static_cast<Kind>(kind));
  }
  const std::uint64_t count = swarm.chance(10) ? 0 : 1 + swarm.below(kFaultsMax);
  std::uint64_t before_ns = 0;
  for (std::uint64_t number = 0; number < count && !kinds.empty(); ++number) {
    RandomStream random(seed, kFaultStream + number);
    ProcessFault fault = random_fault(random, kinds[random.below(kinds.size())], islands, clients);
    fault.at_ns = 1 + random_time(random);
    // While what came before is being found out, or recovered from.
    if (number > 0 && random.chance(35)) fault.at_ns = before_ns + random.below(2'000 * kMs);
    before_ns = fault.at_ns;
    made.end_ns = std::max(made.end_ns, fault.at_ns + fault.duration_ns);
    made.faults.push_back(fault);
  }
  std::stable_sort(made.faults.begin(), made.faults.end(),
                   [](const auto& a, const auto& b) { return a.at_ns < b.at_ns; });
  return made;
}

}  // namespace seaway::sim
