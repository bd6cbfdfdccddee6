// The body of the pipeline_feed demo, for whatever cluster a client is connected to.

#pragma once

#include <cstdint>

#include "seaway/client.hpp"

namespace seaway::demos {

/// Trains on a cluster of three hosts, and four devices on one of its islands, with each digit so
/// many times. Errors: what FeedCheck says, and too low an accuracy.
Status feed_to(const Client& client, std::uint32_t epochs);

}  // namespace seaway::demos
