// A process in the simulated thread: what it could do next, how it goes on, and how it ends.

#include "actor/simulated_process.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/check.hpp"
#include "base/fault_point.hpp"

namespace seaway::actor {
namespace {

/// Names of candidates of one process lie below this: actors and bodies are counted from one.
constexpr unsigned kNameBits = 40;
constexpr std::uint64_t kLateTimerNs = 50'000;

/// While it lives, this is what runs in the thread.
class Turn {
 public:
  Turn(SimulatedThread& thread, SimulatedProcess* handling, SimulatedBody* body)
      : thread_(thread),
        handling_(std::exchange(thread.handling, handling)),
        body_(std::exchange(thread.body, body)) {}
  ~Turn() {
    thread_.handling = handling_;
    thread_.body = body_;
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  SimulatedThread& thread_;
  SimulatedProcess* const handling_;
  SimulatedBody* const body_;
};

/// A number of its own for each actor, in order of spawning.
std::uint64_t number_of(caf::resumable* job) {
  // A dynamic_cast took a quarter of the instructions of a simulated call.
  if (job->subtype() != CafShell::kSubtype) return 0;
  return static_cast<CafShell*>(job)->id();
}

}  // namespace

/// One client body and what it waits for.
struct SimulatedBody {
  SimulatedBody(SimulatedProcess& owner, std::string called, std::uint64_t count,
                std::function<void()> work, std::size_t stack_bytes)
      : process(owner),
        name(std::move(called)),
        number(count),
        fiber([this, work = std::move(work)] { run(work); }, stack_bytes) {}

  void run(const std::function<void()>& work) const {
    if (!process.is_alive()) return;  // Killed before it began.
    try {
      work();
    } catch (const ProcessKilled&) {
      // It is unwound, and that was the purpose.
    }
  }

  bool gives_up() const { return process.thread_.is_abandoned || process.is_abandoned_; }
  /// Throws when its process was killed; true: it would have, but an exception is on its way.
  bool leave_if_killed() const {
    if (process.is_alive()) return false;
    if (std::uncaught_exceptions() == 0) throw ProcessKilled();
    return true;
  }

  SimulatedProcess& process;
  const std::string name;
  const std::uint64_t number;
  Fiber fiber;
  const std::function<bool()>* ready = nullptr;  // Null: it may go on.
  bool has_timed_out = false;
};

struct SimulatedProcess::Caf {
  Caf() : system(config), coordinator(dynamic_cast<SimulatedCoordinator&>(system.scheduler())) {
    caf::logger::set_current_actor_system(nullptr);  // As in control_engine.cpp.
    system.await_actors_before_shutdown(false);
  }

