// Drawing a world: most are small and tight, for there the orders differ most.

#include "sim/world.hpp"

#include <algorithm>

#include "base/random.hpp"

namespace seaway::sim {
namespace {

constexpr std::uint64_t kTopologyStream = 0x746f706f6c6f6779;
constexpr std::uint64_t kSpillStream = 0x7370696c6c6d656d;
constexpr std::uint64_t kAheadStream = 0x6168656164000000;

/// Programs that differ in nothing but their tenant, more of them than fit into the window.
void make_contest(World& world, RandomStream& random) {
  auto& cluster = world.cluster;
  cluster.islands = 1;
  cluster.device_memory = cluster.host_memory = std::uint64_t{1} << 30;
  // What is in flight when a contest begins, or when it is measured, blurs the shares.
  cluster.runs_in_flight = 4;
  cluster.runs_shared_in_flight = 2 + static_cast<std::uint32_t>(random.below(3));
  world.runs_in_flight_max = 16384;
  world.clients = 2;
  world.actions = 0;
  world.chain = 1 + static_cast<std::uint32_t>(random.below(4));
  world.is_memory_tight = world.has_failures = world.has_cancels = false;
  world.has_irregular = world.has_rebinds = false;
}

/// In a third of the worlds most of the spill room is in a file.
void draw_spill(World& world, std::uint64_t array_bytes, bool is_wild) {
  RandomStream random(world.seed, kSpillStream);
  if (!is_wild && !random.chance(33)) return;
  world.cluster.spill_memory = 64 + array_bytes * random.below(6);
  world.spill = make_spill_faults(world.seed, is_wild);
}

}  // namespace

World make_world(std::uint64_t seed, bool is_wild) {
  RandomStream random(seed, kTopologyStream);
  World world;
  world.seed = seed;
  auto& cluster = world.cluster;
  cluster.islands = 1 + static_cast<std::uint32_t>(random.below(3));
  cluster.devices = 1 + static_cast<std::uint32_t>(random.below(4));
  cluster.threads = 1;
  // Twelve devices that hang one after the other end before clients give a question up, after 30 s.
  cluster.gang_timeout_ns = 1'000'000'000;
  world.rows = 8;
  world.rows_large = random.chance(50) ? 8 : 64;
  // One large array is so many bytes when it is not split; a program of a few nodes needs several.
  const std::uint64_t large = static_cast<std::uint64_t>(world.rows_large * kColumns) * 4;
  world.is_memory_tight = random.chance(60);
  const std::uint64_t arrays = world.is_memory_tight ? 6 + random.below(12) : 4096;
  cluster.device_memory = large * arrays;
  cluster.host_memory = large * (world.is_memory_tight ? 8 + random.below(64) : 100'000);
  cluster.send_memory = large * (random.chance(50) ? random.below(8) : 4096);
  cluster.policy = random.chance(50) ? island::Policy::kFifo : island::Policy::kShares;
  if (random.chance(60)) cluster.links.latency_ns = 1 + random.below(200'000);
  if (random.chance(30)) cluster.links.bytes_per_second = 1'000'000 + random.below(1'000'000'000);
  if (random.chance(30)) {
    cluster.runs_in_flight = 1 + static_cast<std::uint32_t>(random.below(8));
    cluster.runs_shared_in_flight = std::min<std::uint32_t>(
        cluster.runs_in_flight, 1 + static_cast<std::uint32_t>(random.below(4)));
  }
  world.cost.kernel_factor = random.chance(50) ? 1 : static_cast<double>(random.below(100));
  world.cost.kernel_jitter_ns = 1 + random.below(random.chance(50) ? 1'000 : 100'000);
  world.cost.compile_ns = 1 + random.below(1'000'000);
  world.cost.inline_percent = random.chance(50) ? 0 : static_cast<unsigned>(random.below(101));
  world.step_ns_max = random.chance(50) ? 100 : 5'000;
  world.clients = 1 + static_cast<std::uint32_t>(random.below(3));
  world.actions = 4 + static_cast<std::uint32_t>(random.below(28));
  world.has_failures = random.chance(30);
  world.has_cancels = random.chance(30);
  world.has_irregular = random.chance(35);
  world.has_rebinds = random.chance(25);
  if (world.is_memory_tight) {
    world.upload_bytes_max = large * (1 + random.below(4));
    world.runs_in_flight_max = 1 + static_cast<std::uint32_t>(random.below(16));
  }
  world.is_contest = random.chance(3);
  for (std::uint32_t& weight : world.weights)
    weight = 1 + static_cast<std::uint32_t>(random.below(4));
  if (world.is_contest) {
    make_contest(world, random);
  } else {
    world.faults = make_device_faults(seed, cluster.islands, cluster.devices, is_wild);
    cluster.integrity = make_integrity(seed, world.faults);
    world.is_flooded = random.chance(6);
    draw_spill(world, large, is_wild);
    RandomStream ahead(seed, kAheadStream);
    if (ahead.chance(40)) world.cost.ahead_percent = 1 + static_cast<unsigned>(ahead.below(100));
    if (ahead.chance(40)) world.cost.kept_percent = 1 + static_cast<unsigned>(ahead.below(100));
  }
  if (world.is_flooded && random.chance(50)) {
    world.runs_in_flight_max = 1 + static_cast<std::uint32_t>(random.below(64));
  }
  return world;
}

std::string World::tenant_of(std::uint32_t client) { return "tenant" + std::to_string(client % 2); }

std::uint32_t World::weight_of(const std::string& tenant) const {
  for (std::uint32_t i = 0; i < weights.size(); ++i) {
    if (tenant_of(i) == tenant) return weights[i];
  }
  return 1;
}

std::string World::to_string() const {
  std::string text =
      std::to_string(cluster.islands) + " islands of " + std::to_string(cluster.devices) +
      " devices with " + std::to_string(cluster.device_memory) + " bytes, host room " +
      std::to_string(cluster.host_memory) + ", send room " + std::to_string(cluster.send_memory) +
      ", window " + std::to_string(cluster.runs_in_flight) + "/" +
      std::to_string(cluster.runs_shared_in_flight) + ", link " +
      std::to_string(cluster.links.latency_ns) + " ns, " + std::to_string(clients) + " clients, " +
      std::to_string(actions) + " actions each";
  text += cluster.policy == island::Policy::kFifo ? ", fifo" : ", shares";
  if (is_contest) text += ", contest of runs of " + std::to_string(chain) + " gangs";
  text += ", weights " + std::to_string(weights[0]) + ":" + std::to_string(weights[1]);
  if (has_failures) text += ", failures";
  if (has_cancels) text += ", cancels";
  if (has_irregular) text += ", irregular";
  if (has_rebinds) text += ", rebinds";
  if (is_flooded) text += ", flooded";
  if (has_sharers) text += ", actors that share arrays";
  if (has_hostile_client) text += ", a hostile client";
  if (cluster.integrity.shard_checksums) text += ", checksums";
  if (cluster.integrity.replay_per_mille > 0) {
    text += ", " + std::to_string(cluster.integrity.replay_per_mille) + " of 1000 gangs twice";
  }
  if (cluster.hosts > 1) text += ", " + std::to_string(cluster.hosts) + " hosts each";
  if (cluster.spill_memory > 0) {
    text += ", " + std::to_string(cluster.spill_memory) + " bytes of host room in memory" +
            sim::to_string(spill.lines());
  }
  return text + faults.to_string();
}

}  // namespace seaway::sim
