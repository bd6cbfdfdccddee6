// IoLoop: the one loop of a process that waits for sockets and for time.

#pragma once

#include <cstdint>
#include <memory>

#include "seaway/status.hpp"

namespace seaway::transport {

/// KJ's event loop, stepped by whoever owns the control thread: sockets and role actors share one
/// thread, so that a message between two processes wakes one thread at each end and no more.
///
/// Belongs to one thread at a time, at first to the one that made it: all calls but wake() come
/// from there, and it ends there, after all that uses it. It changes hands by leave() and enter(),
/// each before the other by whatever the two threads have between them. What sockets bring is told
/// from within poll() and wait(). The process ignores SIGPIPE from then on.
class IoLoop {
 public:
  /// Errors: kResourceExhausted when the system has no descriptors for it.
  static Result<std::unique_ptr<IoLoop>> make();
  ~IoLoop();
  IoLoop(const IoLoop&) = delete;
  IoLoop& operator=(const IoLoop&) = delete;

  /// Tells what has become ready, without waiting.
  void poll();
  /// Waits until something is ready, or wake() is called, or `most_ns` have passed; then as poll().
  void wait(std::uint64_t most_ns);

  /// Belongs to nobody from now on.
  void leave();
  /// Belongs to the calling thread from now on, unless that has an event loop of KJ's of its own:
  /// false. Requires that it belongs to nobody.
  bool enter();

  /// Ends waits of a loop, which it may outlive.
  class Waker {
   public:
    /// The next wait() ends at once, or the present one does; of an ended loop, nothing. Any
    /// thread.
    void wake() const;

   private:
    friend class IoLoop;
    struct Bell;
    std::shared_ptr<Bell> bell_;
  };
  const Waker& waker() const { return waker_; }
  void wake() const { waker_.wake(); }

  /// For the files of this room.
  struct State;
  State& state() { return *state_; }

 private:
  IoLoop() = default;

  Waker waker_;
  std::unique_ptr<State> state_;
};

}  // namespace seaway::transport
