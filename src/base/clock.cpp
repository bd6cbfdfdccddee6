// The real clock: the processor's counter, held to the system's clock.

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

std::uint64_t counter() { return __rdtsc(); }
#else
bool counter_is_steady() { return false; }
std::uint64_t counter() { return 0; }
#endif

/// Both clocks at one moment: of several tries the one that took least, as a thread may be
/// interrupted between the two.
ClockReading read_both() {
  ClockReading best;
  std::uint64_t least = UINT64_MAX;
  for (int i = 0; i < 4; ++i) {
    const std::uint64_t before = counter();
    const std::uint64_t ns = system_now_ns();
    const std::uint64_t took = counter() - before;
    if (took >= least) continue;
    least = took;
    best = {before + took / 2, ns};
  }
  return best;
}

}  // namespace

RealClock::RealClock() : uses_counter_(counter_is_steady()) {
  if (!uses_counter_) return;
  constexpr std::uint64_t kCalibrationNs = 2'000'000;
  first_ = read_both();
  while (system_now_ns() - first_.ns < kCalibrationNs) continue;
  write(CounterLine::through(first_, read_both()));
}

void RealClock::write(const CounterLine& line) const {
  tick_.store(line.tick, std::memory_order_relaxed);
  ns_.store(line.ns, std::memory_order_relaxed);
  ns_per_tick_.store(line.ns_per_tick, std::memory_order_relaxed);
  correction_.store(line.correction, std::memory_order_relaxed);
  ticks_per_look_.store(line.ticks_per_look, std::memory_order_relaxed);
}

CounterLine RealClock::line() const {
  for (;;) {
    const std::uint32_t before = sequence_.load(std::memory_order_acquire);
    const CounterLine line{
        tick_.load(std::memory_order_relaxed), ns_.load(std::memory_order_relaxed),
        ns_per_tick_.load(std::memory_order_relaxed), correction_.load(std::memory_order_relaxed),
        ticks_per_look_.load(std::memory_order_relaxed)};
    std::atomic_thread_fence(std::memory_order_acquire);
    if (before % 2 == 0 && sequence_.load(std::memory_order_relaxed) == before) return line;
  }
}

std::uint64_t RealClock::now_ns() const {
  if (!uses_counter_) return system_now_ns();
  const std::uint64_t now = counter();
  const CounterLine shown = line();
  if (shown.is_look_due(now)) look(shown);
  return shown.at(now);
}

void RealClock::look(const CounterLine& shown) const {
  const ClockReading now = read_both();
  std::uint32_t sequence = sequence_.load(std::memory_order_acquire);
  // Whoever comes second has nothing to add.
  if (sequence % 2 != 0 || tick_.load(std::memory_order_relaxed) != shown.tick) return;
  if (!sequence_.compare_exchange_strong(sequence, sequence + 1)) return;
  std::atomic_thread_fence(std::memory_order_release);
  write(shown.follow(first_, now));
  sequence_.store(sequence + 2, std::memory_order_release);
}

}  // namespace seaway
