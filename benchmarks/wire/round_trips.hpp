// Round trips of one message of 64 bytes between two processes, one by one.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/wire/ends.hpp"

namespace seaway::benchmarks {

/// Over a bare socket of Unix, or of TCP. Forks: not while other threads run.
class RawRoundTrips {
 public:
  explicit RawRoundTrips(bool is_unix);
  ~RawRoundTrips();
  /// In microseconds; too few when there is no socket.
  std::vector<double> measure_us(int rounds);

 private:
  const Pair pair_;
  const Child echo_;
};

/// From actor to actor. `socket`: "unix", "tcp", "tls". Forks: not while other threads run.
class ActorRoundTrips {
 public:
  struct Options {
    std::function<void()> before = {};  // Is called before each, and does not count; may be empty.
    int echo_core = -1;                 // Where the child stays; -1: anywhere.
  };
  ActorRoundTrips(const std::string& socket, const std::string& directory, Options options);
  ~ActorRoundTrips();
  ActorRoundTrips(const ActorRoundTrips&) = delete;
  ActorRoundTrips& operator=(const ActorRoundTrips&) = delete;
  /// In microseconds; none when the two do not meet, or lose each other.
  std::vector<double> measure_us(int rounds);
  /// The process of the other end.
  pid_t other() const;

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace seaway::benchmarks
