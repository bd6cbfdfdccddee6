// What a message to an actor of another process costs, beside the bare socket that carries it.

#pragma once

#include "benchmarks/benchmarks.hpp"

namespace seaway::benchmarks {

/// Reports `wire.round_trip_us`, `wire.raw_socket_us` and `wire.over_raw_socket`, and of messages
/// one way `wire.message_ns`, `wire.writev_message_ns` and `wire.messages_over_writev`, for each
/// kind of `socket`: `unix`, `tcp`, `tls`; and `wire.peer_round_trip_us` of other libraries.
/// Errors: kResourceExhausted when the system gives no socket or process.
Status run_wire(const BenchOptions& options, BenchReport& report);

}  // namespace seaway::benchmarks
