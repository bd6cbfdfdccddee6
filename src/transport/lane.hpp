// Lane: which of a channel's two ways a frame takes; Letter: a frame with its receiver.

#pragma once

#include <cstdint>

#include "base/frame.hpp"

namespace seaway::transport {

/// A frame, and whom in the receiving process it is for.
struct Letter {
  std::uint32_t channel = 0;
  Frame frame;
};

/// Which way a frame goes. Frames of one lane arrive in order; control overtakes bulk.
enum class Lane : std::uint8_t { kControl, kBulk };

}  // namespace seaway::transport
