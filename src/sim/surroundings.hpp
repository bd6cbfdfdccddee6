// Surroundings: what checkers ask about the cluster that events leave out.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "program/part_plan.hpp"

namespace seaway::sim {

/// One part as its host was told it. The lists are parallel to those of the plan.
struct PartFacts {
  const program::PartPlan* plan = nullptr;  // Null: the host does not know the part.
  const std::vector<ArrayId>* args = nullptr;
  const std::vector<ArrayId>* outputs = nullptr;
  // What its host has done of what the scheduler said of it.
  bool is_admitted = false;
  std::uint32_t gangs_placed = 0;
  bool has_moved = false;  // What other islands wait for lies in host room, as a copy.
};

/// Plans, budgets and weights: what was promised before anything ran, and what hosts and
/// schedulers claim about their memory. Asked while the event is being recorded. What is down
/// knows nothing, and uses nothing.
struct Surroundings {
  std::function<PartFacts(IslandId, Stamp)> part_of;
  /// Where an array that exists lies; null for one that the host does not know.
  std::function<const std::vector<DeviceId>*(IslandId, ArrayId)> devices_of_array;
  /// Bytes used on a device, and its budget.
  std::function<std::pair<std::uint64_t, std::uint64_t>(IslandId, DeviceId)> memory_of;
  /// Bytes that the scheduler has reserved on a device.
  std::function<std::uint64_t(IslandId, DeviceId)> reserved_of;
  /// Gangs that the cluster's statistics say a device took part in.
  std::function<std::uint64_t(IslandId, DeviceId)> gangs_of;
  std::function<std::uint32_t(TenantId)> weight_of;
  /// It is not idempotent: a run of it is not run again.
  std::function<bool(FunctionId)> has_effects;
  /// Something was done to a device by now that may take it away.
  std::function<bool(IslandId, DeviceId, std::uint64_t now_ns)> may_be_lost;
  std::uint32_t devices = 0;  // Of each island.
  /// So much is asked for that what another island owes may come a thousand gangs later.
  bool is_flooded = false;
};

/// The index within its part of the gang with `position` in its program; kNone if there is none.
std::uint32_t index_of(const program::PartPlan& plan, std::uint32_t position);

/// All devices that gang `index` runs on: of a reshard, those that it copies from too.
std::vector<DeviceId> devices_of(const program::PartPlan& plan, std::uint32_t index);

/// "gang 2 of stamp 7 on island 0".
std::string gang_name(IslandId island, Stamp stamp, std::uint32_t position);

}  // namespace seaway::sim
