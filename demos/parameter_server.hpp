// The body of the parameter_server demo, for whatever cluster a client is connected to.

#pragma once

#include <cstdint>

#include "seaway/client.hpp"

namespace seaway::demos {

/// Trains on a cluster of four islands with two devices each, until the server has made so many
/// `updates`; 800 are enough. Errors: what check_steps() and Perceptron::check() say.
Status train_on(const Client& client, std::uint64_t updates);

}  // namespace seaway::demos
