// PartRun: what a host knows of one part of one run, from its launch until nothing of it is left.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/ids.hpp"
#include "device/host_plan.hpp"
#include "device/shard_memory.hpp"
#include "device/shard_sums.hpp"
#include "transport/near_memory.hpp"

namespace seaway::device {

/// The far end of a value that another island waits for.
struct SendState {
  enum class State : std::uint8_t { kWaiting, kSent, kClosed };
  State state = State::kWaiting;
  bool is_armed = false;    // The receiver owns room.
  bool is_near = false;     // It reads this host's memory.
  bool is_made = false;     // The gang that makes it is done, or will never run.
  bool is_read = false;     // Its shards are on their way from annexes, to `moved`.
  bool is_here = false;     // They have come with the end of its gang, to where the others are.
  bool is_offered = false;  // The receiver fetches it.
  HostId receiver = 0;
  ShardMemory moved;  // Served from here: host room that an overtaker reserved (rule 3b).
  std::optional<transport::NearMemory::Place> lent;  // The receiver reads it there.
};

/// The near end of a value that comes from another island.
struct ReceiveState {
  enum class State : std::uint8_t { kIdle, kArmed, kCopying, kClosed };
  State state = State::kIdle;
  bool has_value = false;
  bool is_fetched = false;                      // kCopying: over the data plane.
  std::shared_ptr<const transport::Loan> kept;  // It lies where its sender made it,
  std::uint32_t readers = 0;                    // for so many gangs that are not done.
};

/// Donated memory that nobody may write to: it stays until the output that it was meant for is
/// made.
struct Donor {
  std::uint32_t output = 0;
  std::shared_ptr<const void> memory;
};

struct PartRun {
  const HostPlan* plan = nullptr;
  Stamp stamp = 0;
  RunId run = 0;
  TenantId tenant = 0;
  std::vector<ArrayId> args, outputs;
  std::vector<function::ShardedBuffer> tables;  // Blocks, arguments, outputs; see ValueSlot.
  std::vector<char> is_bound;                   // Per table: looked up, and its room taken;
  std::vector<const Room*> rooms;               // the same, with annexes: null where all is here.
  std::vector<ShardMemory> blocks;              // Per block; empty until first needed.
  std::vector<std::uint64_t> block_bytes;       // Charged per device of each block, now.
  std::vector<std::uint64_t> block_needs;       // Of them, for gangs that are not done.
  std::vector<std::shared_ptr<const ShardMemory>> kept;  // Of arguments poisoned meanwhile.
  std::vector<ShardSums> sums;                           // Per value; empty without checksums.
  std::vector<Donor> donors;
  std::vector<SendState> sends;
  std::vector<ReceiveState> receives;
  Status failure;               // Why its gangs are no-ops, if it has failed.
  Status cancel_cause;          // Why it will be cancelled, if that has been said.
  std::uint64_t room_mark = 0;  // Its room begins behind all entries before this one.
  std::uint32_t gangs_placed = 0;
  std::uint32_t gangs_done = 0;
  std::uint32_t gangs_ran = 0;   // Of gangs_done, those of a uniform plan that were no no-ops.
  std::uint64_t busy_ns = 0;     // Of a uniform plan's gangs, for its devices.
  std::uint32_t edges_open = 0;  // Sends and receives that are not closed.
  bool is_admitted = false;
  bool is_armed = false;       // Its receives have been armed or declined.
  bool is_cancelled = false;   // Nothing more will be placed.
  bool is_fencing = false;     // Cancelled, and the scheduler waits for its edges to close.
  Stamp beside = 0;            // Of the order that admitted it: for a scheduler that begins anew.
  bool has_overtaken = false;  // It was admitted before an earlier part.
  bool has_moved = false;      // Its sends were ordered into host room.
  bool is_moving = false;      // The scheduler waits for its sends to be in host room.
  bool is_reported = false;    // Its failure has been told to the scheduler.
  bool is_ended = false;       // Its gangs are over: blocks freed when the edges are.
  bool acknowledge = false;

  bool has_failed() const { return !failure.ok(); }
};

}  // namespace seaway::device
