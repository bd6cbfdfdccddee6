// NearMemory: what a host lends to other hosts of its machine, and reads of theirs.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/ids.hpp"
#include "seaway/status.hpp"

namespace seaway::transport {

/// A run of memory that several processes have; `owner` keeps it.
struct SharedRegion {
  std::span<std::byte> bytes;
  std::shared_ptr<void> owner;
};

/// Bytes of another process, for as long as that lends them. It takes them back when it gives its
/// reader up, who may not know of it yet: whoever has read them looks whether he still had them.
/// Thread-safe.
class Loan {
 public:
  Loan(std::shared_ptr<void> owner, const std::atomic<std::uint64_t>& turn, std::uint64_t of)
      : owner_(std::move(owner)), turn_(turn), of_(of) {}

  /// Whether all that was read before this call was read while it was lent.
  bool holds() const {
    std::atomic_thread_fence(std::memory_order_acquire);
    return turn_.load(std::memory_order_relaxed) == of_;
  }

 private:
  const std::shared_ptr<void> owner_;
  const std::atomic<std::uint64_t>& turn_;
  const std::uint64_t of_;
};

/// One host's memory that hosts of its machine can read, and theirs. The region of each begins with
/// a table of turns, one of each loan: an odd number while it is lent, and one that is never used
/// again (a sequence lock; its fences are those of Boehm, Can Seqlocks Get Along With Programming
/// Language Memory Models?, MSPC 2012, section 4).
///
/// Hosts trust each other: what one says of its memory is not looked at twice, but for where it
/// ends. Not thread-safe. A pure core; regions come from whoever makes it.
class NearMemory {
 public:
  /// So many values may be lent at once; more are sent.
  static constexpr std::uint32_t kLoansMax = 4096;
  static constexpr std::size_t kTableBytes = kLoansMax * sizeof(std::atomic<std::uint64_t>);

  /// Asks for the region of host `peer` in its life `life`; `done` is called once, now or later,
  /// or never when this has ended. An error: it cannot be had.
  using Fetch = std::function<void(HostId peer, std::uint32_t life,
                                   std::function<void(Result<SharedRegion>)> done)>;

  /// `own`: zeros, aligned to 64 bytes; smaller than its table: nothing is lent.
  NearMemory(SharedRegion own, Fetch fetch);

  /// What can be lent: whoever makes values cuts them from here.
  std::span<std::byte> lendable() const;

  struct Place {
    std::uint64_t offset = 0;  // In the lender's region,
    std::uint64_t bytes = 0;
    std::uint32_t slot = 0;  // and the loan's turn in its table.
    std::uint64_t turn = 0;  // 0: nothing is lent.
  };
  /// Lends `bytes` from `base` on, which stay as they are until it is taken back. Nothing: they are
  /// not lendable, all of them, or too much is lent.
  std::optional<Place> lend(const std::byte* base, std::size_t bytes);
  /// Once for each loan. From here on they may change.
  void take_back(const Place& place);
  std::size_t lent() const { return lent_; }
  /// All that was ever lent.
  std::uint64_t loans() const { return loans_; }

  /// A host is there, in its life `life`.
  void meet(HostId peer, std::uint32_t life);
  /// It is lost: what it has lent is still there for who reads it now.
  void lose(HostId peer);
  /// Whether what it lends can be read here.
  bool reads(HostId peer) const;

  struct Read {
    std::byte* base = nullptr;  // Nothing may be written there.
    std::shared_ptr<const Loan> loan;
  };
  /// Errors: kInputLost when that host's memory is not to be had any more; kProtocolError for what
  /// is not within it.
  Result<Read> read(HostId peer, const Place& place) const;

 private:
  struct Peer {
    std::uint32_t life = 0;
    SharedRegion region;  // Empty: it was asked for.
  };
  using Turn = std::atomic<std::uint64_t>;
  Turn* turns() const { return reinterpret_cast<Turn*>(own_.bytes.data()); }

  const SharedRegion own_;
  const Fetch fetch_;
  std::vector<std::uint32_t> slots_;  // That are free.
  std::size_t lent_ = 0;
  std::uint64_t loans_ = 0;
  std::map<HostId, Peer> peers_;
  std::shared_ptr<bool> is_here_;
};

}  // namespace seaway::transport
