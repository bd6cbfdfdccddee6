// Messages one way, in batches: what one costs.

#pragma once

#include <string>

namespace seaway::benchmarks {

/// Messages that are said in one go.
constexpr int kBatch = 64;

/// Nanoseconds of a message of 64 bytes over a bare socket: one writev() a batch, and a reader who
/// takes what is there; NaN when there is none. The best of several tries of `batches`.
double writev_message_ns(bool is_unix, int batches);
/// What batches of actors' messages are.
enum class Batching {
  kTurn,   // kBatch frames that are said in one turn: each has a number and a delivery of its own.
  kFrame,  // One frame with kBatch records, as a controller's launches and users' messages travel.
};
/// The same from actor to actor. `socket`: "unix", "tcp", "tls".
double actor_message_ns(const std::string& socket, const std::string& directory, Batching batching,
                        int batches);

}  // namespace seaway::benchmarks
