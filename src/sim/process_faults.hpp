// Process faults: which processes and links of a world fail, when and how, drawn from the seed.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cluster/shape.hpp"
#include "sim/fault_line.hpp"
#include "transport/simulated_wire.hpp"

namespace seaway::sim {

/// One fault, from its beginning to its end.
struct ProcessFault {
  enum class Kind : std::uint8_t {
    kKill,         // SIGKILL; it begins anew after `duration_ns`.
    kKillMachine,  // The same for the scheduler and the host of an island at once.
    kPause,        // SIGSTOP, and SIGCONT after `duration_ns`: it comes back as a zombie.
    kIsolate,      // Nothing gets to it or from it for `duration_ns`.
    kDeafen,       // Nothing gets to it, but it is heard: half a partition.
    kMute,         // It hears others, and nobody hears it.
    kCutPair,      // It and `other` cannot reach each other, while all others reach both.
    kClockJump,    // Its clock is moved by `amount` ns.
    kClockRate,    // Its clock runs faster by `amount` millionths.
    kCrashLoop,    // SIGKILL again and again, `amount` ns after each other; it begins anew at once.
    kDrain,        // No fault: nothing new is to come to the island of a host. It excuses nothing.
  };
  Kind kind = Kind::kKill;
  std::uint64_t at_ns = 0;
  std::uint64_t duration_ns = 0;
  cluster::RoleName target = {};
  cluster::RoleName other = {};
  std::int64_t amount = 0;
  std::uint32_t number = 0;  // Among those of its world.

  /// "kill#2".
  std::string name() const;
};
std::string_view to_string(ProcessFault::Kind kind);
constexpr std::size_t kProcessFaultKinds = 11;

/// "wire cut": those that happen at all.
std::vector<FaultLine> lines_of(const transport::WireFaults& faults);

/// All faults of one world. A value. After `end_ns` everything is whole again and stays so.
struct ProcessFaults {
  std::vector<ProcessFault> faults;  // By time.
  transport::WireOptions wires;
  std::uint64_t end_ns = 0;

  /// "kill#2", "wire cut", and so on.
  std::vector<FaultLine> lines() const;
  /// ", kill of the host of island 1 at 12 ms for 100 ms, wires of .. to .. ns".
  std::string to_string() const;
  /// Of what is left.
  void set_end();
};

/// Each seed switches some kinds off and others on (swarm testing, Groce et al., ISSTA 2012). Each
/// fault has a random stream of its own: without one of them all others are as they were. About a
/// third of them come while the cluster recovers from the one before.
/// Where islands have several hosts, what strikes a host strikes any of them.
ProcessFaults make_process_faults(std::uint64_t seed, const cluster::Shape& shape,
                                  std::uint32_t clients, bool is_wild = false);

}  // namespace seaway::sim
