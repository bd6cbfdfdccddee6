// Drawing the faults of devices.

#include "sim/device_faults.hpp"

#include "base/random.hpp"

namespace seaway::sim {
namespace {

constexpr std::uint64_t kLossStream = 0x6465766c6f737300;
constexpr std::uint64_t kSlowStream = 0x646576736c6f7700;

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
  return faults;
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
  return text;
}

DeviceFaults make_device_faults(std::uint64_t seed, std::uint32_t islands, std::uint32_t devices) {
  DeviceFaults faults;
  const bool has_losses = RandomStream(seed, kLossStream).chance(20);
  const bool has_slow = RandomStream(seed, kSlowStream).chance(20);
  for (IslandId island = 0; island < islands; ++island) {
    for (DeviceId device = 0; device < devices; ++device) {
      const std::uint64_t number = 1 + std::uint64_t{island} * devices + device;
      RandomStream loss(seed, kLossStream + number);
      if (has_losses && loss.chance(30))
        faults.losses.push_back({island, device, random_time(loss)});
      RandomStream slow(seed, kSlowStream + number);
      if (!has_slow || !slow.chance(30)) continue;
      const std::uint64_t begin_ns = random_time(slow);
      faults.slow.push_back({island, device, begin_ns, begin_ns + random_time(slow),
                             static_cast<std::uint32_t>(slow.between(2, 100))});
    }
  }
  return faults;
}

}  // namespace seaway::sim
