// The body of the pingpong demo, for whatever cluster a client is connected to.

#pragma once

#include <cstdint>

#include "seaway/client.hpp"

namespace seaway::demos {

/// Two players on the two hosts of the cluster hit a ball `rounds` times, >= 1, and say how long it
/// took. Errors: kDataCorruption when a ball did not come back.
Status play_pingpong(const Client& client, std::uint64_t rounds);

}  // namespace seaway::demos
