// HostPlan: a PartPlan with everything looked up that running it needs: kernels, masks, copies.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "function/executable.hpp"
#include "program/part_plan.hpp"
#include "seaway/status.hpp"
#include "transfer/reshard_plan.hpp"
#include "transfer/value_stream.hpp"

namespace seaway::device {

/// A set of devices of one island, as bits.
using DeviceMask = std::vector<std::uint64_t>;

inline bool intersects(const DeviceMask& a, const DeviceMask& b) {
  std::uint64_t both = 0;
  for (std::size_t i = 0; i < a.size(); ++i) both |= a[i] & b[i];
  return both != 0;
}
inline void unite(DeviceMask& target, const DeviceMask& other) {
  for (std::size_t i = 0; i < target.size(); ++i) target[i] |= other[i];
}
inline bool covers(const DeviceMask& outer, const DeviceMask& inner) {
  std::uint64_t missing = 0;
  for (std::size_t i = 0; i < outer.size(); ++i) missing |= inner[i] & ~outer[i];
  return missing == 0;
}
DeviceMask mask_of(const std::vector<DeviceId>& devices, std::size_t device_count);

/// Type, split and place of an array, shared by all arrays that one output (or one upload spec)
/// makes.
struct ArrayDesc {
  TensorType type;
  PartitionSpec spec;
  program::DeviceGroup group;
  DeviceMask mask;
  std::uint64_t shard_bytes = 0;  // Rounded up,
  std::uint64_t data_bytes = 0;   // and of what a shard holds.
};

/// Where a value lies: table `table` of a run's buffers (its blocks, its arguments, its outputs,
/// one for values of no bytes and, if they can lie elsewhere, its receives), plus `offset`.
struct ValueSlot {
  std::uint32_t table = 0;
  std::uint64_t offset = 0;
};

/// What chains of short gangs read of each comes first.
struct GangPlan {
  const function::Executable* executable = nullptr;  // kCompute.
  std::uint32_t shards = 0;
  std::uint32_t scratch_block = program::kNone;  // Index into PartPlan::blocks.
  std::uint64_t cost_ns = 0;
  bool makes_outputs = false;
  bool makes_arrays = false;  // Outputs of its part, each of bytes and its own, and nothing else.
  bool is_simple = false;     // Compute, short enough to run in line.
  bool is_short = false;      // Moreover so short that a reading of the clock counts.
  bool is_spread = false;     // Some of its devices are annexes'.
  bool ends_step = false;     // Some block shrinks behind it.
  bool may_replay = false;    // Its function can run twice, and there is room for it.
  std::span<const ValueSlot> operands, results;
  std::span<const std::uint32_t> tables;    // All that these name, each once.
  std::span<const std::uint32_t> receives;  // That it reads, indices into receives.
  std::span<const std::uint32_t> sends;     // That it makes, indices into sends.
  ValueSlot scratch;                        // Only with a scratch block.
  DeviceMask mask;
  const transfer::ReshardPlan* reshard = nullptr;  // kReshard.
};

struct HostPlan {
  HostPlan() = default;
  HostPlan(const HostPlan&) = delete;  // Its gangs' lists lie in its own vectors.
  HostPlan& operator=(const HostPlan&) = delete;

  program::PartPlanPtr part;
  std::vector<GangPlan> gangs;
  std::vector<ValueSlot> gang_slots;        // What the gangs' lists are parts of: one behind the
  std::vector<std::uint32_t> gang_indices;  // other, as they are read.
  std::vector<ValueSlot> slots;             // Per value;
  std::vector<std::uint64_t> data_bytes;    // the same: what one shard holds.
  std::uint32_t tables = 0;
  std::uint32_t nothing = 0;  // The one of empty values that no block has room for.
  bool is_uniform = true;     // All gangs run on the same devices.
  std::vector<DeviceMask> group_masks;
  DeviceMask mask;                                               // All devices of the part.
  std::vector<std::uint32_t> block_of_group;                     // kNone: the group has no block.
  std::vector<std::unique_ptr<transfer::ReshardPlan>> reshards;  // Of kReshard gangs.
  std::vector<std::unique_ptr<transfer::ReshardPlan>> receive_plans;  // Parallel to receives.
  std::vector<std::uint32_t> receive_tables;  // The same: kNone, it never lies elsewhere;
  std::vector<std::uint32_t> receive_gangs;   // and how many gangs read it.
  /// How they are fetched, and offered; null: they are not, as they are short.
  std::vector<std::shared_ptr<const transfer::StreamTarget>> receive_targets;
  std::vector<std::shared_ptr<const transfer::ValueStream>> send_streams;  // Parallel to sends.
  std::vector<std::shared_ptr<const ArrayDesc>> outputs;                   // Parallel to outputs.
  std::vector<std::shared_ptr<const function::Executable>> executables;    // Keeps them alive.
  mutable std::uint32_t parts = 0;  // Of runs, that are here: it stays at least as long as they do.
};

/// Looks everything up. `executable` gives the compiled function, or null if there is none.
/// `reads_loans`: what is received and only read by gangs may lie where its sender made it.
/// `stream_bytes_min`: values of other islands are fetched from so many bytes on.
/// Errors: kInvalidArgument when a function is missing or its types do not fit the plan.
Result<std::unique_ptr<HostPlan>> make_host_plan(
    program::PartPlanPtr part, std::size_t device_count,
    const std::function<std::shared_ptr<const function::Executable>(FunctionId)>& executable,
    bool reads_loans = false, std::uint64_t stream_bytes_min = UINT64_MAX);

/// The same, bound to a host's functions.
using PlanMaker = std::function<Result<std::unique_ptr<HostPlan>>(program::PartPlanPtr part)>;

}  // namespace seaway::device
