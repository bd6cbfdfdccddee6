// IoLoop::State: what the files of this room know of the loop: KJ, and who is to be told.

#pragma once

#include <kj/async-io.h>
#include <kj/async-unix.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <thread>

#include "base/clock.hpp"
#include "transport/io_loop.hpp"
#include "transport/read_scheduler.hpp"

namespace seaway::transport {

/// An eventfd, which others may still write to when the loop has ended.
struct IoLoop::Waker::Bell {
  explicit Bell(kj::AutoCloseFd&& event) : descriptor(kj::mv(event)) {}

  const kj::AutoCloseFd descriptor;
  std::atomic<std::thread::id> owner = std::this_thread::get_id();  // None: nobody.
  State* state = nullptr;  // Of its owner alone; none: it has ended.
};

/// The system's monotonic clock. A RealClock takes 2 ms to make, and pays for that where the clock
/// is read with each message.
class SystemClock final : public Clock {
 public:
  std::uint64_t now_ns() const override;
};

/// Processor time of the thread that reads it.
class ThreadClock final : public Clock {
 public:
  std::uint64_t now_ns() const override;
};

/// Run-queue time of the calling thread: runnable without a processor, field 2 of Linux's
/// /proc/thread-self/schedstat. 0 if the file cannot be read. Three system calls per reading.
class QueueClock final : public Clock {
 public:
  std::uint64_t now_ns() const override;
};

struct IoLoop::State final : kj::TaskSet::ErrorHandler {
  /// `timer`: a timerfd. Throws what KJ throws where the system has no descriptors for it.
  State(Waker::Bell& its_bell, kj::AutoCloseFd&& timer);
  ~State() { bell.state = nullptr; }
  KJ_DISALLOW_COPY(State);

  /// Something was told to whoever owns the loop, who has his turn now: wait() returns.
  void notice();
  /// Runs what is ready, up to what becomes ready meanwhile: nobody keeps the loop to himself.
  void run_ready();
  /// Grants unauthenticated callers the turns that are due, and runs all events that a turn makes
  /// ready. Post-condition: the event queue is empty. KJ polls descriptors only with an empty
  /// queue, so events left over by callers would starve authenticated connections.
  void run_callers();
  /// Resolves when `reader`, which ReadScheduler::may_read() refused, has its turn. The loop's
  /// owner has one before.
  kj::Promise<void> next_turn(ReadScheduler::Reader& reader);
  /// Notices after `most_ns`.
  void arm(std::uint64_t most_ns);
  kj::Promise<void> watch_bell();
  kj::Promise<void> watch_time();
  /// What fails in a task has been told already to those whom it concerns.
  void taskFailed(kj::Exception&&) override {}

  /// In KJ's time: rounded up to milliseconds, and counted from when the loop was last polled.
  kj::Promise<void> after(std::uint64_t pause_ns);

  Waker::Bell& bell;
  /// KJ warns of using a port in another thread than the one that made it, for the sake of signals,
  /// of which this one captures none.
  kj::UnixEventPort port;
  kj::EventLoop events;
  std::optional<kj::WaitScope> scope;  // Of the thread that it belongs to.
  kj::AutoCloseFd time;                // A timerfd: KJ's own timers count in milliseconds.
  kj::UnixEventPort::FdObserver bell_observer;
  kj::UnixEventPort::FdObserver time_observer;
  const SystemClock clock;
  const ThreadClock work;
  const QueueClock queue;
  ReadScheduler scheduler{clock, work, queue};
  std::uint64_t rings_ns = UINT64_MAX;  // When `time` does.
  std::uint64_t due_ns = UINT64_MAX;    // When wait() is to return.
  bool was_woken = false;
  kj::Maybe<kj::Own<kj::PromiseFulfiller<void>>> waiter;
  kj::TaskSet tasks;  // Ends first: tasks hold on to what stands above.
};

}  // namespace seaway::transport
