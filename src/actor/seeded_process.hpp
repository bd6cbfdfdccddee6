// SeededProcess: one of several processes that a SeededEngine runs in its one thread.

#pragma once

#include <functional>
#include <string>

#include "actor/engine.hpp"
#include "actor/skewed_clock.hpp"

namespace seaway::actor {

/// What wait() and yield() throw in a body of a process that was killed, so that the destructors
/// of what lies on its stack run; the engine catches it where the body began. Code that catches
/// everything rethrows it, or at least ends: each further wait throws it again. While a body
/// unwinds its waits return false instead, as destructors may not throw; a destructor that waits
/// at any other time would end the program.
struct ProcessKilled {};

/// A process of a simulated cluster: actors, timers, posted work, client bodies and a clock of its
/// own, all of which may be taken away at once. Made by SeededEngine::make_process. What one can
/// do with a process, short of asking it:
/// - kill(): SIGKILL. There is no way back; whoever restarts it makes another one.
/// - pause() and resume(): SIGSTOP and SIGCONT.
/// - set_clock(): a clock that is fast, slow, or was moved.
///
/// Others reach its actors by their Address, which may outlive it: what they send then is dropped.
/// Bodies wait on their own process or on the engine, never on another process.
///
/// Not thread-safe. The destructor is stop(), in the order of the engine's: bodies give up and run
/// to their end, actors end; it may not come from the process itself, and comes before the engine's
/// end. To take it away without a word: kill() first. A killed process keeps nothing but its name.
class SeededProcess : public Engine {
 public:
  /// A new body, which runs for the first time in a later step.
  virtual void spawn_body(std::string name, std::function<void()> body) = 0;
  /// Inside a body: lets others run; elsewhere nothing.
  virtual void yield() = 0;

  /// Nothing of it ever runs again. Bodies are unwound, mailboxes, timers and posted work dropped,
  /// and actors destroyed, in this order: destructors run, but whatever they send, post, schedule
  /// or spawn, anywhere, is dropped. So is what is sent or posted to the process from now on. From
  /// anywhere; from the process itself it takes effect at the end of the step, or, in a body, as
  /// soon as that waits. Nothing happens when it has ended before.
  virtual void kill() = 0;
  /// False from kill() or stop() on.
  virtual bool is_alive() const = 0;

  /// Nothing of it runs until resume(), except for the rest of a step that it is in. What is sent
  /// or posted to it meanwhile is kept, and its clock goes on: what became due fires afterwards, in
  /// order. Time passes over it as if it had no timers. Killing and stopping it work all the same.
  virtual void pause() = 0;
  virtual void resume() = 0;
  virtual bool is_paused() const = 0;

  /// From now on its clock() is wrong by `skew`, counted from the time of the engine. Timers and
  /// deadlines are in the time of the process: moved forward, it finds them due at once; moved
  /// back, its time stands still until it would have come so far again.
  virtual void set_clock(ClockSkew skew) = 0;

  virtual const std::string& name() const = 0;
};

}  // namespace seaway::actor
