// Round trips of one message of 64 bytes between two processes, one by one.

#pragma once

#include <functional>
#include <string>
#include <vector>

namespace seaway::benchmarks {

/// Other work on the machine only makes rounds slower: the fast tenth counts.
constexpr double kFastRounds = 0.1;

/// Over a bare socket of Unix, or of TCP; in microseconds. Too few when there is none.
std::vector<double> raw_round_trips_us(bool is_unix, int rounds);
struct RoundTrips {
  int rounds = 0;
  std::function<void()> before = {};  // Is called before each, and does not count; may be empty.
  int echo_core = -1;                 // Where the child stays; -1: anywhere.
};
/// From actor to actor. `socket`: "unix", "tcp", "tls". None when they do not meet. Forks: not
/// while other threads run.
std::vector<double> actor_round_trips_us(const std::string& socket, const std::string& directory,
                                         const RoundTrips& trips);

}  // namespace seaway::benchmarks
