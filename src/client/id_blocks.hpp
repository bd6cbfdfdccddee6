// IdBlocks: from where the sessions of one client in several processes take ids that no two of them
// ever choose.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>

#include "base/ids.hpp"

namespace seaway::client {

/// The sequences of a client's ids (base/ids.hpp, 40 bits) and its request numbers (64 bits):
///
///   ids       [1][host 12][life 16][11 bits]   the first block of the delegate in that host's
///                                              process, in that life of it
///             [0][1][block 18][20 bits]        a block that the client has leased to a delegate
///             [0][0][38 bits]                  the client's own
///   requests  [1][host 12][life 16][35 bits]   of that delegate
///             [0][63 bits]                     the client's own
///
/// Of a life the lower 16 bits. A client ends with its controller, and so does whoever works for
/// it; of the lives that one controller gives the upper bits are the same (cluster::Enrolment).
constexpr std::uint32_t kDelegateHostsMax = 1u << 12;
constexpr std::uint32_t kDelegateLivesMax = 1u << 16;
constexpr std::uint64_t kFirstIds = std::uint64_t{1} << 11;
constexpr std::uint64_t kLeaseIds = std::uint64_t{1} << 20;
constexpr std::uint64_t kLeasesMax = std::uint64_t{1} << 18;

/// Where a delegate works: a host of the cluster, and which life of its process, without the upper
/// bits.
struct DelegateName {
  std::uint32_t host = 0, life = 0;
  friend auto operator<=>(const DelegateName&, const DelegateName&) = default;
};

constexpr DelegateName delegate_name(std::uint32_t host, std::uint32_t life) {
  return {host, life & (kDelegateLivesMax - 1)};
}
/// Which life it is that `name` has, by any other one that the same controller has given.
constexpr std::uint32_t whole_life(const DelegateName& name, std::uint32_t other) {
  return (other & ~(kDelegateLivesMax - 1)) | name.life;
}

constexpr std::uint64_t kFirstBlocks = std::uint64_t{1} << (kSequenceBits - 1);
constexpr std::uint64_t kLeasedBlocks = kDelegateSequences;
static_assert(kLeasedBlocks == kFirstBlocks >> 1);
constexpr std::uint64_t kDelegateRequests = std::uint64_t{1} << 63;

constexpr std::uint64_t first_sequence_of(const DelegateName& name) {
  return kFirstBlocks | std::uint64_t{name.host} << 27 | std::uint64_t{name.life} << 11;
}
constexpr std::uint64_t leased_sequence(std::uint64_t block) { return kLeasedBlocks | block << 20; }
constexpr std::uint64_t first_request_of(const DelegateName& name) {
  return kDelegateRequests | std::uint64_t{name.host} << 51 | std::uint64_t{name.life} << 35;
}
constexpr bool is_in_first_block(std::uint64_t id) { return sequence_of(id) >= kFirstBlocks; }
/// Requires is_in_first_block().
constexpr DelegateName delegate_of_id(std::uint64_t id) {
  return {static_cast<std::uint32_t>(id >> 27 & (kDelegateHostsMax - 1)),
          static_cast<std::uint32_t>(id >> 11 & (kDelegateLivesMax - 1))};
}
/// Of an id in a leased block: which one.
constexpr std::uint64_t lease_of_id(std::uint64_t id) { return id >> 20 & (kLeasesMax - 1); }
constexpr bool is_delegates_request(std::uint64_t request) {
  return (request & kDelegateRequests) != 0;
}
constexpr DelegateName delegate_of_request(std::uint64_t request) {
  return {static_cast<std::uint32_t>(request >> 51 & (kDelegateHostsMax - 1)),
          static_cast<std::uint32_t>(request >> 35 & (kDelegateLivesMax - 1))};
}

/// The blocks of one delegate. Thread-safe.
class IdBlocks {
 public:
  explicit IdBlocks(const DelegateName& name);

  /// The first of `count` sequences that follow on; 0 when no block has so many left.
  std::uint64_t take(std::uint64_t count);
  /// One more block, of kLeaseIds from `first` on.
  void add(std::uint64_t first);
  /// Whether it is time for one more, and nobody was told so since the last came. Says so once.
  bool wants_more();

 private:
  struct Block {
    std::uint64_t next = 0, end = 0;
  };

  std::mutex mutex_;
  std::deque<Block> blocks_;        // Guarded, as what follows. The first is in use.
  std::uint64_t size_ = kFirstIds;  // Of the newest block.
  bool is_wanted_ = false;
};

}  // namespace seaway::client
