// Whether what clients of a key-value store saw could have happened one after the other.

#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "seaway/status.hpp"

namespace seaway::demos {

/// One question of one client to the store, and its answer. Keys that were never put have value 0.
struct Operation {
  enum class Kind : std::uint8_t {
    kGet,   // Saw `result`.
    kPut,   // Wrote `value`.
    kSwap,  // Wrote `value` if there was `expected`; `result` is 1 if so, else 0.
  };

  Kind kind = Kind::kGet;
  std::uint64_t key = 0;
  std::int64_t value = 0;
  std::int64_t expected = 0;
  std::int64_t result = 0;
  std::uint32_t client = 0;
  /// When it was asked and answered, by one clock that all clients share.
  std::uint64_t begin = 0;
  std::uint64_t end = kNever;

  /// Never answered: it may have happened at any time after its begin, or not at all.
  static constexpr std::uint64_t kNever = UINT64_MAX;
};
/// "client 2: swap key 3 from 7 to 9 = 1 [14, 20]".
std::string to_string(const Operation& operation);

/// What many clients write down while they ask. Thread-safe. Its clock counts what was written: of
/// two operations one came before the other only if it had been answered when that was asked.
class History {
 public:
  /// Call before asking; gives the operation's number.
  std::size_t begin(Operation operation);
  /// Call after the answer. An operation without an end may have happened or not.
  void end(std::size_t number, std::int64_t result);

  std::vector<Operation> operations() const;

 private:
  mutable std::mutex mutex_;  // Guards what follows.
  std::uint64_t now_ = 0;
  std::vector<Operation> operations_;
};

/// Whether there is an order of all operations that keeps the order of those that did not overlap,
/// and in which each sees what the ones before it have left: the algorithm of Wing and Gong with
/// the memory of Lowe, for each key alone, as keys do not touch each other. Time: linear where
/// clients are few; exponential in the number of those that overlap at worst.
///
/// Errors: kDataCorruption with the key, the longest order that was found, and what stands next and
/// cannot follow.
Status check_linearizable(std::span<const Operation> history);

}  // namespace seaway::demos
