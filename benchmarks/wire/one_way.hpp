// Messages one way, in batches: what one costs.

#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "benchmarks/wire/ends.hpp"

namespace seaway::benchmarks {

/// Messages that are said in one go.
constexpr int kBatch = 64;

/// Messages of 64 bytes over a bare socket: one writev() a batch, and a reader who takes what is
/// there. Forks: not while other threads run.
class RawMessages {
 public:
  RawMessages(bool is_unix, int batches);
  ~RawMessages();
  /// Nanoseconds of one, of all `batches`; NaN when there is no socket.
  double measure_ns();

 private:
  const int batches_;
  const Pair pair_;
  const Child reader_;
};

/// What batches of actors' messages are.
enum class Batching {
  kTurn,   // kBatch frames that are said in one turn: each has a number and a delivery of its own.
  kFrame,  // One frame with kBatch records, as a controller's launches and users' messages travel.
};
/// The same from actor to actor. `socket`: "unix", "tcp", "tls". Forks: not while other threads
/// run.
class ActorMessages {
 public:
  ActorMessages(const std::string& socket, const std::string& directory, Batching batching,
                int batches);
  ~ActorMessages();
  ActorMessages(const ActorMessages&) = delete;
  ActorMessages& operator=(const ActorMessages&) = delete;
  double measure_ns();

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace seaway::benchmarks
