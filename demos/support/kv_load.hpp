// Users and failures for the store of the kv demo, on whatever cluster a client is connected to.

#pragma once

#include <cstdint>
#include <functional>

#include "seaway/app/simulation.hpp"
#include "seaway/client.hpp"

namespace seaway::demos {

struct KvOptions {
  std::uint32_t users = 6;
  std::uint32_t operations = 2000;  // Of each user.
  std::uint32_t deaths = 50;        // Spread over the work.
  /// Kills the host of that number, where a primary is to die. Null: the actor alone dies. Host 0,
  /// where the users are, is never asked for.
  std::function<Status(std::uint32_t host)> kill_host = {};
  /// All actors are there, and the work begins: whoever ends from here on is replaced. May be
  /// empty.
  std::function<void()> on_open = {};
};

/// What has happened in a run that was right.
struct KvReport {
  std::uint64_t operations = 0;
  std::uint64_t unanswered = 0;
  std::uint64_t deaths = 0;
  std::uint64_t takeovers = 0;  // That users have seen: of each new primary each user once at most.
};

/// Users on host 0 work on the store while primaries and replicas die. Errors: kDataCorruption when
/// what the users saw cannot have been, or when no new primary has answered.
Result<KvReport> run_kv_store(const Client& client, const KvOptions& options);

/// The same in a simulation, where primaries die with their hosts, which return after a while.
Result<KvReport> run_kv_store_simulated(Simulation& simulation, const Client& client,
                                        KvOptions options);

}  // namespace seaway::demos
