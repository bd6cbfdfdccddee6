// Which damaged messages their receivers refuse as they read them.

#pragma once

#include <cstdint>
#include <string>

#include "base/frame.hpp"
#include "cluster/door.hpp"
#include "cluster/shape.hpp"
#include "seaway/app/type_table.hpp"

namespace seaway::hostile {

/// What receivers know beside a message.
struct Receiver {
  cluster::DoorLimits limits;  // With the tenant of the sender, where that is a client.
  cluster::Shape shape = 1;
  const internal::TypeTable* types = nullptr;
};

/// Whether `to` ends the session with `from` before it has done anything with `frame`: the door of
/// its process refuses it, or what reads envelopes, or what delegates and clients say to each
/// other. `name`: of the kind, as in MessageKind. Where nobody can tell without doing it: false.
bool is_refused(const cluster::RoleName& from, const cluster::RoleName& to, std::uint32_t channel,
                const std::string& name, const Frame& frame, const Receiver& receiver);

}  // namespace seaway::hostile
