// What a process says to its own role of others, and to the controller of itself.

#pragma once

#include <cstdint>

#include "base/frame.hpp"
#include "cluster/peers.hpp"

namespace seaway::cluster {

/// To the role of this process: what became of another one.
Frame peer_frame(const PeerNews& news);
/// To the controller: the first word of a life of `name`, a scheduler or a host.
Frame join_frame(const RoleName& name, std::uint32_t life);

}  // namespace seaway::cluster
