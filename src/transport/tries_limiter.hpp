// TriesLimiter: how often an address may show a token that is not accepted.

#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "seaway/status.hpp"

namespace seaway::transport {

/// Counts failed tries by address, within the last minute. It slows guessing down; with 256 bits
/// that keeps logs short and the processor free, and no secret depends on it. Not thread-safe.
class TriesLimiter {
 public:
  struct Limits {
    std::uint32_t tries_max = 10;
    std::uint64_t window_ns = 60'000'000'000;
    /// Beyond that, the address that failed last the longest ago is forgotten.
    std::size_t addresses_max = 4096;
    /// Longer addresses are told apart by so many letters of them.
    std::size_t address_bytes_max = 256;
  };

  /// `clock` outlives it.
  explicit TriesLimiter(const Clock& clock) : TriesLimiter(clock, Limits()) {}
  TriesLimiter(const Clock& clock, const Limits& limits) : clock_(clock), limits_(limits) {}

  /// Before a token is looked at. kUnauthenticated when the tries of `address` are used up, with
  /// the seconds after which there is one more.
  Status admit(std::string_view address);
  /// A token was not accepted: said at once, before any delay, so that tries at the same time
  /// count.
  void fail(std::string_view address);

  std::size_t addresses() const { return tries_.size(); }

 private:
  struct Tries {
    std::deque<std::uint64_t> times_ns;            // Of those that failed; at most tries_max.
    std::list<std::string_view>::iterator oldest;  // Its place in by_age_.
  };
  using Table = std::map<std::string, Tries, std::less<>>;

  std::string_view key_of(std::string_view address) const;

  const Clock& clock_;
  const Limits limits_;
  Table tries_;
  std::list<std::string_view> by_age_;  // Keys of tries_; who failed last comes last.
};

}  // namespace seaway::transport
