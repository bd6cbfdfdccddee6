// DeviceState: one device as its host and its actor see it: stream, memory, health, drain.

#pragma once

#include <cstdint>

#include "seaway/status.hpp"

namespace seaway::device {

/// Owned by the host core; the device's actor and the gang executor both run on the control thread.
struct DeviceState {
  std::uint64_t budget_bytes = 0;
  std::uint64_t used_bytes = 0;
  std::uint64_t peak_bytes = 0;
  std::uint64_t recorded_bytes = 0;  // What the last event about its memory said,
  std::uint64_t most_bytes = 0;      // and the most since then.
  std::uint64_t gangs_done = 0;
  std::uint64_t busy_ns = 0;        // Time in gangs.
  std::uint64_t gangs_delayed = 0;  // The other devices waited for it for half of their time.
  bool is_draining = false;         // Nothing new starts on it; what runs ends.
  Status loss;  // Why it runs nothing and holds nothing any more; OK: it is there.
};

}  // namespace seaway::device
