// Drawing the faults of hosts, and doing them.

#include "sim/host_faults.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "base/random.hpp"
#include "sim/simulation.hpp"

namespace seaway::sim {
namespace {

using Kind = HostFault::Kind;

constexpr std::uint64_t kMonkeyStream = 0x6d6f6e6b65790000;
constexpr std::uint64_t kWardenStream = 0x77617264656e0000;
constexpr std::uint64_t kClockStream = 0x636c6f636b730000;
/// Most that a clock gains or loses: a fifth.
constexpr std::int64_t kGainMax = 200'000;
constexpr std::uint64_t kRoundsMax = 6;  // Of each kind of fault.

std::uint32_t draw_host(std::uint32_t hosts, RandomStream& random) {
  return static_cast<std::uint32_t>(random.below(hosts));
}

}  // namespace

std::string HostFault::name() const {
  const char* const names[] = {"host-kill#", "host-pause#", "host-clock#"};
  return names[static_cast<std::size_t>(kind)] + std::to_string(number);
}

std::vector<HostFault> draw_kills(std::uint64_t seed, std::uint32_t hosts) {
  RandomStream random(seed, kMonkeyStream);
  std::vector<HostFault> faults(1 + random.below(kRoundsMax));
  std::uint64_t at_ns = 0;
  for (std::uint32_t i = 0; i < faults.size(); ++i) {
    faults[i].number = i;
    at_ns += random.below(50'000'000);
    faults[i].at_ns = at_ns;
    faults[i].host = draw_host(hosts, random);
  }
  return faults;
}

std::vector<HostFault> draw_pauses(std::uint64_t seed, std::uint32_t hosts) {
  RandomStream random(seed, kWardenStream);
  std::vector<HostFault> faults(1 + random.below(kRoundsMax), {.kind = Kind::kPause});
  std::uint64_t at_ns = 0;
  for (std::uint32_t i = 0; i < faults.size(); ++i) {
    faults[i].number = i;
    at_ns += random.below(40'000'000);
    faults[i].at_ns = at_ns;
    faults[i].host = draw_host(hosts, random);
    faults[i].for_ns = 1 + random.below(1 + random.below(60'000'000));
    at_ns += faults[i].for_ns;
  }
  return faults;
}

std::vector<HostFault> draw_clocks(std::uint64_t seed, std::uint32_t hosts) {
  RandomStream random(seed, kClockStream);
  std::vector<HostFault> faults(1 + random.below(kRoundsMax), {.kind = Kind::kClock});
  std::uint64_t at_ns = 0;
  for (std::uint32_t i = 0; i < faults.size(); ++i) {
    faults[i].number = i;
    at_ns += i == 0 ? 0 : random.below(50'000'000);
    faults[i].at_ns = at_ns;
    faults[i].host = draw_host(hosts, random);
    faults[i].ahead_ns = random.between(-kAheadMaxNs, kAheadMaxNs);
    faults[i].gain_ppm = random.chance(50) ? random.between(-kGainMax, kGainMax) : 0;
  }
  return faults;
}

std::vector<FaultLine> lines_of(const std::vector<HostFault>& faults) {
  std::vector<FaultLine> lines;
  for (const HostFault& fault : faults) {
    if (fault.is_left_out) continue;
    const auto ns = [](auto time) { return std::to_string(time) + " ns"; };
    const std::string host = " host " + std::to_string(fault.host);
    const std::string when = " at " + ns(fault.at_ns);
    const std::string lasts = fault.for_ns > 0 ? " for " + ns(fault.for_ns) : "";
    const std::string kill = fault.for_ns > 0 ? "kill of" : "kill or restart of";
    switch (fault.kind) {
      case Kind::kKill:
        lines.push_back(
            {fault.name(), "kill", kill + host + when + lasts, fault.at_ns, fault.for_ns});
        break;
      case Kind::kPause:
        lines.push_back(
            {fault.name(), "pause", "pause of" + host + when + lasts, fault.at_ns, fault.for_ns});
        break;
      case Kind::kClock:
        lines.push_back({fault.name(), "clock",
                         "clock of" + host + " " + ns(fault.ahead_ns) + " ahead, gains " +
                             std::to_string(fault.gain_ppm) + " ppm" + when,
                         fault.at_ns});
        break;
    }
  }
  return lines;
}

void HostTester::spawn() {
  for (const auto& [kind, name] :
       {std::pair(Kind::kKill, "monkey"), std::pair(Kind::kPause, "warden"),
        std::pair(Kind::kClock, "clockmaker")}) {
    const bool has = std::any_of(
        faults_.begin(), faults_.end(),
        [kind = kind](const HostFault& fault) { return fault.kind == kind && !fault.is_left_out; });
    if (has) world_.spawn(name, [this, kind = kind] { do_all(kind); });
  }
}

void HostTester::do_all(Kind kind) {
  for (const HostFault& fault : faults_) {
    if (fault.kind != kind || fault.is_left_out) continue;
    if (hooks_.is_over()) return;
    world_.sleep(std::chrono::nanoseconds(fault.at_ns) - world_.now());
    if (hooks_.is_over()) return;
    begin(fault);
  }
}

void HostTester::begin(const HostFault& fault) {
  switch (fault.kind) {
    case Kind::kKill:
      return kill(fault);
    case Kind::kPause:
      return pause(fault);
    case Kind::kClock:
      return set_clock(fault);
  }
}

void HostTester::kill(const HostFault& fault) {
  std::uint32_t alive = 0;
  for (std::uint32_t h = 0; h < world_.hosts(); ++h) alive += world_.is_alive(h) ? 1 : 0;
  if (!world_.is_alive(fault.host)) {
    // With a time of its own it is a kill, and somebody else has been quicker.
    if (fault.for_ns == 0) expect_ok(world_.restart_host(fault.host));
  } else if (alive > 1) {
    hooks_.begins(fault);
    expect_ok(world_.kill_host(fault.host));
    if (fault.for_ns == 0) return;
    world_.sleep(std::chrono::nanoseconds(fault.for_ns));
    if (!world_.is_alive(fault.host)) expect_ok(world_.restart_host(fault.host));
  }
}

void HostTester::pause(const HostFault& fault) {
  if (!world_.is_alive(fault.host) || world_.is_paused(fault.host)) return;
  hooks_.begins(fault);
  expect_ok(world_.pause_host(fault.host));
  const std::uint32_t life = world_.life(fault.host);
  world_.sleep(std::chrono::nanoseconds(fault.for_ns));
  const bool is_same = world_.is_alive(fault.host) && world_.life(fault.host) == life;
  if (is_same && world_.is_paused(fault.host)) expect_ok(world_.resume_host(fault.host));
}

void HostTester::set_clock(const HostFault& fault) {
  if (!world_.is_alive(fault.host)) return;
  hooks_.begins(fault);
  expect_ok(
      world_.set_host_clock(fault.host, std::chrono::nanoseconds(fault.ahead_ns), fault.gain_ppm));
}

void HostTester::expect_ok(const Status& status) const {
  if (!status.ok()) hooks_.failed(status);
}

}  // namespace seaway::sim
