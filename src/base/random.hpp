// Random: counter-based random numbers, so that removing one draw never reshuffles the others.

#pragma once

#include <cstdint>

namespace seaway {

/// Mixes 64 bits (the finaliser of SplitMix64; Steele, Lea, Flood, "Fast splittable pseudorandom
/// number generators", OOPSLA 2014).
constexpr std::uint64_t mix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// One stream of random numbers: number n of stream (seed, name) is a pure function of the three.
/// A value: a copy continues on its own from the same place.
class RandomStream {
 public:
  constexpr RandomStream(std::uint64_t seed, std::uint64_t name)
      : key_(mix64(seed) ^ mix64(name * 0xd1342543de82ef95ULL + 1)) {}

  constexpr std::uint64_t next() { return mix64(key_ + 0x632be59bd9b4e019ULL * ++counter_); }

  /// Uniform in [0, bound). Requires bound > 0.
  constexpr std::uint64_t below(std::uint64_t bound) {
    return static_cast<std::uint64_t>((static_cast<__uint128_t>(next()) * bound) >> 64);
  }

  /// Uniform in [low, high], both included.
  constexpr std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(high - low) + 1));
  }

  /// True with probability `percent` / 100.
  constexpr bool chance(unsigned percent) { return below(100) < percent; }

 private:
  std::uint64_t key_;
  std::uint64_t counter_ = 0;
};

}  // namespace seaway
