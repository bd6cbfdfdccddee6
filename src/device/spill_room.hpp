// SpillRoom: what a host knows of arrays in host room, where a part of that is a file.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/ids.hpp"
#include "device/shard_memory.hpp"
#include "device/shard_sums.hpp"
#include "store/spill_file.hpp"
#include "store/spill_tiers.hpp"

namespace seaway::device {

/// An array goes to the file, or comes back.
struct SpillTransfer {
  std::shared_ptr<store::SpillJob> job;
  ShardMemory memory;  // Where it is read to; of a write, if nobody else has it any more.
  store::SpillTiers::Transfer what;
};

struct SpillRoom {
  store::SpillFile* file = nullptr;
  std::optional<store::SpillTiers> tiers;            // With a file.
  std::map<std::uint64_t, SpillTransfer> transfers;  // By ticket.
  std::unordered_map<ArrayId, ShardSums> sums;       // CRC-32C of what lies in the file.
  std::vector<ArrayId> unsaid;                       // The scheduler hears of them later.
  std::function<void()> on_progress = [] {};
};

}  // namespace seaway::device
