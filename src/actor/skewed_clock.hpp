// SkewedClock: the clock of one machine: another clock at a rate of its own, and ahead or behind.

#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "base/check.hpp"
#include "base/clock.hpp"

namespace seaway::actor {

/// A clock that is wrong: it reads `true * (1 + rate_ppm / 1e6) + offset_ns`, rounded down.
struct ClockSkew {
  std::int64_t rate_ppm = 0;   // More than -1'000'000: 100 gains 0.1 ms in each second.
  std::int64_t offset_ns = 0;  // Negative: behind.
};

/// Monotonic whatever it is set to: set back, it stands still until it would have come so far
/// again. Exact: whole nanoseconds, without an error that adds up. Not thread-safe.
class SkewedClock final : public Clock {
 public:
  /// Reads as `base`, which it borrows for its life, until it is set.
  explicit SkewedClock(const Clock& base) : base_(base) {}

  std::uint64_t now_ns() const override { return is_true_ ? base_.now_ns() : read(base_.now_ns()); }

  void set(ClockSkew skew) {
    SEAWAY_CHECK(skew.rate_ppm > -kMillion, skew.rate_ppm, "a clock does not run backwards");
    floor_ns_ = now_ns();
    skew_ = skew;
    is_true_ = skew.rate_ppm == 0 && skew.offset_ns == 0 && floor_ns_ <= base_.now_ns();
  }

  /// What `base` says, now or later, as soon as this clock says `at_ns`; nothing: it never will.
  std::optional<std::uint64_t> base_ns_at(std::uint64_t at_ns) const {
    if (is_true_) return at_ns;
    const std::uint64_t base_ns = base_.now_ns();
    if (read(base_ns) >= at_ns) return base_ns;
    const __int128_t scaled = (static_cast<__int128_t>(at_ns) - skew_.offset_ns) * kMillion;
    const __int128_t rate = kMillion + skew_.rate_ppm;
    const __int128_t found = (scaled + rate - 1) / rate;
    if (found > std::numeric_limits<std::uint64_t>::max()) return std::nullopt;
    return static_cast<std::uint64_t>(found);
  }

 private:
  static constexpr std::int64_t kMillion = 1'000'000;

  std::uint64_t read(std::uint64_t base_ns) const {
    const __int128_t rate = static_cast<__int128_t>(kMillion) + skew_.rate_ppm;
    const __int128_t skewed = static_cast<__int128_t>(base_ns) * rate / kMillion + skew_.offset_ns;
    return static_cast<std::uint64_t>(
        std::clamp<__int128_t>(skewed, floor_ns_, std::numeric_limits<std::uint64_t>::max()));
  }

  const Clock& base_;
  ClockSkew skew_;
  std::uint64_t floor_ns_ = 0;  // What it said when it was set.
  bool is_true_ = true;
};

}  // namespace seaway::actor
