// Device faults: what the devices of a world suffer, and when, drawn from the seed.

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

/// A device on which the first gang of those that start at or after `at_ns`, and not in line, does
/// not end; or ends `for_ns` later, as if nothing had been.
struct DeviceHang {
  IslandId island = 0;
  DeviceId device = 0;
  std::uint64_t at_ns = 0;
  std::uint64_t for_ns = 0;  // 0: for ever.
};

/// A device that does not launch the first `launches` gangs that it is to launch from `at_ns` on.
struct DeviceStutter {
  IslandId island = 0;
  DeviceId device = 0;
  std::uint64_t at_ns = 0;
  std::uint32_t launches = 1;
};

/// At most one of each for a device. A value.
struct DeviceFaults {
  std::vector<DeviceLoss> losses;
  std::vector<DeviceSlowness> slow;
  std::vector<DeviceHang> hangs;
  std::vector<DeviceStutter> stutters;

  /// Some of them may take the device: it may count as lost from then on.
  bool may_take(IslandId island, DeviceId device, std::uint64_t now_ns) const;
  /// Some of them may take some device, some time.
  bool may_take_any() const;

  /// Those of one island alone.
  DeviceFaults of(IslandId island) const;
  /// ", device 1 of island 0 lost at 5000 ns"; empty when there are none.
  std::string to_string() const;
};

/// Each kind of fault and each device has a random stream of its own: without one of them all
/// others are as they were. Most worlds have none.
DeviceFaults make_device_faults(std::uint64_t seed, std::uint32_t islands, std::uint32_t devices);

}  // namespace seaway::sim
