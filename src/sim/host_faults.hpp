// Host faults: what is done to the hosts of users' actors, and whoever does it.

#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "seaway/status.hpp"
#include "sim/fault_line.hpp"

namespace seaway::sim {

class SimulatedWorld;

/// What is done to one host of a world, one of its kind after the other.
struct HostFault {
  enum class Kind : std::uint8_t {
    kKill,   // Its process is killed, and is back after `for_ns`; 0: with the next kill of it.
    kPause,  // It stands still for `for_ns`.
    kClock,  // Its clock is `ahead_ns`, and gains.
  };
  Kind kind = Kind::kKill;
  std::uint32_t number = 0;  // Among those of its kind.
  std::uint64_t at_ns = 0;   // Or as soon as the one before is over.
  std::uint32_t host = 0;
  std::uint64_t for_ns = 0;
  std::int64_t ahead_ns = 0, gain_ppm = 0;
  bool is_left_out = false;

  /// "host-kill#0".
  std::string name() const;
};

/// Most that a clock of a drawn fault is ahead or behind.
constexpr std::int64_t kAheadMaxNs = 20'000'000;

/// Each draws some of one kind from a stream of its own. Those of drawn kills have no `for_ns`.
std::vector<HostFault> draw_kills(std::uint64_t seed, std::uint32_t hosts);
std::vector<HostFault> draw_pauses(std::uint64_t seed, std::uint32_t hosts);
std::vector<HostFault> draw_clocks(std::uint64_t seed, std::uint32_t hosts);

/// Those that are not left out.
std::vector<FaultLine> lines_of(const std::vector<HostFault>& faults);

/// Does the faults to the hosts of a simulation, one body for each kind. Outlives its bodies.
class HostTester {
 public:
  struct Hooks {
    std::function<bool()> is_over;  // Nobody is there any more who could notice.
    std::function<void(const HostFault& fault)> begins;  // A fault that is really done.
    std::function<void(const Status& status)> failed;    // What cannot fail has.
  };
  HostTester(SimulatedWorld& world, const std::vector<HostFault>& faults, Hooks hooks)
      : world_(world), faults_(faults), hooks_(std::move(hooks)) {}

  void spawn();

 private:
  void do_all(HostFault::Kind kind);
  void begin(const HostFault& fault);
  void kill(const HostFault& fault);
  void pause(const HostFault& fault);
  void set_clock(const HostFault& fault);
  void expect_ok(const Status& status) const;

  SimulatedWorld& world_;
  const std::vector<HostFault>& faults_;
  const Hooks hooks_;
};

}  // namespace seaway::sim
