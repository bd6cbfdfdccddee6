// What others have said of parts that a host does not know yet, or not any more.

#pragma once

#include <cstdint>
#include <memory>

#include "base/ids.hpp"
#include "device/host_outbox.hpp"
#include "program/order_kind.hpp"
#include "seaway/status.hpp"
#include "transport/near_memory.hpp"

namespace seaway::device {

/// An order behind one whose launch has not arrived.
struct HeldOrder {
  program::OrderKind kind;
  std::uint64_t id;
  std::uint32_t first, last;
};

/// A receiver's word that has come before the launch of its part.
struct HeldEdge {
  HostOutbox::Edge::Kind kind;
  HostId from;
  Status status;
  bool is_near;
};

/// The value of an edge that its receiver goes on reading when its part is over.
struct LentValue {
  HostId reader = 0;
  transport::NearMemory::Place place;
  std::shared_ptr<const void> memory;
};

}  // namespace seaway::device
