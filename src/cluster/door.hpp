// The door of a process: what somebody else's frame has to be before a role of this one hears it.

#pragma once

#include <cstdint>
#include <string>

#include "base/frame.hpp"
#include "cluster/peers.hpp"
#include "seaway/status.hpp"
#include "transport/pass.hpp"

namespace seaway::cluster {

/// What indices in frames may name.
struct DoorLimits {
  std::uint32_t islands = 1;
  std::uint32_t devices = 1;  // Of each island.
  /// That a client works for; kNoTenant: any.
  transport::TenantKey tenant = transport::kNoTenant;
};

/// Whether `to` may hear `frame` of `from`, who is known by his connection: it is a message of a
/// kind that his role says to that one, in nobody's name but his own.
///
/// A frame of a scheduler, a host or an annex is read to its end: all its lists are of their types,
/// and what names an island, a device or a role names one that is there. A client's is read by
/// whoever it is for, and so is what the controller says: Router::malformed(). Any bytes; throws
/// nothing. Errors: kProtocolError, saying who has said what.
Status check_at_door(const RoleName& from, const RoleName& to, const Frame& frame,
                     const DoorLimits& limits);

}  // namespace seaway::cluster
