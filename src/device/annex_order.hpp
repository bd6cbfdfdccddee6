// AnnexOrder: what the host of an island asks of its other hosts, and what they answer.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/ids.hpp"
#include "function/executable.hpp"
#include "seaway/status.hpp"

namespace seaway::device {

/// Names the memory of one value, or of a block of them, on an annex. Never used again.
using RoomId = std::uint64_t;

/// Of some shards of a room the same bytes of each.
struct RoomRange {
  RoomId room = 0;
  std::uint32_t first = 0, shards = 0;
  std::uint64_t offset = 0, bytes = 0;
};

/// A value of a gang: behind `offset` bytes of a room's shards. Room 0: it has no bytes.
struct RoomPlace {
  RoomId room = 0;
  std::uint64_t offset = 0;
};

struct MakeRoom {
  RoomId room = 0;
  std::uint32_t first = 0, shards = 0;  // Of a value's shards those that the annex has.
  std::uint64_t shard_bytes = 0;
};
struct DropRoom {
  RoomId room = 0;
};
struct WriteRoom {
  RoomRange range;
  std::vector<std::byte> data;  // One shard's bytes behind the other's.
};
struct ReadRoom {
  std::uint64_t ticket = 0;
  RoomRange range;
};
/// One stage of a gang; no exchange.
struct RunStage {
  std::uint64_t ticket = 0;
  FunctionId function = 0;
  std::uint32_t stage = 0;
  bool has_conflict = false;
  function::ShardRange shards;
  std::uint64_t cost_ns = 0;  // Of each shard, as estimated.
  std::vector<RoomPlace> operands, outputs;
  RoomPlace scratch;
};
struct ForgetFunction {
  FunctionId function = 0;
};

/// They are followed as they come. Only a stage takes time: what is asked for meanwhile does not
/// touch the rooms that it works on.
using AnnexOrder = std::variant<MakeRoom, DropRoom, WriteRoom, ReadRoom, RunStage, ForgetFunction>;

/// To a read or a stage.
struct AnnexAnswer {
  std::uint64_t ticket = 0;
  Status status = {};
  std::vector<std::byte> data = {};  // What was read, as WriteRoom's.
};

}  // namespace seaway::device
