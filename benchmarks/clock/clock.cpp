// Reads each clock in a loop, and keeps the fastest of several rounds.

#include "benchmarks/clock/clock.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

#include "base/clock.hpp"

namespace seaway::benchmarks {
namespace {

using Standard = std::chrono::steady_clock;

/// Nanoseconds of one call of `read`: the fastest round, since all noise makes rounds slower.
template <class Read>
double fastest_ns(int reads, Read read) {
  double fastest = std::numeric_limits<double>::infinity();
  for (int round = 0; round < 7; ++round) {
    std::uint64_t last = 0;
    const auto start = Standard::now();
    for (int index = 0; index < reads; ++index) last = std::max<std::uint64_t>(last, read());
    const std::chrono::duration<double, std::nano> elapsed = Standard::now() - start;
    // A result that nobody uses would let the compiler drop the loop.
    if (last == 0) return std::numeric_limits<double>::quiet_NaN();
    fastest = std::min(fastest, elapsed.count() / reads);
  }
  return fastest;
}

}  // namespace

Status run_clock(const BenchOptions& options, BenchReport& report) {
  const int reads = options.quick ? 1'000 : 1'000'000;
  const RealClock clock;

  report.add("clock.ns_per_read", fastest_ns(reads, [&clock] { return clock.now_ns(); }), "ns",
             {{"clock", "real"}});
  report.add(
      "clock.ns_per_read",
      fastest_ns(
          reads,
          [] { return static_cast<std::uint64_t>(Standard::now().time_since_epoch().count()); }),
      "ns", {{"clock", "standard"}});
  return {};
}

}  // namespace seaway::benchmarks
