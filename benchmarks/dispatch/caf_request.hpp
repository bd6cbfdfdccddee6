// The yardstick of dispatch: one raw request and reply between two CAF actors on one thread.

#pragma once

#include <cstdint>

namespace seaway::benchmarks {

/// Nanoseconds of one request().then() round trip of an int, the fast ones of `rounds`: two
/// event-based actors on a coordinator that is one thread, as that of the control thread.
double caf_request_ns(std::uint32_t round_trips, int rounds);

}  // namespace seaway::benchmarks
