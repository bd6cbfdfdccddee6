// Device faults: what the devices of a world suffer, and when, drawn from the seed.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "device/integrity.hpp"
#include "sim/fault_line.hpp"

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

/// A device that has no memory for the first `launches` gangs that it is to launch from `at_ns` on.
struct DeviceShortage {
  IslandId island = 0;
  DeviceId device = 0;
  std::uint64_t at_ns = 0;
  std::uint32_t launches = 1;
};

/// A device that changes one bit of what it makes in `times` of the gangs that it begins from
/// `at_ns` on, behind `before` that are right; each time another one. Only in gangs that could run
/// a second time: nobody promises to find it in others.
struct DeviceFlip {
  IslandId island = 0;
  DeviceId device = 0;
  std::uint64_t at_ns = 0;
  std::uint32_t before = 0;
  std::uint32_t times = 1;
};

/// One bit of something that lies still on an island changes. `choice` says of what, and which.
struct MemoryRot {
  IslandId island = 0;
  std::uint64_t at_ns = 0;
  std::uint64_t choice = 0;
  std::uint32_t number = 0;  // Among those of its island.
};

/// What a device has done wrong, just now, and to which gang.
struct Mischief {
  enum class Kind : std::uint8_t { kShortage, kFlip };
  Kind kind = Kind::kShortage;
  IslandId island = 0;
  DeviceId device = 0;
  Stamp stamp = 0;
  std::uint32_t position = 0;
};

/// At most one of each for a device; any number of rots. A value.
struct DeviceFaults {
  std::vector<DeviceLoss> losses;
  std::vector<DeviceSlowness> slow;
  std::vector<DeviceHang> hangs;
  std::vector<DeviceStutter> stutters;
  std::vector<DeviceShortage> shortages;
  std::vector<DeviceFlip> flips;
  std::vector<MemoryRot> rots;

  /// Some of them may take the device: it may count as lost from then on.
  bool may_take(IslandId island, DeviceId device, std::uint64_t now_ns) const;
  /// Some of them may take some device, some time.
  bool may_take_any() const;

  /// Those of one island alone.
  DeviceFaults of(IslandId island) const;
  /// "loss 0/1": device 1 of island 0; and so on.
  std::vector<FaultLine> lines() const;
  /// ", device 1 of island 0 lost at 5000 ns"; empty when there are none.
  std::string to_string() const { return sim::to_string(lines()); }
};

/// Each kind of fault and each device has a random stream of its own: without one of them all
/// others are as they were. Most worlds have none.
/// Rots are there only for hosts with checksums.
/// A wild world has all kinds.
DeviceFaults make_device_faults(std::uint64_t seed, std::uint32_t islands, std::uint32_t devices,
                                bool is_wild = false);

/// What the hosts of a world do about changed bits: most that have flips run all gangs twice that
/// can, and all that have rots keep checksums; of the others some do the one or the other.
device::Integrity make_integrity(std::uint64_t seed, const DeviceFaults& faults);

}  // namespace seaway::sim
