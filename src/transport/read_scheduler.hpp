// ReadScheduler: which connection of a loop reads next, and how much before the others have a turn.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"

namespace seaway::transport {

/// Bounds what the connections of one loop do between two turns of the loop's owner, who sends
/// heartbeats and runs timers.
///
/// An authenticated connection reads `bytes_max` in one iteration of the loop and continues in the
/// next one. All of them together read for `iteration_ns`; connections that had no turn by then are
/// the first ones in the next iteration.
///
/// Work for unauthenticated callers is rationed by time: accepting, handshakes of TLS,
/// introductions and what they send after a refusal. Each read is a turn. Turns go round over the
/// callers' address groups; within a group the oldest caller goes first, so that handshakes end one
/// after another before their deadlines, however slow all of them together are. Turns last at most
/// `caller_slice_ns` in one iteration and, once `caller_credit_ns` are used up, one nanosecond of
/// the processor in `caller_share` of the clock. At the start of a slice, run-queue time of the
/// thread since the previous slice is charged as well, up to `caller_queue_factor` times the
/// processor time of that slice. On a busy machine callers get less, and the operating system
/// schedules the thread sooner.
///
/// Not thread-safe: of the loop's thread.
class ReadScheduler {
 public:
  struct Limits {
    std::size_t bytes_max = std::size_t{256} << 10;
    std::uint64_t iteration_ns = 2'000'000;
    /// So many reads of authenticated connections in an iteration come before the first look at the
    /// clock.
    std::uint32_t untimed_reads = 16;
    std::uint64_t caller_slice_ns = 500'000;
    std::uint64_t caller_credit_ns = 20'000'000;
    std::uint64_t caller_share = 4;
    /// With 1, the median call of an honest client took 3 to 5 times as long beside 16 strangers as
    /// beside the same processes without connections (2 cores); with 8, at most 1.5 times.
    std::uint64_t caller_queue_factor = 8;
  };

  /// One connection, or one listener.
  struct Reader {
    bool is_authenticated = true;
    /// Of an unauthenticated caller: see caller_group().
    std::string group = {};
    std::uint64_t age = 0;        // Set by the first wait(); lower is older.
    bool has_turn = false;        // A turn was granted and is not used yet.
    std::uint64_t iteration = 0;  // In which `bytes` were read.
    std::size_t bytes = 0;
  };

  /// Lets a connection go on. False: the connection has ended, and the turn goes to the next one.
  using Grant = std::function<bool()>;

  /// `work`: processor time of the loop's thread. `queue`: its run-queue time, read once per slice.
  /// The three clocks outlive the scheduler.
  ReadScheduler(const Clock& clock, const Clock& work, const Clock& queue)
      : ReadScheduler(clock, work, queue, Limits()) {}
  ReadScheduler(const Clock& clock, const Clock& work, const Clock& queue, const Limits& limits)
      : clock_(clock), work_(work), queue_(queue), limits_(limits) {}

  /// Whether `reader` may read now. A turn that was granted is used up by this call.
  bool may_read(Reader& reader);
  /// `reader` has read so much.
  void count(Reader& reader, std::size_t bytes);
  /// After may_read() was false: `grant` is called once, in a later iteration or in this one.
  void wait(Reader& reader, Grant grant);

  /// The loop's owner has had a turn. Authenticated connections that wait go on.
  void begin_iteration();
  /// Whether a turn is requested and not granted.
  bool has_callers() const { return !callers_.empty(); }
  /// Grants the next turn of an unauthenticated caller; false: none is due. The time until the next
  /// call is charged to callers, so the loop runs what the turn made ready and calls again, until
  /// false.
  bool grant_caller();

  /// How long the loop may sleep before something is due here; UINT64_MAX: nothing waits.
  std::uint64_t wait_ns() const;

 private:
  std::uint64_t credit_ns() const { return limits_.caller_credit_ns * limits_.caller_share; }
  /// Adds `used_ns` of processor time, at `caller_share`, to the debt of all callers.
  void charge(std::uint64_t now_ns, std::uint64_t used_ns);
  bool grant_next();

  const Clock& clock_;
  const Clock& work_;
  const Clock& queue_;
  const Limits limits_;

  // Of authenticated connections.
  std::uint64_t iteration_ = 1;
  std::uint32_t reads_ = 0;                // In this iteration.
  std::optional<std::uint64_t> timed_ns_;  // When the clock was first looked at in it.
  std::vector<Grant> without_turn_;        // Had none in this iteration.
  std::vector<Grant> with_turn_;           // Had one and used it up.

  // Of unauthenticated callers.
  std::map<std::string, std::multimap<std::uint64_t, Grant>> callers_;  // By group, age; not empty.
  std::uint64_t last_age_ = 0;
  std::string last_group_;  // Had the last turn.
  bool is_granting_ = false;
  std::uint64_t slice_ns_ = 0;    // Processor time of the current or, else, the previous slice.
  std::uint64_t granted_ns_ = 0;  // When the last turn was granted, by `work_`.
  std::uint64_t queued_ns_ = 0;   // `queue_` at the start of the latest slice.
  /// When what callers have used so far is paid for (generic cell rate algorithm); they may be
  /// credit_ns() ahead of it.
  std::uint64_t paid_ns_ = 0;
};

}  // namespace seaway::transport
