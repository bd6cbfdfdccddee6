// Rates and corrections of a followed counter.

#include "base/counter_line.hpp"

#include <algorithm>

namespace seaway {
namespace {

double between(std::uint64_t from, std::uint64_t to) {
  return static_cast<double>(static_cast<std::int64_t>(to - from));
}

double rate(const ClockReading& first, const ClockReading& second) {
  return between(first.ns, second.ns) / between(first.tick, second.tick);
}

}  // namespace

CounterLine CounterLine::through(const ClockReading& first, const ClockReading& second) {
  const double ns_per_tick = rate(first, second);
  return {second.tick, second.ns, ns_per_tick, 0, kLookNs / ns_per_tick};
}

CounterLine CounterLine::follow(const ClockReading& first, const ClockReading& now) const {
  CounterLine next = through(first, now);
  next.ns = at(now.tick);
  if (between(next.ns, now.ns) > kLateNsMax) next.ns = now.ns;
  const double share = between(next.ns, now.ns) / kLookNs;
  next.correction = std::clamp(share, -kCorrectionMax, kCorrectionMax) * next.ns_per_tick;
  return next;
}

std::uint64_t CounterLine::at(std::uint64_t now) const {
  const double ticks = std::max(0.0, between(tick, now));
  const double elapsed = ticks * ns_per_tick + std::min(ticks, ticks_per_look) * correction;
  return ns + static_cast<std::uint64_t>(elapsed);
}

bool CounterLine::is_look_due(std::uint64_t now) const {
  return between(tick, now) > ticks_per_look;
}

}  // namespace seaway
