// AnnexCore: the memory and the devices that one process lends to the host of its island.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "device/annex_order.hpp"
#include "device/backend.hpp"
#include "store/slab.hpp"

namespace seaway::device {

/// Does what the island's host orders, in the order of ordering, and decides nothing: it knows of
/// no program, no client and no budget. Stages that take long run beside; nobody waits for them
/// here.
///
/// The pure core of an annex: control thread only, never blocks. The backend outlives it.
class AnnexCore {
 public:
  explicit AnnexCore(Backend& backend) : backend_(backend), slabs_(heap_, {}) {}

  /// Follows one order. Errors: kProtocolError for what its host never asks for, such as a room
  /// that is not there or bytes behind its end; kResourceExhausted without memory. Nothing of a
  /// wrong order was done, and nothing that follows it means anything.
  Status follow(AnnexOrder order);

  void add_function(FunctionId id, std::shared_ptr<const function::Executable> executable) {
    functions_[id] = std::move(executable);
  }

  /// There is another host, or none: all rooms and functions are gone. What still runs ends
  /// unheard.
  void begin_anew();

  /// What was asked for, in the order of being ready; the caller takes it.
  std::vector<AnnexAnswer>& answers() { return answers_; }

  std::size_t room_count() const { return rooms_.size(); }
  std::size_t function_count() const { return functions_.size(); }
  /// Of its rooms.
  std::uint64_t used_bytes() const { return slabs_.live_bytes(); }

 private:
  struct Memory {
    store::Slab slab;
    std::uint32_t first = 0, shards = 0;
    std::uint64_t shard_bytes = 0;
  };
  struct Running {  // Rooms and function stay until it ends.
    std::vector<std::shared_ptr<Memory>> rooms;
    std::shared_ptr<const function::Executable> executable;
    std::uint64_t ticket = 0;
    bool is_wanted = true;
  };

  Status make(const MakeRoom& order);
  Status drop(const DropRoom& order);
  Status write(const WriteRoom& order);
  Status read(const ReadRoom& order);
  Status run(const RunStage& order);
  Result<std::shared_ptr<Memory>> find(RoomId room) const;
  /// The room, if the range is within it.
  Result<std::shared_ptr<Memory>> find(const RoomRange& range) const;
  /// Where a stage finds its shards of a value of `bytes` bytes each; keeps the room for it.
  Result<function::ShardedBuffer> place(const RoomPlace& place, std::uint64_t bytes,
                                        const function::ShardRange& shards, Running& kept) const;
  void end(std::uint64_t number, Status status);

  Backend& backend_;
  store::HeapAllocator heap_;
  store::SlabCache slabs_;
  std::unordered_map<FunctionId, std::shared_ptr<const function::Executable>> functions_;
  std::unordered_map<RoomId, std::shared_ptr<Memory>> rooms_;
  std::map<std::uint64_t, Running> running_;  // In the order of starting.
  std::uint64_t last_run_ = 0;
  std::vector<AnnexAnswer> answers_;
};

}  // namespace seaway::device
