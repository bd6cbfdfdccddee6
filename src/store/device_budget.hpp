// DeviceBudget: bytes allocated on each device of one island, never above the limit.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.hpp"
#include "seaway/status.hpp"

namespace seaway::store {

/// Counts; owns no memory. A copyable value. Calls take the devices of one value (no device twice)
/// and the bytes on each; they cost 1 to 3 ns a device. Devices must be < device_count(): plans
/// are checked where they enter the island.
class DeviceBudget {
 public:
  /// `limit_bytes` of each device is below 2^62.
  DeviceBudget(std::uint32_t device_count, std::uint64_t limit_bytes);

  /// Takes `bytes` on each of `devices`, or on none.
  /// Errors: kResourceExhausted naming the first device that lacks room, and the numbers.
  Status charge(std::span<const DeviceId> devices, std::uint64_t bytes);
  /// The same where the plan has promised that it fits: a refusal stops the process.
  void charge_reserved(std::span<const DeviceId> devices, std::uint64_t bytes);
  /// Gives back. Stops the process when a device would have less than nothing.
  void uncharge(std::span<const DeviceId> devices, std::uint64_t bytes);
  /// Whether charge() would succeed now.
  bool fits(std::span<const DeviceId> devices, std::uint64_t bytes) const;

  std::uint32_t device_count() const { return static_cast<std::uint32_t>(allocated_.size()); }
  std::uint64_t limit_bytes() const { return limit_bytes_; }
  std::uint64_t allocated(DeviceId device) const { return allocated_[device]; }
  /// The most that was ever allocated on `device`, and on any device.
  std::uint64_t peak(DeviceId device) const { return peak_[device]; }
  std::uint64_t peak() const;
  void reset_peak() { peak_ = allocated_; }

 private:
  Status refusal(std::span<const DeviceId> devices, std::uint64_t bytes) const;

  std::uint64_t limit_bytes_;
  std::vector<std::uint64_t> allocated_;
  std::vector<std::uint64_t> peak_;
};

}  // namespace seaway::store
