// Drawing the faults of devices.

#include "sim/device_faults.hpp"

#include <algorithm>

#include "base/random.hpp"
#include "device/backend.hpp"

namespace seaway::sim {
namespace {

constexpr std::uint64_t kLossStream = 0x6465766c6f737300;
constexpr std::uint64_t kSlowStream = 0x646576736c6f7700;
constexpr std::uint64_t kHangStream = 0x64657668616e6700;
constexpr std::uint64_t kStutterStream = 0x6465767374757400;
constexpr std::uint64_t kHangStepNs = 100'000'000;

/// Some 16 us to 130 ms, early ones as often as late ones: worlds differ in how long they last.
std::uint64_t random_time(RandomStream& random) {
  return random.below(std::uint64_t{1} << random.between(14, 27));
}

}  // namespace

DeviceFaults DeviceFaults::of(IslandId island) const {
  DeviceFaults faults;
  for (const DeviceLoss& loss : losses) {
    if (loss.island == island) faults.losses.push_back(loss);
  }
  for (const DeviceSlowness& one : slow) {
    if (one.island == island) faults.slow.push_back(one);
  }
  for (const DeviceHang& hang : hangs) {
    if (hang.island == island) faults.hangs.push_back(hang);
  }
  for (const DeviceStutter& stutter : stutters) {
    if (stutter.island == island) faults.stutters.push_back(stutter);
  }
  return faults;
}

bool DeviceFaults::may_take(IslandId island, DeviceId device, std::uint64_t now_ns) const {
  const auto is_there = [island, device, now_ns](const auto& fault) {
    return fault.island == island && fault.device == device && fault.at_ns <= now_ns;
  };
  return std::any_of(losses.begin(), losses.end(), is_there) ||
         std::any_of(hangs.begin(), hangs.end(), is_there) ||
         std::any_of(stutters.begin(), stutters.end(), [&is_there](const DeviceStutter& stutter) {
           return is_there(stutter) && stutter.launches > device::kRelaunchesMax;
         });
}

bool DeviceFaults::may_take_any() const {
  return !losses.empty() || !hangs.empty() ||
         std::any_of(stutters.begin(), stutters.end(), [](const DeviceStutter& stutter) {
           return stutter.launches > device::kRelaunchesMax;
         });
}

std::string DeviceFaults::to_string() const {
  std::string text;
  const auto name = [](IslandId island, DeviceId device) {
    return ", device " + std::to_string(device) + " of island " + std::to_string(island);
  };
  for (const DeviceLoss& loss : losses) {
    text += name(loss.island, loss.device) + " lost at " + std::to_string(loss.at_ns) + " ns";
  }
  for (const DeviceSlowness& one : slow) {
    text += name(one.island, one.device) + " slower by " + std::to_string(one.factor) + " from " +
            std::to_string(one.begin_ns) + " to " + std::to_string(one.end_ns) + " ns";
  }
  for (const DeviceHang& hang : hangs) {
    text += name(hang.island, hang.device) + " hangs from " + std::to_string(hang.at_ns) + " ns " +
            (hang.for_ns == 0 ? "for ever" : "for " + std::to_string(hang.for_ns) + " ns");
  }
  for (const DeviceStutter& stutter : stutters) {
    text += name(stutter.island, stutter.device) + " does not launch " +
            std::to_string(stutter.launches) + " times from " + std::to_string(stutter.at_ns) +
            " ns";
  }
  return text;
}

DeviceFaults make_device_faults(std::uint64_t seed, std::uint32_t islands, std::uint32_t devices) {
  DeviceFaults faults;
  const bool has_losses = RandomStream(seed, kLossStream).chance(20);
  const bool has_slow = RandomStream(seed, kSlowStream).chance(20);
  const bool has_hangs = RandomStream(seed, kHangStream).chance(10);
  const bool has_stutters = RandomStream(seed, kStutterStream).chance(10);
  for (IslandId island = 0; island < islands; ++island) {
    for (DeviceId device = 0; device < devices; ++device) {
      const std::uint64_t number = 1 + std::uint64_t{island} * devices + device;
      RandomStream loss(seed, kLossStream + number);
      if (has_losses && loss.chance(30))
        faults.losses.push_back({island, device, random_time(loss)});
      RandomStream slow(seed, kSlowStream + number);
      if (has_slow && slow.chance(30)) {
        const std::uint64_t begin_ns = random_time(slow);
        faults.slow.push_back({island, device, begin_ns, begin_ns + random_time(slow),
                               static_cast<std::uint32_t>(slow.between(2, 100))});
      }
      RandomStream hang(seed, kHangStream + number);
      if (has_hangs && hang.chance(30)) {
        const std::uint64_t at_ns = random_time(hang);
        // Some of them end before anybody gives them up.
        faults.hangs.push_back(
            {island, device, at_ns, hang.chance(50) ? 0 : hang.between(1, 30) * kHangStepNs});
      }
      RandomStream stutter(seed, kStutterStream + number);
      if (has_stutters && stutter.chance(30)) {
        faults.stutters.push_back({island, device, random_time(stutter),
                                   static_cast<std::uint32_t>(stutter.between(1, 5))});
      }
    }
  }
  return faults;
}

}  // namespace seaway::sim
