// Drains: islands that take nothing new, and what still keeps one from being left.

#include <algorithm>

#include "base/probe.hpp"
#include "controller/records.hpp"

namespace seaway::controller {

Status ControllerCore::check_member(IslandId island) const {
  if (members_.empty()) {
    return invalid_argument("islands of one process come and go with it; there is none to drain");
  }
  if (island < options_.islands) return {};
  return invalid_argument("there is no island " + std::to_string(island) +
                          "; the cluster has islands 0 to " + std::to_string(options_.islands - 1));
}

Status ControllerCore::drain_island(IslandId island, Drain how) {
  if (Status status = check_member(island); !status.ok()) return status;
  std::optional<Drain>& drain = members_[island].drain;
  SEAWAY_PROBE_IF(drain.has_value(), "a drain tries again");
  // Who has said that it is to last is not overruled by a host that leaves meanwhile.
  if (drain != Drain::kUntilEnded) drain = how;
  for (DeviceId device = 0; device < options_.devices; ++device) binder_.lose(island, device);
  for (const auto& [id, slice] : slices_) displace(*slice);
  return {};
}

Status ControllerCore::end_drain(IslandId island) {
  if (Status status = check_member(island); !status.ok()) return status;
  if (!std::exchange(members_[island].drain, std::nullopt)) return {};
  for (DeviceId device = 0; device < options_.devices; ++device) {
    if (!lost_devices_.contains({island, device})) binder_.find_again(island, device);
  }
  // Those of other islands may have waited for a place to go to.
  for (const auto& [id, slice] : slices_) displace(*slice);
  return {};
}

bool ControllerCore::is_draining(IslandId island) const {
  return !members_.empty() && members_[island].drain.has_value();
}

ControllerCore::Left ControllerCore::left_on(IslandId island) const {
  Left left;
  for (const auto& [id, slice] : slices_) {
    const bool is_coming = slice->moves_in_flight > 0 && slice->target.island == island;
    left.slices += !slice->is_gone && (slice->binding.island == island || is_coming);
  }
  left.arrays = static_cast<std::size_t>(
      std::count_if(arrays_.begin(), arrays_.end(), [island](const auto& entry) {
        const Array& array = entry.second;
        return array.is_counted && !array.is_freed && array.island == island;
      }));
  left.parts = stamps_open_on(island).size();
  if (members_.empty()) return left;
  for (const auto& [client, reads] : members_[island].fetches) left.reads += reads.size();
  return left;
}

/// Of an island that is drained: what is still there, as a member of a JSON object.
std::string ControllerCore::left_text(IslandId island) const {
  if (!is_draining(island)) return "";
  const Left left = left_on(island);
  return ",\"left\":{\"slices\":" + std::to_string(left.slices) +
         ",\"arrays\":" + std::to_string(left.arrays) + ",\"parts\":" + std::to_string(left.parts) +
         ",\"reads\":" + std::to_string(left.reads) + "}";
}

}  // namespace seaway::controller
