// SimulatedProcess: what SeededEngine keeps of each process, the one that it is itself included.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actor/caf_coordinator.hpp"
#include "actor/caf_shell.hpp"
#include "actor/engine_gate.hpp"
#include "actor/fiber.hpp"
#include "actor/schedule_chooser.hpp"
#include "actor/seeded_process.hpp"
#include "actor/timer_queue.hpp"

namespace seaway::actor {

struct SimulatedBody;

/// What all processes of one engine share: its one thread, and what runs in it now.
struct SimulatedThread {
  ManualClock clock;
  std::vector<SimulatedProcess*> processes;  // In order of making; they add and remove themselves,
  std::vector<SimulatedProcess*> living;     // here as soon as they have ended.
  std::uint64_t last_process = 0;
  SimulatedProcess* handling = nullptr;  // Whose handler, timer or posted work runs now.
  SimulatedBody* body = nullptr;         // Which body runs now.
  bool is_muted = false;                 // A process is being killed: what it says goes nowhere.
  bool is_abandoned = false;             // All waits of bodies give up.
  std::size_t stack_bytes = 0;           // Of each body.
  std::function<bool()> step;            // The engine's.
};

/// Jobs in the order in which they became ready; they run only when the engine says so.
class SimulatedCoordinator final : public JobCoordinator {
 public:
  using JobCoordinator::JobCoordinator;

  void enqueue(caf::resumable* job) override { jobs.push_back(job); }

  /// Lets job `index` handle one message.
  void run_at(std::size_t index);
};

class SimulatedProcess final : public SeededProcess, public Gated {
 public:
  /// The first process of a thread is the engine itself.
  SimulatedProcess(SimulatedThread& thread, std::string name);
  ~SimulatedProcess() override;

  Address spawn(std::string name, std::unique_ptr<Actor> actor) override;
  void stop() override;
  void post(std::function<void()> work) override;
  TimerId schedule(std::uint64_t at_ns, std::function<void()> work) override;
  void cancel(TimerId timer) override { timers_.cancel(timer); }
  bool wait(const std::function<bool()>& ready, std::uint64_t deadline_ns) override;
  void notify() override {}  // Each step asks all that wait.
  const Clock& clock() const override { return clock_; }
  bool on_control_thread() const override;
  const std::shared_ptr<EngineGate>& gate() const override { return gate_; }

  void spawn_body(std::string name, std::function<void()> body) override;
  void yield() override;
  void kill() override;
  bool is_alive() const override { return life_ == Life::kAlive; }
  void pause() override { is_paused_ = true; }
  void resume() override { is_paused_ = false; }
  bool is_paused() const override { return is_paused_; }
  void set_clock(ClockSkew skew) override { clock_.set(skew); }
  const std::string& name() const override { return name_; }

  /// Of a process that lives. Appends all that could run now, in an order that repeats: since when
  /// they are ready, within a kind.
  void collect(std::vector<Candidate>& candidates);
  /// Of a process that lives: when the next timer is due, in the time of the engine; nothing: none
  /// ever is, as things are.
  std::optional<std::uint64_t> next_ns() const;
  /// One step of what collect() has named.
  void run(const Candidate& candidate);

  /// The two halves of stop(). Bodies run to their end; all waits have been abandoned.
  void finish_bodies();
  /// Drops timers and posted work, and ends the actors.
  void end();

  bool has_bodies() const { return !bodies_.empty(); }
  void append_bodies(std::vector<std::string>& names) const;

 private:
  enum class Life : std::uint8_t { kAlive, kDying, kOver };
  struct Caf;

  bool takes() const { return life_ == Life::kAlive && !thread_.is_muted; }
  bool pump(const std::function<bool()>& ready, std::uint64_t deadline_ns);
  bool suspend(SimulatedBody& body, const std::function<bool()>& ready, std::uint64_t deadline_ns);
  void run_body(std::size_t index);
  void finish_kill();
  void drop_work();
  void end_actors();
  void be_over();

  SimulatedThread& thread_;
  const std::string name_;
  const std::uint64_t first_name_;  // Added to the names of candidates: no two processes share one.
  const bool is_engine_;
  Life life_ = Life::kAlive;
  bool is_paused_ = false;
  bool is_abandoned_ = false;  // All waits of its bodies give up.
  int depth_ = 0;              // How much of it is on the stack of calls.
  SkewedClock clock_;
  std::unique_ptr<Caf> caf_;  // Null once it has ended.
  std::vector<std::shared_ptr<Address::Cell>> actors_;
  TimerQueue timers_;
  std::deque<std::function<void()>> posted_;
  std::vector<std::unique_ptr<SimulatedBody>> bodies_;
  std::uint64_t last_body_ = 0;
  const std::shared_ptr<EngineGate> gate_ = std::make_shared<EngineGate>();

  friend struct SimulatedBody;
};

}  // namespace seaway::actor
