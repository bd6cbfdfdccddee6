// What writing and reading envelopes share: times, and whose number is what. For the codec alone.

#pragma once

#include <cstdint>
#include <limits>

#include "app/envelope.hpp"

namespace seaway::app {

/// Whether `number` is a time: until when a member that stops may go on.
constexpr bool is_time(Kind kind) { return kind == Kind::kStop; }
/// Whether `number` is a silo.
constexpr bool is_silo(Kind kind) { return kind == Kind::kMoved || kind == Kind::kPartial; }

/// What is left until `deadline_ns`: 0 for none, at least 1 for one that has passed.
constexpr std::uint64_t remaining_ns(std::uint64_t deadline_ns, std::uint64_t now_ns) {
  if (deadline_ns == 0) return 0;
  return deadline_ns > now_ns ? deadline_ns - now_ns : 1;
}
constexpr std::uint64_t deadline_after(std::uint64_t remaining_ns, std::uint64_t now_ns) {
  if (remaining_ns == 0) return 0;
  constexpr std::uint64_t kLast = std::numeric_limits<std::int64_t>::max();
  return remaining_ns > kLast - now_ns ? kLast : now_ns + remaining_ns;
}

}  // namespace seaway::app
