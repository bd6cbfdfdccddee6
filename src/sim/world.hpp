// World: the cluster and the habits of its clients, drawn from one seed.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cluster/embedded.hpp"
#include "sim/device_faults.hpp"
#include "sim/edits.hpp"
#include "sim/sim_backend.hpp"
#include "sim/sim_spill.hpp"

namespace seaway::sim {

/// Everything about one simulated run that is fixed before it starts. A value.
struct World {
  std::uint64_t seed = 0;
  cluster::EmbeddedOptions cluster;
  CostModel cost;
  std::uint64_t step_ns_max = 0;
  std::uint32_t clients = 1;
  std::uint32_t actions = 10;  // Of each client.
  std::int64_t rows = 8;       // Of every array; rows_large of large ones.
  std::int64_t rows_large = 8;
  std::uint64_t upload_bytes_max = std::uint64_t{1} << 30;  // Of each client.
  std::uint32_t runs_in_flight_max = 16384;                 // The same.
  bool is_memory_tight = false;  // Refusals for lack of memory are to be expected.
  bool has_failures = false;     // Failing and uncompilable functions.
  bool has_cancels = false;
  bool has_irregular = false;
  bool has_rebinds = false;
  bool is_flooded = false;     // Clients ask for ten times as much, and read nothing meanwhile.
  bool has_processes = false;  // Roles are processes, which may be lost.
  bool has_sharers = false;    // Actors on hosts share arrays with their clients.
  bool has_hostile_client = false;  // Beside the clients, of another tenant: HostileClient.
  DeviceFaults faults;
  SpillFaults spill;  // Of the files of hosts, where cluster.spill_memory says that there are some.
  Edits edits;        // Of what the seed has drawn.
  /// Two tenants that always have equal runs waiting, on one island: for shares alone.
  bool is_contest = false;
  std::uint32_t chain = 1;  // Gangs of each run of a contest.

  std::vector<std::uint32_t> weights = {1, 1};  // Of the tenants.

  /// Clients 0, 2, 4.. are "tenant0", the others "tenant1".
  static std::string tenant_of(std::uint32_t client);
  std::uint32_t weight_of(const std::string& tenant) const;
  std::string to_string() const;
};

/// Columns of every array.
constexpr std::int64_t kColumns = 4;

World make_world(std::uint64_t seed, bool is_wild = false);

struct SeedReport;
/// How large the world was.
void describe(const World& world, SeedReport& report);

}  // namespace seaway::sim
