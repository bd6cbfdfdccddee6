// Counting bytes on devices.

#include "pjrt/ledger.hpp"

#include <algorithm>
#include <string>

#include "base/check.hpp"

namespace seaway::pjrt {

Result<Ledger::Charge> Ledger::charge(std::span<const std::uint32_t> devices, std::uint64_t bytes,
                                      std::size_t& refused) {
  std::lock_guard guard(mutex_);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const std::uint64_t used = counts_[devices[i]].bytes;
    if (bytes <= bytes_max_ && used <= bytes_max_ - bytes) continue;
    refused = i;
    return resource_exhausted("device " + std::to_string(devices[i]) + " of the plugin has " +
                              std::to_string(bytes_max_ - std::min(used, bytes_max_)) + " of " +
                              std::to_string(bytes_max_) + " bytes left, and a gang needs " +
                              std::to_string(bytes) + ": raise device_memory");
  }
  for (const std::uint32_t device : devices) {
    Count& count = counts_[device];
    count.bytes += bytes;
    count.peak_bytes = std::max(count.peak_bytes, count.bytes);
  }
  return Charge(*this, devices, bytes);
}

void Ledger::give_back(std::span<const std::uint32_t> devices, std::uint64_t bytes) {
  std::lock_guard guard(mutex_);
  for (const std::uint32_t device : devices) {
    SEAWAY_CHECK(counts_[device].bytes >= bytes, device, counts_[device].bytes, bytes);
    counts_[device].bytes -= bytes;
  }
}

}  // namespace seaway::pjrt
