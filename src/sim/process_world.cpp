// What a seed draws of a world whose roles are processes.

#include "base/random.hpp"
#include "sim/process_run.hpp"

namespace seaway::sim {
namespace {

constexpr std::uint64_t kHostsStream = 0x686f737473000000;
constexpr std::uint64_t kCopiesStream = 0x636f706965730000;
constexpr std::uint64_t kSharersStream = 0x7368617265727300;
constexpr std::uint64_t kHostileStream = 0x686f7374696c6531;

/// In some worlds copies take long: much may happen to who reads what another host lends him.
void draw_copies(World& world) {
  RandomStream random(world.seed, kCopiesStream);
  if (random.chance(25)) world.cost.copy_ns = 500'000 + random.below(6'000'000);
}

/// In some worlds an island has several hosts. These look for no errors of devices, and have none.
void draw_hosts(World& world) {
  RandomStream random(world.seed, kHostsStream);
  if (!random.chance(12)) return;
  world.cluster.hosts = 2 + static_cast<std::uint32_t>(random.below(2));
  world.cluster.devices = world.cluster.hosts * (1 + static_cast<std::uint32_t>(random.below(2)));
  // Values of a few bytes go in all the ways that large ones do.
  constexpr std::uint64_t kPacked[] = {0, 16, 64, 4096};
  world.cluster.exchange.packed_bytes_max = kPacked[random.below(std::size(kPacked))];
  world.cluster.exchange.block_bytes = std::uint64_t{16} << random.below(8);
  constexpr std::uint64_t kAlgorithms = static_cast<std::uint64_t>(collective::kLastAlgorithm) + 1;
  if (random.below(3) > 0) {
    world.cluster.exchange.algorithm =
        static_cast<collective::Algorithm>(random.below(kAlgorithms));
  }
  world.cluster.integrity = {};
  world.faults = {};
  world.spill = {.delay_max_ns = world.spill.delay_max_ns};
  world.cost.in_stages = true;
}

/// In some worlds clients have actors that share arrays, and do nothing else. Memory is no concern
/// there, and devices are as they should be.
void draw_sharers(World& world) {
  RandomStream random(world.seed, kSharersStream);
  if (!random.chance(10)) return;
  world.has_sharers = true;
  world.is_memory_tight = world.is_flooded = false;
  world.cluster.device_memory = world.cluster.host_memory = std::uint64_t{1} << 26;
  world.cluster.spill_memory = 0;
  world.upload_bytes_max = std::uint64_t{1} << 30;
  world.runs_in_flight_max = 16384;
  world.cluster.integrity = {};
  world.faults = {};
}

}  // namespace

World make_process_world(std::uint64_t seed, bool is_wild) {
  World world = make_world(seed, is_wild);
  for (std::uint64_t other = seed; world.is_contest;) {
    world = make_world(other = mix64(other), is_wild);
  }
  world.seed = seed;
  world.has_processes = true;
  draw_hosts(world);
  draw_copies(world);
  draw_sharers(world);
  world.has_hostile_client = RandomStream(seed, kHostileStream).chance(25);
  return world;
}

}  // namespace seaway::sim
