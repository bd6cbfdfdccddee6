// AnnexCore: the memory and the devices that one process lends to the host of its island.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "device/annex_order.hpp"
#include "device/annexes.hpp"
#include "device/backend.hpp"
#include "device/exchanges.hpp"
#include "device/gang_stages.hpp"
#include "store/arena.hpp"
#include "store/slab.hpp"

namespace seaway::device {

/// Does what the island's host orders, in the order of ordering, and decides nothing: it knows of
/// no program, no client and no budget. Gangs run beside, in step with the island's other hosts.
///
/// The pure core of an annex: control thread only, never blocks. The backend outlives it.
class AnnexCore {
 public:
  /// Host `host` of its island, from 1. `peer` is what `near` and `data`, which may be null, call
  /// the others.
  AnnexCore(std::uint32_t host, Backend& backend, transport::NearMemory* near = nullptr,
            transport::DataPlane* data = nullptr,
            std::function<transport::DataPeer(std::uint32_t host)> peer = {},
            const ExchangeOptions& options = {});
  /// What is lent stays as it is.
  ~AnnexCore();

  /// Follows one order. Errors: kProtocolError for what its host never asks for, such as a room
  /// that is not there or bytes behind its end; kResourceExhausted without memory. Nothing of a
  /// wrong order was done, and nothing that follows it means anything.
  Status follow(AnnexOrder order);

  void add_function(FunctionId id, std::shared_ptr<const function::Executable> executable) {
    functions_[id] = std::move(executable);
  }

  /// The first host is another one, in its life `life` or later: all rooms and functions are gone.
  /// What still runs ends unheard.
  void begin_anew(std::uint32_t life);

  Exchanges& exchanges() { return exchanges_; }

  /// What was asked for, in the order of being ready, and what else its host is to know; the caller
  /// takes it.
  std::vector<AnnexAnswer>& answers();

  std::size_t room_count() const { return rooms_.size(); }
  std::size_t function_count() const { return functions_.size(); }
  /// Of its rooms, and of exchanges that are under way.
  std::uint64_t used_bytes() const { return slabs_.live_bytes(); }

 private:
  struct Memory {
    store::Slab slab;
    std::uint32_t first = 0, shards = 0;
    std::uint64_t shard_bytes = 0;
  };
  struct Running {  // What a gang works with.
    std::vector<std::shared_ptr<Memory>> rooms;
    std::shared_ptr<const function::Executable> executable;
  };

  Status make(const MakeRoom& order);
  Status drop(const DropRoom& order);
  Status write(const WriteRoom& order);
  Status read(const ReadRoom& order);
  void answer_read(const ReadRoom& order, const std::shared_ptr<Memory>& memory);
  Status run(const RunGang& order);
  Result<std::shared_ptr<Memory>> find(RoomId room) const;
  /// The room, if the range is within it.
  Result<std::shared_ptr<Memory>> find(const RoomRange& range) const;
  /// Where a stage finds its shards of a value of `bytes` bytes each; keeps the room for it.
  Result<function::ShardedBuffer> place(const RoomPlace& place, std::uint64_t bytes,
                                        const HostShare& own, Running& kept) const;

  const std::uint32_t host_;
  store::HeapAllocator heap_;
  store::Arena arena_;
  store::SlabCache slabs_;
  std::unordered_map<FunctionId, std::shared_ptr<const function::Executable>> functions_;
  std::unordered_map<RoomId, std::shared_ptr<Memory>> rooms_;
  std::vector<AnnexAnswer> answers_;
  transport::NearMemory* const near_;
  const std::function<transport::DataPeer(std::uint32_t host)> peer_;
  LoanQueue lent_;                // With answers.
  AnnexAnswer::News news_;        // As it is now,
  AnnexAnswer::News said_;        // and as its host knows it.
  std::size_t running_ = 0;       // Gangs.
  std::uint64_t generation_ = 0;  // Of the first host: answers for others are not given.
  Exchanges exchanges_;
  GangStages stages_;
};

}  // namespace seaway::device
