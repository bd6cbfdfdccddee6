// LentShards: shards that a host of an island reads in the memory of another one, beside their
// words.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

#include "function/executable.hpp"
#include "seaway/status.hpp"
#include "transport/near_memory.hpp"

namespace seaway::device {

/// The same bytes of several shards: shard s of them lies s * `stride` behind where the loan
/// begins.
struct LentShards {
  transport::NearMemory::Place place;
  std::uint64_t stride = 0;

  bool any() const { return place.turn != 0; }
};

/// What one host lends to one other, in the order of lending. The other one copies it as it hears
/// of it, in that order, and says now and then how many it has copied in all: so that needs no word
/// of its own for each. Until then owners are kept, and whoever lends keeps what lies there as it
/// is.
///
/// A pure core; not thread-safe. When it ends what is lent stays as it is.
class LoanQueue {
 public:
  /// `near` null: nothing can be lent. It outlives this.
  explicit LoanQueue(transport::NearMemory* near) : near_(near) {}

  /// None: they lie where nothing can be lent, or too much is lent.
  std::optional<LentShards> lend(function::ShardedBuffer from, std::uint32_t shards,
                                 std::uint64_t bytes, std::shared_ptr<const void> owner);
  /// So many were copied, in all. Errors: kProtocolError when that is less than before, or more
  /// than were lent.
  Status taken(std::uint64_t count);
  /// Nobody copies any of it any more. Counts begin anew.
  void take_back_all();
  bool is_empty() const { return loans_.empty(); }

 private:
  struct Lent {
    transport::NearMemory::Place place;
    std::shared_ptr<const void> owner;
  };
  transport::NearMemory* const near_;
  std::deque<Lent> loans_;
  std::uint64_t taken_ = 0;
};

/// Copies `bytes` bytes of each of `shards` shards that `peer` lends to `to`. Errors:
/// kProtocolError when they are not within what is lent; kInputLost when its memory is gone, or was
/// taken back.
Status copy_lent(const transport::NearMemory* near, HostId peer, const LentShards& lent,
                 std::uint32_t shards, std::uint64_t bytes, function::ShardedBuffer to);

}  // namespace seaway::device
