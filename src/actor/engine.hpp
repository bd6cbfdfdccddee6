// Engine: what runs actors: one control thread, its timers, and work posted from other threads.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "actor/actor.hpp"
#include "base/clock.hpp"

namespace seaway::actor {

using TimerId = std::uint64_t;

/// Runs actors on one control thread: one handler at a time, each with all that earlier ones did in
/// sight. While nothing keeps that thread busy a client that waits may take its place, and is the
/// control thread until it has its answer. Two engines exist: the real one (control_engine.hpp) and
/// the seeded, simulated one (seeded_engine.hpp); actors cannot tell them apart.
class Engine {
 public:
  virtual ~Engine() = default;

  /// Starts an actor. Control thread, or before anything was sent. The engine owns it until the
  /// engine ends.
  virtual Address spawn(std::string name, std::unique_ptr<Actor> actor) = 0;

  /// Ends all actors and the control thread. What is sent or posted afterwards is dropped; threads
  /// may go on doing so until the engine itself ends. Not from the control thread.
  virtual void stop() = 0;

  /// Runs `work` on the control thread, once, as if an actor had received it. Any thread.
  virtual void post(std::function<void()> work) = 0;
  /// As post(), of work that takes long, such as a kernel: what has been said until now leaves the
  /// process first, so that whoever it is for works meanwhile. Control thread only.
  virtual void post_long(std::function<void()> work) { post(std::move(work)); }

  /// Calls `work` on the control thread at or after `at_ns`. Control thread only. About 100 ns.
  virtual TimerId schedule(std::uint64_t at_ns, std::function<void()> work) = 0;
  /// Forgets a timer that has not fired; harmless afterwards. Control thread only.
  virtual void cancel(TimerId timer) = 0;

  /// Blocks the calling client until `ready()`; false when `deadline_ns` passed first (0: none).
  /// `ready` is cheap and thread-safe, and notify() is called after each change of what it reads.
  /// Never from the control thread: a handler that waits would wait for itself.
  virtual bool wait(const std::function<bool()>& ready, std::uint64_t deadline_ns) = 0;
  virtual void notify() = 0;
  /// A client that is about to wait in a way of its own for what `ready` tells: it does the control
  /// thread's work meanwhile, if that one sleeps, until it is ready or there is nothing to do, and
  /// at most about 200 us; of a process that waits for others, 1 ms. Where it cannot, nothing
  /// happens.
  virtual void help(const std::function<bool()>&) {}

  virtual const Clock& clock() const = 0;
  /// True on the thread that runs the actors (for a simulated client's body: false).
  virtual bool on_control_thread() const = 0;
};

}  // namespace seaway::actor
