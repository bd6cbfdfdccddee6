// The same ping-pong with other libraries: Cap'n Proto's RPC, and CAF's network.

#pragma once

#include <string>
#include <vector>

namespace seaway::benchmarks {

/// Microseconds of each round trip of a call with 40 bytes, between two processes; empty when they
/// do not meet. `address`: "unix:PATH", or "127.0.0.1" for a port of the system's choice.
std::vector<double> capnp_rpc_us(const std::string& address, int rounds);
/// The same of a text of 40 bytes from actor to actor, over TCP on 127.0.0.1.
std::vector<double> caf_net_us(int rounds);

}  // namespace seaway::benchmarks
