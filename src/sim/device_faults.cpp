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
constexpr std::uint64_t kShortageStream = 0x64657673686f7200;
constexpr std::uint64_t kFlipStream = 0x646576666c697000;
constexpr std::uint64_t kRotStream = 0x6d656d726f740000;
constexpr std::uint64_t kIntegrityStream = 0x696e746567720000;
constexpr std::uint64_t kHangStepNs = 100'000'000;

/// Some 16 us to 130 ms, early ones as often as late ones: worlds differ in how long they last.
std::uint64_t random_time(RandomStream& random) {
  return random.below(std::uint64_t{1} << random.between(14, 27));
}

}  // namespace

DeviceFaults DeviceFaults::of(IslandId island) const {
  const auto those_of = [island](auto faults) {
    std::erase_if(faults, [island](const auto& fault) { return fault.island != island; });
    return faults;
  };
  return {.losses = those_of(losses),
          .slow = those_of(slow),
          .hangs = those_of(hangs),
          .stutters = those_of(stutters),
          .shortages = those_of(shortages),
          .flips = those_of(flips),
          .rots = those_of(rots)};
}

bool DeviceFaults::may_take(IslandId island, DeviceId device, std::uint64_t now_ns) const {
  const auto is_there = [island, device, now_ns](const auto& fault) {
    return fault.island == island && fault.device == device && fault.at_ns <= now_ns;
  };
  return std::any_of(losses.begin(), losses.end(), is_there) ||
         std::any_of(hangs.begin(), hangs.end(), is_there) ||
         std::any_of(flips.begin(), flips.end(), is_there) ||
         std::any_of(stutters.begin(), stutters.end(), [&is_there](const DeviceStutter& stutter) {
           return is_there(stutter) && stutter.launches > device::kRelaunchesMax;
         });
}

bool DeviceFaults::may_take_any() const {
  return !losses.empty() || !hangs.empty() || !flips.empty() ||
         std::any_of(stutters.begin(), stutters.end(), [](const DeviceStutter& stutter) {
           return stutter.launches > device::kRelaunchesMax;
         });
}

std::vector<FaultLine> DeviceFaults::lines() const {
  std::vector<FaultLine> lines;
  const auto add = [&lines](const char* kind, const char* family, const auto& fault,
                            const std::string& text, std::uint64_t at_ns, std::uint64_t for_ns) {
    const std::string island = std::to_string(fault.island), device = std::to_string(fault.device);
    lines.push_back({std::string(kind) + " " + island + "/" + device, family,
                     "device " + device + " of island " + island + " " + text, at_ns, for_ns});
  };
  const auto ns = [](std::uint64_t time) { return std::to_string(time) + " ns"; };
  for (const DeviceLoss& loss : losses) {
    add("loss", "device", loss, "lost at " + ns(loss.at_ns), loss.at_ns, 0);
  }
  for (const DeviceSlowness& one : slow) {
    add("slow", "device", one,
        "slower by " + std::to_string(one.factor) + " from " + std::to_string(one.begin_ns) +
            " to " + ns(one.end_ns),
        one.begin_ns, one.end_ns - one.begin_ns);
  }
  for (const DeviceHang& hang : hangs) {
    add("hang", "device", hang,
        "hangs from " + ns(hang.at_ns) +
            (hang.for_ns == 0 ? " for ever" : " for " + ns(hang.for_ns)),
        hang.at_ns, hang.for_ns);
  }
  for (const DeviceStutter& stutter : stutters) {
    add("stutter", "device", stutter,
        "does not launch " + std::to_string(stutter.launches) + " times from " + ns(stutter.at_ns),
        stutter.at_ns, 0);
  }
  for (const DeviceShortage& shortage : shortages) {
    add("shortage", "hbm", shortage,
        "has no memory for " + std::to_string(shortage.launches) + " launches from " +
            ns(shortage.at_ns),
        shortage.at_ns, 0);
  }
  for (const DeviceFlip& flip : flips) {
    add("flip", "sdc", flip,
        "flips a bit " + std::to_string(flip.times) + " times from " + ns(flip.at_ns), flip.at_ns,
        0);
  }
  for (const MemoryRot& rot : rots) {
    lines.push_back(
        {"rot " + std::to_string(rot.island) + "#" + std::to_string(rot.number), "sdc",
         "a bit changes on island " + std::to_string(rot.island) + " at " + ns(rot.at_ns),
         rot.at_ns, 0});
  }
  return lines;
}

DeviceFaults make_device_faults(std::uint64_t seed, std::uint32_t islands, std::uint32_t devices,
                                bool is_wild) {
  DeviceFaults faults;
  const bool has_losses = is_wild || RandomStream(seed, kLossStream).chance(20);
  const bool has_slow = is_wild || RandomStream(seed, kSlowStream).chance(20);
  const bool has_hangs = is_wild || RandomStream(seed, kHangStream).chance(10);
  const bool has_stutters = is_wild || RandomStream(seed, kStutterStream).chance(10);
  const bool has_shortages = is_wild || RandomStream(seed, kShortageStream).chance(10);
  const bool has_flips = is_wild || RandomStream(seed, kFlipStream).chance(10);
  const bool has_rots = is_wild || RandomStream(seed, kRotStream).chance(15);
  for (IslandId island = 0; island < islands; ++island) {
    RandomStream rot(seed, kRotStream + 1 + island);
    const auto rots = static_cast<std::uint32_t>(has_rots ? rot.between(1, 12) : 0);
    for (std::uint32_t number = 0; number < rots; ++number) {
      const std::uint64_t at_ns = 1 + random_time(rot);
      faults.rots.push_back({island, at_ns, rot.next(), number});
    }
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
      RandomStream shortage(seed, kShortageStream + number);
      if (has_shortages && shortage.chance(30)) {
        faults.shortages.push_back({island, device, random_time(shortage),
                                    static_cast<std::uint32_t>(shortage.between(1, 4))});
      }
      RandomStream flip(seed, kFlipStream + number);
      if (has_flips && flip.chance(30)) {
        faults.flips.push_back({island, device, random_time(flip),
                                static_cast<std::uint32_t>(flip.below(4)),
                                static_cast<std::uint32_t>(flip.between(1, 4))});
      }
    }
  }
  return faults;
}

device::Integrity make_integrity(std::uint64_t seed, const DeviceFaults& faults) {
  RandomStream random(seed, kIntegrityStream);
  device::Integrity integrity;
  integrity.shard_checksums = random.chance(15) || !faults.rots.empty();
  const bool replays = random.chance(10) || !faults.flips.empty();
  const bool replays_all = random.chance(70);
  const auto some = static_cast<std::uint32_t>(random.below(1000));
  if (replays) integrity.replay_per_mille = replays_all ? 1000 : some;
  return integrity;
}

}  // namespace seaway::sim
