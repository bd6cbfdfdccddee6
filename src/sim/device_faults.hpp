// Device faults: which devices of a world are lost or slow, and when, drawn from the seed.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.hpp"

namespace seaway::sim {

/// A device that runs nothing any more from a time on.
struct DeviceLoss {
  IslandId island = 0;
  DeviceId device = 0;
  std::uint64_t at_ns = 0;
};

/// A device whose gangs take `factor` times as long when they start between two times.
struct DeviceSlowness {
  IslandId island = 0;
  DeviceId device = 0;
  std::uint64_t begin_ns = 0, end_ns = 0;
  std::uint32_t factor = 1;
};

/// At most one of each for a device. A value.
struct DeviceFaults {
  std::vector<DeviceLoss> losses;
  std::vector<DeviceSlowness> slow;

  /// Those of one island alone.
  DeviceFaults of(IslandId island) const;
  /// ", device 1 of island 0 lost at 5000 ns"; empty when there are none.
  std::string to_string() const;
};

/// Each kind of fault and each device has a random stream of its own: without one of them all
/// others are as they were. Most worlds have none.
DeviceFaults make_device_faults(std::uint64_t seed, std::uint32_t islands, std::uint32_t devices);

}  // namespace seaway::sim
