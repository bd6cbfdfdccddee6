// run_app_seed: one random world of users' actors from its first message to its last, under faults.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/edits.hpp"
#include "sim/host_faults.hpp"
#include "sim/seed_run.hpp"
#include "transport/simulated_wire.hpp"

namespace seaway::sim {

/// Everything about one world of actors that is fixed before it starts. A value.
struct AppWorld {
  std::uint64_t seed = 0;
  std::uint32_t hosts = 1;
  std::uint32_t clients = 1;
  std::uint32_t actions = 10;  // Of each client.
  std::uint64_t latency_min_ns = 1'000, latency_max_ns = 1'000'000;
  std::uint64_t pause_ns = 0;  // Between two actions of a client, at most.
  bool has_crashes = false;    // Actors throw, and are killed.
  bool has_cancels = false;
  bool has_deadlines = false;          // Short ones.
  bool has_tight = false;              // Actors with small mailboxes.
  std::vector<HostFault> host_faults;  // Those of one kind one after the other.
  transport::WireFaults faults;        // Of the connections between hosts.
  Edits edits;                         // Of what the seed has drawn.

  /// "host-kill#0", "wire cut", "crashes", and so on.
  std::vector<FaultLine> lines() const;
  bool has(HostFault::Kind kind) const;
  std::string to_string() const;
};

AppWorld make_app_world(std::uint64_t seed, bool is_wild = false);

struct AppSeedReport {
  SeedReport seed;
  /// How often each kind of request was made, and each kind of outcome came.
  std::map<std::string_view, std::uint64_t> counts;
};

/// Pure: the same seed and edits give the same report, with the story of it when it is asked for or
/// went wrong.
AppSeedReport run_app_seed(std::uint64_t seed, const SeedOptions& options = {});

/// The newest events of the seed that runs now, one a line: for whoever reports a crash of it.
std::string app_story_so_far(std::size_t lines_max);

}  // namespace seaway::sim
