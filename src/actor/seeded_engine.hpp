// SeededEngine: the simulated engine: one thread, virtual time, every choice drawn from one seed.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actor/engine.hpp"
#include "actor/schedule_policy.hpp"
#include "actor/seeded_process.hpp"

namespace seaway::actor {

struct SeededOptions {
  /// Nothing: drawn from the seed.
  std::optional<SchedulePolicy> policy = std::nullopt;
  /// Virtual time that one step takes, at most; the seed draws it. 0: time passes only while
  /// nothing can run, so that no timer ever comes in between two messages.
  std::uint64_t step_ns_max = 0;
  /// Behind so many choices among several it goes on as under kFifo: the fewer, the simpler is the
  /// schedule. Nothing: there is no end to them.
  std::optional<std::uint64_t> choices_max = std::nullopt;
  std::size_t stack_bytes = 256 * 1024;  // Of each client body.
};

/// Runs actors, timers, posted work and client bodies in the calling thread, one step at a time.
/// One step is: one message of one actor, one piece of posted work, one due timer, or one body up
/// to where it waits. When nothing can run, time jumps to the next timer. Runs with one seed and
/// the same calls are equal, step by step.
///
/// A body is client code with a stack of its own: it may wait(), for as long as it likes. A handler
/// may not: SEAWAY_CHECK stops a wait() from one, for on_control_thread() told it so. Code outside
/// both, such as a test, may wait() too: then it pumps the engine.
///
/// The engine is a process itself, and the first one; make_process adds others, such as the hosts
/// of a cluster, to the same thread and the same draw.
///
/// Not thread-safe. The destructor makes the bodies that still wait give up, runs them to their
/// end, and ends the actors.
class SeededEngine : public Engine {
 public:
  /// A new body, which runs for the first time in a later step.
  virtual void spawn_body(std::string name, std::function<void()> body) = 0;
  /// Inside a body: lets others run; elsewhere nothing.
  virtual void yield() = 0;

  /// Another process, which ends before the engine does. Its clock is the engine's until it is set.
  /// About 10 us, and no thread. `name` is for people and need not be unique.
  virtual std::unique_ptr<SeededProcess> make_process(std::string name) = 0;

  /// One step; false when nothing is left that could ever run, short of what is paused.
  virtual bool step() = 0;
  /// Steps until nothing can run any more, or `steps_max` times. Returns how many it took; bodies
  /// that are still unfinished then wait for what never comes.
  virtual std::uint64_t run_until_idle(std::uint64_t steps_max) = 0;
  /// All waits of bodies of all processes, now and later, give up at once: they return false.
  virtual void abandon_bodies() = 0;

  virtual std::uint64_t steps() const = 0;
  virtual std::uint64_t now_ns() const = 0;
  virtual SchedulePolicy policy() const = 0;
  /// Names of the bodies that have not ended, process by process, in order of making and spawning.
  virtual std::vector<std::string> unfinished_bodies() const = 0;
  /// Hash of all choices so far: equal for equal runs.
  virtual std::uint64_t choices_hash() const = 0;
};

std::unique_ptr<SeededEngine> make_seeded_engine(std::uint64_t seed, SeededOptions options = {});

}  // namespace seaway::actor