  CoordinatorConfig<SimulatedCoordinator> config;
  caf::actor_system system;
  SimulatedCoordinator& coordinator;
};

void SimulatedCoordinator::run_at(std::size_t index) {
  caf::resumable* const job = jobs[index];
  if (index + 1 == jobs.size()) {
    jobs.pop_back();  // The usual case, a queue of one job; erase() takes 100 instructions.
  } else {
    jobs.erase(jobs.begin() + static_cast<std::ptrdiff_t>(index));
  }
  run(job, 1);
}

SimulatedProcess::SimulatedProcess(SimulatedThread& thread, std::string name)
    : thread_(thread),
      name_(std::move(name)),
      first_name_(thread.last_process << kNameBits),
      is_engine_(thread.last_process == 0),
      clock_(thread.clock),
      caf_(std::make_unique<Caf>()) {
  ++thread_.last_process;
  thread_.processes.push_back(this);
  thread_.living.push_back(this);
}

SimulatedProcess::~SimulatedProcess() {
  SEAWAY_CHECK(depth_ == 0, "a process may not destroy itself; kill() it", name_);
  stop();
  gate_->close();
  std::erase(thread_.processes, this);
}

// What others ask of it.

Address SimulatedProcess::spawn(std::string name, std::unique_ptr<Actor> actor) {
  if (!takes()) return Address(std::make_shared<const Address::Cell>(caf::actor()));
  caf::actor handle = caf_->system.spawn<CafShell>(std::move(actor), std::move(name));
  actors_.push_back(std::make_shared<Address::Cell>(std::move(handle), &thread_.is_muted));
  return Address(actors_.back());
}

void SimulatedProcess::post(std::function<void()> work) {
  if (takes()) posted_.push_back(std::move(work));
}

TimerId SimulatedProcess::schedule(std::uint64_t at_ns, std::function<void()> work) {
  if (!takes()) return 0;
  // The engine's own timers are what surrounds the processes: wires keep an order by them.
  if (!is_engine_ && SEAWAY_FAULT(kLateTimer)) at_ns += kLateTimerNs;
  return timers_.schedule(at_ns, std::move(work));
}

bool SimulatedProcess::on_control_thread() const {
  // Once it has ended nobody else runs there.
  return thread_.handling == this || (life_ == Life::kOver && thread_.body == nullptr);
}

void SimulatedProcess::spawn_body(std::string name, std::function<void()> body) {
  if (!takes()) return;
  bodies_.push_back(std::make_unique<SimulatedBody>(*this, std::move(name), ++last_body_,
                                                    std::move(body), thread_.stack_bytes));
}

// Waiting.

bool SimulatedProcess::wait(const std::function<bool()>& ready, std::uint64_t deadline_ns) {
  SEAWAY_CHECK(thread_.handling == nullptr, "a handler may not wait: it would wait for itself");
  SimulatedBody* const body = thread_.body;
  if (body == nullptr) return ready() || pump(ready, deadline_ns);
  SEAWAY_CHECK(is_engine_ || &body->process == this, "a body may not wait on another process",
               body->name, name_);
  if (body->leave_if_killed()) return false;
  return ready() || suspend(*body, ready, deadline_ns);
}

/// A test waits: everything else runs meanwhile.
bool SimulatedProcess::pump(const std::function<bool()>& ready, std::uint64_t deadline_ns) {
  bool is_late = false;
  TimerId timer = 0;
  if (deadline_ns > 0) timer = timers_.schedule(deadline_ns, [&is_late] { is_late = true; });
  while (!ready() && !is_late && is_alive() && thread_.step()) {
  }
  timers_.cancel(timer);
  return ready();
}

bool SimulatedProcess::suspend(SimulatedBody& body, const std::function<bool()>& ready,
                               std::uint64_t deadline_ns) {
  if (body.gives_up()) return false;
  body.ready = &ready;
  body.has_timed_out = false;
  TimerId timer = 0;
  if (deadline_ns > 0) {
    timer = timers_.schedule(deadline_ns, [&body] { body.has_timed_out = true; });
  }
  body.fiber.suspend();
  timers_.cancel(timer);
  body.ready = nullptr;
  return !body.leave_if_killed() && ready();
}

void SimulatedProcess::yield() {
  SimulatedBody* const body = thread_.body;
  if (body == nullptr || body->leave_if_killed() || body->gives_up()) return;
  body->ready = nullptr;
  body->fiber.suspend();
  body->leave_if_killed();
}

// Stepping.

void SimulatedProcess::collect(std::vector<Candidate>& candidates) {
  if (is_paused_) return;
  const auto add = [&](Candidate::Kind kind, std::size_t index, std::uint64_t number) {
    const std::uint64_t name = first_name_ + number * 4 + static_cast<std::uint64_t>(kind);
    candidates.push_back({kind, index, name, this});
  };
  const auto& jobs = caf_->coordinator.jobs;
  for (std::size_t i = 0; i < jobs.size(); ++i) add(Candidate::Kind::kJob, i, number_of(jobs[i]));
  if (!posted_.empty()) add(Candidate::Kind::kPosted, 0, 0);
  if (const auto next_ns = timers_.next_ns(); next_ns && *next_ns <= clock_.now_ns()) {
    add(Candidate::Kind::kTimer, 0, 0);
  }
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    const SimulatedBody& body = *bodies_[i];
    if (body.ready == nullptr || body.has_timed_out || body.gives_up() || (*body.ready)()) {
      add(Candidate::Kind::kBody, i, body.number);
    }
  }
}

std::optional<std::uint64_t> SimulatedProcess::next_ns() const {
  if (is_paused_) return std::nullopt;
  const auto next_ns = timers_.next_ns();
  return next_ns ? clock_.base_ns_at(*next_ns) : std::nullopt;
}

void SimulatedProcess::run(const Candidate& candidate) {
  ++depth_;
  if (candidate.kind == Candidate::Kind::kBody) {
    run_body(candidate.index);
  } else {
    const Turn turn(thread_, this, nullptr);
    if (candidate.kind == Candidate::Kind::kJob) {
      caf_->coordinator.run_at(candidate.index);
    } else if (candidate.kind == Candidate::Kind::kPosted) {
      const std::function<void()> work = std::move(posted_.front());
      posted_.pop_front();
      work();
    } else {
      timers_.take_due(clock_.now_ns())();
    }
  }
  --depth_;
  if (life_ == Life::kDying) finish_kill();
}

void SimulatedProcess::run_body(std::size_t index) {
  SimulatedBody& body = *bodies_[index];
  {
    const Turn turn(thread_, nullptr, &body);
    body.fiber.resume();
  }
  if (body.fiber.finished()) bodies_.erase(bodies_.begin() + static_cast<std::ptrdiff_t>(index));
}

// Its end.

void SimulatedProcess::kill() {
  if (!is_alive()) return;
  life_ = Life::kDying;
  if (depth_ == 0) finish_kill();
}

void SimulatedProcess::finish_kill() {
  const bool was_muted = std::exchange(thread_.is_muted, true);
  ++depth_;
  // Bodies first: what they hold on their stacks may still look at actors.
  while (!bodies_.empty()) run_body(0);
  {
    const Turn turn(thread_, this, nullptr);
    drop_work();
    end_actors();
  }
  be_over();
  --depth_;
  thread_.is_muted = was_muted;
}

void SimulatedProcess::stop() {
  if (!is_alive()) return;
  SEAWAY_CHECK(depth_ == 0, "a process may not stop itself", name_);
  is_abandoned_ = true;
  finish_bodies();
  end();
}

void SimulatedProcess::finish_bodies() {
  ++depth_;
  while (!bodies_.empty()) run_body(0);
  --depth_;
  if (life_ == Life::kDying) finish_kill();
}

void SimulatedProcess::end() {
  if (!is_alive()) return;
  ++depth_;
  const Turn turn(thread_, this, nullptr);
  be_over();
  drop_work();
  end_actors();
  --depth_;
}

/// No step looks at it any more.
void SimulatedProcess::be_over() {
  life_ = Life::kOver;
  std::erase(thread_.living, this);
}

/// Destructors of what is dropped may ask for more, which is dropped as well.
void SimulatedProcess::drop_work() {
  const TimerQueue timers = std::exchange(timers_, {});
  const std::deque<std::function<void()>> posted = std::exchange(posted_, {});
}

void SimulatedProcess::end_actors() {
  for (const auto& cell : actors_) shell_of(cell->actor()).end();
  while (caf_->coordinator.has_job()) caf_->coordinator.run_at(0);
  // Addresses may outlive the actor system.
  for (const auto& cell : actors_) cell->close();
  actors_.clear();
  caf_.reset();
}

void SimulatedProcess::append_bodies(std::vector<std::string>& names) const {
  for (const auto& body : bodies_) names.push_back(body->name);
}

}  // namespace seaway::actor
