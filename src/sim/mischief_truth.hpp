// MischiefTruth: what was done to memory and by devices that compute wrong, and to whose slices.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "device/host_core.hpp"
#include "seaway/status.hpp"
#include "sim/device_faults.hpp"
#include "sim/sim_spill.hpp"

namespace seaway::sim {

/// Something that lay still, and of which a bit was changed.
struct RottenValue {
  IslandId island = 0;
  DeviceId device = 0;      // That holds the shard.
  ArrayId array = 0;        // 0: a value inside a part:
  Stamp stamp = 0;          // the one of this stamp,
  std::uint32_t value = 0;  // and this is its number.
  std::uint64_t bit = 0;    // Of the shard.
};

/// Changes the bit that `rot` says, of all that lies still at `host`; none when nothing does.
std::optional<RottenValue> change_bit(const device::HostCore& host, const MemoryRot& rot);

/// What an error of memory or of wrong bits may be excused with: only what was done. A slice is
/// struck when it is bound, at that moment, to the device that it was done to, or was before it was
/// moved: its arrays follow it one by one.
class MischiefTruth {
 public:
  using SlicesOn = std::function<std::vector<SliceId>(IslandId island, DeviceId device)>;
  explicit MischiefTruth(SlicesOn slices_on) : slices_on_(std::move(slices_on)) {}

  /// Looks which slices are bound to a device now: call it often.
  void look(IslandId island, DeviceId device);

  void note(const Mischief& mischief);
  void note(const RottenValue& value);
  /// `devices`: those of the array.
  void note(const SpillLoss& loss, const std::vector<DeviceId>& devices);

  /// The error of something that depends on `slice` has a reason.
  bool is_excused(const Status& status, SliceId slice) const;
  /// A bit of what a gang made was flipped where `slice` was: whatever depends on it may be wrong.
  bool may_be_wrong(SliceId slice) const { return flipped_.contains(slice); }

 private:
  void strike(std::set<SliceId>& struck, IslandId island, DeviceId device);

  const SlicesOn slices_on_;
  std::map<std::pair<IslandId, DeviceId>, std::set<SliceId>> bound_;  // Ever.
  std::set<SliceId> short_, rotten_, flipped_, unread_;
};

}  // namespace seaway::sim
