// SpillTiers: which arrays in host room lie in memory, which in a file, and which go from one to
// the other next.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/ids.hpp"
#include "store/file_space.hpp"

namespace seaway::store {

/// What a host has of arrays in host room, and what became of those that were needed again.
struct SpillCounts {
  std::uint64_t memory_bytes = 0;       // Of memory: what lies there, or is being written or read.
  std::uint64_t file_bytes = 0;         // Of the file, the same.
  std::uint64_t writes = 0, reads = 0;  // That ended well.
  std::uint64_t reads_ahead = 0;   // Of the reads, those that were over before they were needed;
  std::uint64_t reads_waited = 0;  // somebody waited for the others.
  std::uint64_t failures = 0;      // Of writes and reads.

  friend bool operator==(const SpillCounts&, const SpillCounts&) = default;
};

/// Decides; it moves nothing. Arrays come to memory (`add`). When they have more bytes than memory
/// may have, those that are needed last go to the file: first those that no launched part reads, of
/// which the one that was used longest ago, then those whose first reader has the largest stamp.
/// What a launched part reads comes back in the order of stamps, as far as there is memory, or can
/// be made by what is needed later; what is wanted comes back at once, whatever memory has, and
/// stays.
///
/// So whoever wants an array gets it after as many reads as were under way, and no transfer waits
/// for another one to make room for it (design 2.1, rule 5).
class SpillTiers {
 public:
  struct Limits {
    std::uint64_t memory_bytes = 0;
    std::uint64_t file_bytes = 0;
    // Of transfers that are under way at once:
    std::size_t writes_max = 2;
    std::size_t reads_max = 4;        // Of what is wanted,
    std::size_t reads_ahead_max = 2;  // and while there are so many nothing is read ahead.
    /// After a write that failed none begins for so long, twice as long after each further one;
    /// after so many nothing is tried again before the next array comes.
    std::uint64_t pause_ns = 50'000'000;
    std::size_t tries_max = 6;
  };
  enum class Place : std::uint8_t { kNowhere, kMemory, kWriting, kFile, kReading };
  enum class Outcome : std::uint8_t { kOk, kFailed, kCancelled };
  /// One transfer, each with a number of its own. While an array is written it lies in memory too.
  struct Transfer {
    bool is_write = false;
    std::uint64_t ticket = 0;
    ArrayId array = 0;
    std::uint64_t bytes = 0;
    std::vector<Extent> extents;  // They stay its own until end().
  };
  /// What a transfer was of. `array` 0: it has been removed meanwhile.
  struct Ended {
    ArrayId array = 0;
    Place place = Place::kNowhere;  // Where it lies now; kNowhere of a read that failed.
    bool is_first_failure = false;  // Of a write: none had failed since the last good one.
  };

  explicit SpillTiers(Limits limits);

  /// `array` of `bytes` (> 0), which is not here, has come to memory. `readers`: launched parts
  /// that will read it.
  void add(ArrayId array, std::uint64_t bytes, const std::vector<Stamp>& readers);
  /// A part that is launched reads it. Nothing for what is not here, as all that follows.
  void read_by(ArrayId array, Stamp stamp);
  /// It is to come to memory, and to stay there for `stamp` until that lets it go. 0: for clients.
  void want(ArrayId array, Stamp stamp);
  /// `stamp` neither reads nor wants it any more.
  void let_go(ArrayId array, Stamp stamp);
  /// It has left host room, or has no value any more. A transfer of it that is under way goes on.
  void remove(ArrayId array);

  /// What is to begin now; call it until it gives nothing. The caller ends each with end().
  std::optional<Transfer> next(std::uint64_t now_ns);
  /// kCancelled, of a write alone: of an array that was removed or wanted meanwhile.
  Ended end(std::uint64_t ticket, Outcome outcome, std::uint64_t now_ns);
  /// When next() is to be called again although nothing else has happened: a write that failed is
  /// tried again then.
  std::optional<std::uint64_t> resume_ns() const;

  Place place_of(ArrayId array) const;
  /// There is more in memory than may be, and that is about to change.
  bool is_over() const { return counts_.memory_bytes > limits_.memory_bytes && writes_ > 0; }
  /// Nothing is under way.
  bool is_quiet() const { return transfers_.empty(); }
  std::size_t array_count() const { return arrays_.size(); }
  const SpillCounts& counts() const { return counts_; }

 private:
  static constexpr Stamp kNever = UINT64_MAX;
  struct Entry {
    std::uint64_t bytes = 0;
    Place place = Place::kMemory;
    std::uint64_t use = 0;             // Larger: later.
    std::set<Stamp> readers, wanters;  // Of launched parts.
    std::vector<Extent> extents;       // kFile alone; else the transfer has them.
    std::uint64_t want_order = 0;      // kFile, wanted: behind those with smaller ones.
  };
  /// Larger: needed later.
  struct Need {
    Stamp stamp = 0;
    std::uint64_t age = 0;  // Of those that nobody reads.
    ArrayId array = 0;
    friend auto operator<=>(const Need&, const Need&) = default;
  };

  Need need_of(ArrayId array, const Entry& entry) const;
  void leave_lists(ArrayId array, const Entry& entry);
  void join_lists(ArrayId array, Entry& entry);
  template <class Change>
  void change(ArrayId array, Change&& change);
  std::optional<Transfer> next_read();
  std::optional<Transfer> next_write();
  std::optional<Transfer> begin_read(ArrayId array);
  std::optional<ArrayId> victim(const Need& than) const;
  bool may_write() const;
  /// What memory will have when all that is being written has left it.
  std::uint64_t bytes_to_be() const { return counts_.memory_bytes - writing_bytes_; }

  const Limits limits_;
  FileSpace space_;
  std::map<ArrayId, Entry> arrays_;
  std::map<std::uint64_t, Transfer> transfers_;
  std::set<Need> in_memory_;                 // Those that may be written,
  std::set<Need> in_file_;                   // those that may be read ahead,
  std::map<std::uint64_t, ArrayId> wanted_;  // and those that are to be read now, in this order.
  std::size_t writes_ = 0, reads_ = 0;       // Under way.
  std::uint64_t writing_bytes_ = 0;
  std::uint64_t last_ticket_ = 0, last_use_ = 0, last_want_ = 0;
  std::size_t failures_ = 0;  // Writes that failed, one after the other.
  std::uint64_t pause_until_ns_ = 0, now_ns_ = 0;
  SpillCounts counts_;
};

}  // namespace seaway::store
