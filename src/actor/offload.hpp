// Offload: work of a role that takes too long for its control thread.

#pragma once

#include <cstddef>
#include <functional>

#include "actor/held_frames.hpp"

namespace seaway::actor {

/// Runs `work` on another thread, and then `then` on the control thread, never within the call. A
/// role that has ended gets no `then`; `work` may outlive it, and owns all that it uses.
using Offload = std::function<void(std::function<void()> work, std::function<void()> then)>;

/// Frames of so many bytes are decoded, and programs of so many nodes are lowered, away from the
/// control thread: both take about 50 ms.
struct OffloadOptions {
  Offload offload = {};  // Empty: all is done within the call.
  std::size_t frame_bytes_min = std::size_t{4} << 20;
  std::size_t nodes_min = 20'000;
  HeldLimits held = {};  // Of what waits for one piece of work: see OrderedOffload.

  bool takes_frame(std::size_t bytes) const { return offload && bytes >= frame_bytes_min; }
  bool takes_nodes(std::size_t nodes) const { return offload && nodes >= nodes_min; }
};

}  // namespace seaway::actor
