// SpreadGang: a gang that runs on several hosts of an island, until all of them have ended it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "seaway/status.hpp"

namespace seaway::device {

struct SpreadGang {
  std::uint64_t number = 0;
  std::uint64_t begin_ns = 0;
  /// How long it may take from there. Hosts that exchange nothing are not limited: how long a
  /// native function takes is anyone's guess.
  std::uint64_t limit_ns = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t cost_ns = 0;  // Estimated, of its shards one after the other.
  std::size_t open = 0;       // Here, and on all annexes.
  Status status = {};
  bool is_behind = false;  // It was ordered before the one ahead of it had ended,
  bool has_begun = false;  // which has ended well on all hosts.
  /// The entry of the order whose first gang is behind this one, if it is another entry.
  std::optional<std::uint64_t> follower = {};
  /// Of a follower: what it works with stays until it ends, though the gang ahead may fail.
  std::vector<std::shared_ptr<const void>> kept = {};

  std::uint64_t due_ns() const {
    constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
    return !has_begun || limit_ns > kNever - begin_ns ? kNever : begin_ns + limit_ns;
  }
};

}  // namespace seaway::device
