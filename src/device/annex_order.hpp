// AnnexOrder: what the host of an island asks of its other hosts, and what they answer.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/ids.hpp"
#include "collective/exchange_plan.hpp"
#include "device/lent_shards.hpp"
#include "function/executable.hpp"
#include "seaway/status.hpp"
#include "store/slab.hpp"

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
  store::SlabOwner owner = 0;  // Nothing of another one's is there.
};
struct DropRoom {
  RoomId room = 0;
};
struct WriteRoom {
  RoomRange range;
  std::vector<std::byte> data = {};  // One shard's bytes behind the other's; or
  LentShards lent = {};              // they lie in the memory of whoever asks.
};
struct ReadRoom {
  std::uint64_t ticket = 0;
  RoomRange range;
  /// Whoever asks reads the annex's memory, and lets nobody write there before he has.
  bool may_be_lent = false;
};
/// A gang, of which the annex has some shards.
struct RunGang {
  std::uint64_t ticket = 0;
  std::uint64_t gang = 0;  // See ExchangeWord; the same on all hosts.
  FunctionId function = 0;
  bool has_conflict = false;
  std::vector<collective::HostShards> hosts;  // All shards of the gang.
  std::vector<RoomPlace> operands, outputs;
  RoomPlace scratch;
  TenantId tenant = 0;
  std::vector<ReadRoom> reads = {};  // At its end, of what it has made.
  std::uint64_t behind = 0;          // Starts after this gang, an earlier one; 0: at once.
};
struct ForgetFunction {
  FunctionId function = 0;
};
/// Of what was lent with answers so many have been copied, in all.
struct TakenLoans {
  std::uint64_t count = 0;
};

/// They are followed as they come. Only a gang takes time: what is asked for meanwhile does not
/// touch the rooms that it works on.
using AnnexOrder =
    std::variant<MakeRoom, DropRoom, WriteRoom, ReadRoom, RunGang, ForgetFunction, TakenLoans>;

/// To a read or a gang.
struct AnnexAnswer {
  std::uint64_t ticket = 0;  // 0: to none; `news` has changed.
  Status status = {};
  std::vector<std::byte> data = {};  // What was read, as WriteRoom's; or
  LentShards lent = {};              // where it lies in the annex's memory.
  struct News {
    std::uint32_t host = 0;   // Whose they are.
    std::uint64_t taken = 0;  // Of what was lent with writes so many have been copied, in all.
    bool reads = false;       // The annex reads the memory of its host.
    bool operator==(const News&) const = default;
  };
  News news = {};
};

}  // namespace seaway::device
