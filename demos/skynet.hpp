// The body of the skynet demo, for whatever cluster a client is connected to.

#pragma once

#include <cstdint>

#include "seaway/client.hpp"

namespace seaway::demos {

/// Adds up 0 .. leaves - 1 by a tree of actors; `leaves` is a power of ten, 10 at least. Gives how
/// many actors there were. Errors: kDataCorruption when the sum is wrong or one of them is left
/// over.
Result<std::uint64_t> count_leaves(const Client& client, std::uint64_t leaves);

}  // namespace seaway::demos
