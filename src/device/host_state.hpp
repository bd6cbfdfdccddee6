// HostState: what a host tells a scheduler that begins anew.

#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "seaway/status.hpp"

namespace seaway::device {

/// One part that is here. Edges go by their numbers.
struct HostPart {
  Stamp stamp = 0;
  bool is_admitted = false;
  bool has_overtaken = false;
  Stamp beside = 0;  // As the order of its admission said.
  bool is_cancelled = false;
  bool is_fencing = false;  // Cancelled, and edges of it are open.
  bool is_moving = false;   // Its sends were to go to host room,
  bool is_moved = false;    // and have gone there.
  std::uint32_t placed = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> done;  // Ranges of gangs, rising.
  std::vector<std::uint32_t> received;   // Receives whose value is here, or will never be needed.
  std::vector<std::uint32_t> delivered;  // Sends that are closed.
};

/// One array that is here, also if the order to free it has not had its turn.
struct HostArray {
  enum class Place : std::uint8_t { kNowhere, kDevice, kUploadRoom, kSpillRoom };
  ArrayId array = 0;
  Place place = Place::kNowhere;
  bool is_poison = false;
  const std::vector<DeviceId>* devices = nullptr;  // Valid until the host is told something.
  std::uint64_t shard_bytes = 0;
};

struct HostState {
  Stamp last_stamp = 0;                            // The last launch that has come.
  std::vector<HostPart> parts;                     // By stamp.
  std::vector<HostArray> arrays;                   // By id.
  std::vector<std::pair<Stamp, Status>> failures;  // Of parts, also of those that are over.
};

}  // namespace seaway::device
