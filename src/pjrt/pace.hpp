// Pace: how long launches of one program take, as the last ones tell.

#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <limits>

namespace seaway::pjrt {

/// Thread-safe; launches that end at once may count as one.
class Pace {
 public:
  static constexpr std::uint64_t kUnknown = std::numeric_limits<std::uint64_t>::max();

  void took(std::uint64_t time_ns) {
    const std::uint32_t number = count_.fetch_add(1, std::memory_order_relaxed);
    last_[number % last_.size()].store(time_ns, std::memory_order_relaxed);
  }

  /// The longest of the last four but for one, which something else may have interrupted; kUnknown
  /// before there were three.
  std::uint64_t expected_ns() const {
    std::uint64_t longest_ns = 0, next_ns = 0;
    for (const auto& one : last_) {
      const std::uint64_t time_ns = one.load(std::memory_order_relaxed);
      next_ns = std::max(next_ns, std::min(time_ns, longest_ns));
      longest_ns = std::max(longest_ns, time_ns);
    }
    return next_ns;
  }

 private:
  std::array<std::atomic<std::uint64_t>, 4> last_ = {kUnknown, kUnknown, kUnknown, kUnknown};
  std::atomic<std::uint32_t> count_ = 0;
};

}  // namespace seaway::pjrt
