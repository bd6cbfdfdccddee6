// The real clock, calibrated once at start.

#include "base/clock.hpp"

#include <chrono>
#include <fstream>
#include <string>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace seaway {
namespace {

std::uint64_t system_now_ns() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::steady_clock::now().time_since_epoch())
                                        .count());
}

#if defined(__x86_64__)
bool counter_is_steady() {
  std::ifstream source("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string name;
  source >> name;
  return name == "tsc" || name == "kvm-clock";
}
#endif

}  // namespace

RealClock::RealClock() {
#if defined(__x86_64__)
  if (!counter_is_steady()) return;
  // Two milliseconds fix the rate to about one part in 10^4, enough for figures and deadlines.
  const std::uint64_t tick = __rdtsc();
  const std::uint64_t start = system_now_ns();
  std::uint64_t now = start;
  while (now - start < 2'000'000) now = system_now_ns();
  const std::uint64_t ticks = __rdtsc() - tick;
  tick_start_ = tick + ticks;
  ns_start_ = now;
  ns_per_tick_ = static_cast<double>(now - start) / static_cast<double>(ticks);
#endif
}

std::uint64_t RealClock::now_ns() const {
#if defined(__x86_64__)
  if (ns_per_tick_ > 0) {
    const auto ticks = static_cast<std::int64_t>(__rdtsc() - tick_start_);
    const double elapsed = static_cast<double>(ticks) * ns_per_tick_;
    return ns_start_ + static_cast<std::uint64_t>(elapsed < 0 ? 0 : elapsed);
  }
#endif
  return system_now_ns();
}

}  // namespace seaway
