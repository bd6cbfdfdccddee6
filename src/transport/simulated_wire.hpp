// SimulatedWires: connections between simulated processes, which break, stall, repeat and garble
// what they carry as a seed says.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/random.hpp"
#include "transport/link.hpp"
#include "transport/wires.hpp"

namespace seaway::transport {

/// How often what goes wrong with one write, in a thousand.
struct WireFaults {
  std::uint32_t cut = 0;        // Both ends lose the connection, perhaps in the middle of a packet.
  std::uint32_t half_open = 0;  // The writer's end does, and the other one hears nothing of it.
  std::uint32_t flip = 0;       // One to three bits arrive changed.
  std::uint32_t repeat = 0;     // An earlier write arrives again behind this one.
};

struct WireOptions {
  std::uint64_t seed = 0;
  std::uint64_t latency_min_ns = 10'000;
  std::uint64_t latency_max_ns = 2'000'000;
  std::uint64_t bytes_per_second = 0;  // Of each direction between two processes. 0: unlimited.
  /// When the end of a half-open connection notices that nobody is at the other one. 0: never.
  std::uint64_t keepalive_ns = 0;
  WireFaults faults;
};

/// Each write arrives as a whole or, where it is cut, a first part of it. All random draws are of
/// streams that belong to one direction, one for each kind of fault, so that one fault less leaves
/// the others where they were. Single-threaded; ports are called from what was scheduled, never
/// from within a call. Clock and schedule outlive it.
class SimulatedWires final : public Wires {
 public:
  using Schedule = std::function<void(std::uint64_t at_ns, std::function<void()> work)>;
  struct Counts {
    std::uint64_t connections = 0, writes = 0, bytes = 0;
    std::uint64_t cuts = 0, half_opens = 0, flips = 0, repeats = 0, lost = 0;
  };

  SimulatedWires(std::uint32_t processes, WireOptions options, const Clock& clock,
                 Schedule schedule);
  ~SimulatedWires() override;

  void attach(ProcessId self, ProcessId peer, WirePort port) override;
  /// The process is gone: its connections close, what it wrote last arrives or not, and whoever
  /// tries to reach it is refused; with its machine (`is_silent`) nobody hears anything of either.
  void detach(ProcessId self, bool is_silent);

  /// There is a connection of both, as if it had been made before; nobody is told.
  void join(ProcessId self, ProcessId peer);
  /// Over a blocked direction nobody hears of it.
  void connect(ProcessId self, ProcessId peer) override;
  void write(ProcessId self, ProcessId peer, std::vector<std::byte> bytes) override;
  void close(ProcessId self, ProcessId peer) override;
  void forget(ProcessId self, ProcessId peer) override;

  /// Nothing gets from `from` to `to` any more, and nobody is told; what is under way is lost.
  /// Until it is opened again: then what was written meanwhile has still not arrived, and only a
  /// new connection helps.
  void block(ProcessId from, ProcessId to, bool is_blocked);
  /// From now on what is written arrives as it is. What was broken before is still to be mended by
  /// those who write.
  void heal() { faults_ = {}; }

  /// Hears of each write: when it arrives, 0 if it is lost at once.
  using Watch = std::function<void(ProcessId from, ProcessId to, std::uint64_t bytes,
                                   std::uint64_t arrives_ns)>;
  void watch(Watch watch) { watch_ = std::move(watch); }

  const Counts& counts() const { return counts_; }
  /// Of everything that was written, and when it was to arrive: equal for equal runs.
  std::uint64_t hash() const { return hash_; }

 private:
  /// One process's end of the line to another one.
  struct End {
    End(std::uint64_t seed, ProcessId self, ProcessId peer, LinkOptions options);
    WirePort port;
    bool is_attached = false;
    bool is_open = false;
    bool is_blocked = false;       // From here to there.
    bool is_stuck = false;         // Something that was written has been lost.
    bool is_dropped = false;       // What was under way when the process died.
    std::uint32_t connection = 0;  // Which one it is, or was last.
    std::uint64_t last_arrival_ns = 0;
    LinkModel link;
    std::vector<std::vector<std::byte>> written;  // The last few, to be repeated.
    RandomStream latency, cut, half_open, flip, repeat, death;
  };
  End& end(ProcessId self, ProcessId peer) { return ends_[self * processes_ + peer]; }
  bool is_silent(ProcessId process) const { return silent_[process]; }
  std::uint64_t arrival_ns(End& from, std::size_t bytes);
  void arrive(std::uint64_t at_ns, std::function<void()> work);
  void deliver(ProcessId self, ProcessId peer, std::vector<std::byte> bytes, std::uint64_t at_ns);
  void close_at(ProcessId self, ProcessId peer, std::uint32_t connection, std::uint64_t at_ns);

  const std::uint32_t processes_;
  const WireOptions options_;
  WireFaults faults_ = options_.faults;  // Of now.
  const Clock& clock_;
  const Schedule schedule_;
  std::vector<End> ends_;
  std::vector<bool> silent_;
  std::uint32_t last_connection_ = 0;
  Watch watch_;
  Counts counts_;
  std::uint64_t hash_ = 0;
  std::shared_ptr<bool> is_here_;  // False once it has ended: what is still under way is dropped.
};

}  // namespace seaway::transport
