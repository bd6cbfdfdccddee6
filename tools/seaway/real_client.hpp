// A client of a campaign against real processes: asks, waits, and writes down what it got.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "seaway/host_main.hpp"

namespace seaway::tools {

/// What the hosts of a campaign have to know: a function that fails whenever it runs.
void register_campaign(Registry& registry);

struct RealClientOptions {
  std::string address;
  std::uint64_t seed = 1;
  std::string history;              // Files that begin like that, one for each process of it.
  pid_t parent = 0;                 // With which it ends; 0: by itself.
  std::string token_file, ca_file;  // Of "tls:" addresses.
};

/// Runs drawn programs over both islands of the cluster, a few at a time, until it gets SIGTERM;
/// then it waits for what has no outcome yet. Each value is compared with what it must be. Connects
/// again whenever it has to. Returns an exit code.
int run_real_client(const RealClientOptions& options);

}  // namespace seaway::tools
