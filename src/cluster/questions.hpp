// Questions: what a process asks a controller's, each on a connection of its own.

#pragma once

#include <cstdint>
#include <string>

#include "actor/io_engine.hpp"
#include "base/frame.hpp"
#include "cluster/enrolment_messages.hpp"
#include "seaway/status.hpp"
#include "transport/caller.hpp"

namespace seaway::cluster {

/// Asks who listens at `address`, of the cluster with that number (0: whichever), and blocks until
/// the answer. Not on the engine's control thread. Errors: those of the answer; kHostLost when
/// nobody listens, kDeadlineExceeded after `most_ns`, kUnauthenticated.
Result<Frame> ask_now(actor::IoEngine& engine, const std::string& address, std::uint64_t cluster,
                      const Question& question, std::uint64_t most_ns,
                      const transport::Credentials& shown);

}  // namespace seaway::cluster
