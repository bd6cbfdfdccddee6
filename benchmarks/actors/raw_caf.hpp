// The contender: CAF actors on one thread, sending each other the same Cap'n Proto frames.

#pragma once

#include <cstdint>

namespace seaway::benchmarks {

/// All on a coordinator that is the calling thread, so that no lock and no wake-up is in the way.
/// Nanoseconds for each call, message or actor.
double caf_call_ns(std::uint32_t calls);
/// For each broadcast and member.
double caf_broadcast_ns(std::uint32_t members, std::uint32_t broadcasts);
/// Actors that each spawn ten, down to `leaves`; for each leaf.
double caf_skynet_ns(std::uint64_t leaves);

}  // namespace seaway::benchmarks
