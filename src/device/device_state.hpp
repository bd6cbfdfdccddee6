// DeviceState: one device as its host and its actor see it: stream, memory, drain.

#pragma once

#include <cstdint>

namespace seaway::device {

/// Owned by the host core; the device's actor and the gang executor both run on the control thread.
/// One line of a cache: a host walks over all its devices several times for each part.
struct DeviceState {
  std::uint64_t budget_bytes = 0;
  std::uint64_t used_bytes = 0;
  std::uint64_t peak_bytes = 0;
  std::uint64_t recorded_bytes = 0;  // What the last event about its memory said,
  std::uint64_t most_bytes = 0;      // and the most since then.
  std::uint64_t gangs_done = 0;
  std::uint64_t busy_ns = 0;        // Time in gangs.
  std::uint32_t gangs_delayed = 0;  // The other devices waited for it for half of their time.
  bool is_draining = false;         // Nothing new starts on it; what runs ends.
};
static_assert(sizeof(DeviceState) <= 64);

}  // namespace seaway::device
