// Tight loops over devices: checks gather sign bits, so that no loop has a branch on its data.

#include "store/device_budget.hpp"

#include <algorithm>
#include <string>

#include "base/check.hpp"

namespace seaway::store {
namespace {

constexpr std::uint64_t kBytesEnd = std::uint64_t{1} << 62;

/// True if `devices` are first, first + 1, ...: meshes over neighbours are the common case, and
/// their loops need no list.
bool is_range(std::span<const DeviceId> devices) {
  DeviceId difference = 0;
  for (DeviceId i = 0; i < devices.size(); ++i) difference |= devices[i] ^ (devices[0] + i);
  return difference == 0;
}

}  // namespace

DeviceBudget::DeviceBudget(std::uint32_t device_count, std::uint64_t limit_bytes)
    : limit_bytes_(limit_bytes), allocated_(device_count, 0), peak_(device_count, 0) {
  SEAWAY_CHECK(limit_bytes < kBytesEnd, limit_bytes);
}

bool DeviceBudget::fits(std::span<const DeviceId> devices, std::uint64_t bytes) const {
  if (bytes > limit_bytes_) return devices.empty();
  const std::uint64_t most = limit_bytes_ - bytes;
  std::uint64_t signs = 0;
  if (!devices.empty() && is_range(devices)) {
    const std::uint64_t* allocated = allocated_.data() + devices[0];
    for (std::size_t i = 0; i < devices.size(); ++i) signs |= most - allocated[i];
  } else {
    for (const DeviceId device : devices) signs |= most - allocated_[device];
  }
  return signs < kBytesEnd;
}

Status DeviceBudget::charge(std::span<const DeviceId> devices, std::uint64_t bytes) {
  if (!fits(devices, bytes)) return refusal(devices, bytes);
  if (!devices.empty() && is_range(devices)) {
    std::uint64_t* allocated = allocated_.data() + devices[0];
    std::uint64_t* peak = peak_.data() + devices[0];
    for (std::size_t i = 0; i < devices.size(); ++i) {
      allocated[i] += bytes;
      peak[i] = std::max(peak[i], allocated[i]);
    }
    return {};
  }
  for (const DeviceId device : devices) {
    allocated_[device] += bytes;
    peak_[device] = std::max(peak_[device], allocated_[device]);
  }
  return {};
}

void DeviceBudget::charge_reserved(std::span<const DeviceId> devices, std::uint64_t bytes) {
  const Status status = charge(devices, bytes);
  SEAWAY_CHECK(status.ok(), status.to_string());
}

void DeviceBudget::uncharge(std::span<const DeviceId> devices, std::uint64_t bytes) {
  std::uint64_t signs = bytes;
  if (!devices.empty() && is_range(devices)) {
    std::uint64_t* allocated = allocated_.data() + devices[0];
    for (std::size_t i = 0; i < devices.size(); ++i) signs |= allocated[i] -= bytes;
  } else {
    for (const DeviceId device : devices) signs |= allocated_[device] -= bytes;
  }
  SEAWAY_CHECK(signs < kBytesEnd, bytes, devices.size());
}

std::uint64_t DeviceBudget::peak() const {
  return peak_.empty() ? 0 : *std::max_element(peak_.begin(), peak_.end());
}

Status DeviceBudget::refusal(std::span<const DeviceId> devices, std::uint64_t bytes) const {
  if (bytes > limit_bytes_) {
    return resource_exhausted("device memory refused: " + std::to_string(bytes) +
                              " bytes wanted on each device, which has " +
                              std::to_string(limit_bytes_) +
                              " in all; shard over more devices, or raise the device memory");
  }
  for (const DeviceId device : devices) {
    if (allocated_[device] + bytes <= limit_bytes_) continue;
    return resource_exhausted(
        "device memory refused: " + std::to_string(bytes) + " bytes wanted on device " +
        std::to_string(device) + ", " + std::to_string(limit_bytes_ - allocated_[device]) + " of " +
        std::to_string(limit_bytes_) + " free; free arrays or wait for runs to finish");
  }
  return {};
}

}  // namespace seaway::store
