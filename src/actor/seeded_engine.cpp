// A CAF coordinator that is stepped: which job, timer or body comes next is drawn from the seed.

#include "actor/seeded_engine.hpp"

#include <algorithm>
#include <deque>
#include <utility>

#include "actor/caf_coordinator.hpp"
#include "actor/caf_shell.hpp"
#include "actor/fiber.hpp"
#include "actor/timer_queue.hpp"
#include "base/check.hpp"
#include "base/clock.hpp"
#include "base/random.hpp"

namespace seaway::actor {
namespace {

/// Names of the streams of random numbers; each concern has its own.
constexpr std::uint64_t kPolicyStream = 0x706f6c6963790000;
constexpr std::uint64_t kScheduleStream = 0x7363686564756c65;

/// Most change points of kPriorities, and the steps over which they are spread.
constexpr std::uint64_t kChangesMax = 5;
constexpr std::uint64_t kChangeSpan = 4'000;
/// kSticky stays with the same one in so many of 100 steps.
constexpr unsigned kStickPercent = 85;

/// Jobs in the order in which they became ready; they run only when the engine says so.
class Coordinator final : public JobCoordinator {
 public:
  using JobCoordinator::JobCoordinator;

  void enqueue(caf::resumable* job) override { jobs.push_back(job); }

  /// Lets job `index` handle one message.
  void run_at(std::size_t index) {
    caf::resumable* const job = jobs[index];
    jobs.erase(jobs.begin() + static_cast<std::ptrdiff_t>(index));
    run(job, 1);
  }

  /// A number of its own for each actor, in order of spawning.
  static std::uint64_t number_of(caf::resumable* job) {
    const auto* const actor = dynamic_cast<caf::abstract_actor*>(job);
    return actor == nullptr ? 0 : actor->id();
  }
};

/// One client body and what it waits for.
struct Body {
  Body(std::string name, std::function<void()> work, std::size_t stack_bytes)
      : name(std::move(name)), fiber(std::move(work), stack_bytes) {}

  std::string name;
  Fiber fiber;
  const std::function<bool()>* ready = nullptr;  // Null: it may go on.
  bool has_timed_out = false;
};

/// What could run now.
struct Candidate {
  enum class Kind : std::uint8_t { kJob, kPosted, kTimer, kBody };
  Kind kind = Kind::kJob;
  std::size_t index = 0;
  std::uint64_t name = 0;  // The same in each step in which the same one could run.
};

/// Picks one of many, by one policy.
class Chooser {
 public:
  Chooser(std::uint64_t seed, std::optional<SchedulePolicy> policy)
      : seed_(seed), setup_(seed, kPolicyStream), random_(seed, kScheduleStream) {
    const auto drawn = static_cast<SchedulePolicy>(setup_.below(5));
    policy_ = policy.value_or(drawn);
    starved_ = setup_.below(24);
    const std::uint64_t changes = 1 + setup_.below(kChangesMax);
    for (std::uint64_t i = 0; i < changes; ++i) changes_.push_back(setup_.below(kChangeSpan));
    std::sort(changes_.begin(), changes_.end());
  }

  SchedulePolicy policy() const { return policy_; }
  RandomStream& random() { return random_; }

  std::size_t choose(const std::vector<Candidate>& all, std::uint64_t step) {
    if (all.size() == 1 && policy_ != SchedulePolicy::kPriorities) return 0;
    switch (policy_) {
      case SchedulePolicy::kUniform:
        return random_.below(all.size());
      case SchedulePolicy::kFifo:
        return turn_++ % all.size() == 0 ? all.size() - 1 : 0;
      case SchedulePolicy::kStarveOne:
        return choose_starving(all);
      case SchedulePolicy::kPriorities:
        return choose_highest(all, step);
      case SchedulePolicy::kSticky:
        return choose_sticky(all);
    }
    return 0;
  }

 private:
  std::size_t choose_starving(const std::vector<Candidate>& all) {
    const std::size_t chosen = random_.below(all.size());
    if (all[chosen].name % 24 != starved_) return chosen;
    for (std::size_t i = 1; i < all.size(); ++i) {
      const std::size_t other = (chosen + i) % all.size();
      if (all[other].name % 24 != starved_) return other;
    }
    return chosen;
  }

  std::size_t choose_highest(const std::vector<Candidate>& all, std::uint64_t step) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < all.size(); ++i) {
      if (priority(all[i]) > priority(all[best])) best = i;
    }
    if (!changes_.empty() && step >= changes_.front()) {
      changes_.erase(changes_.begin());
      lowered_.push_back(all[best].name);
    }
    return best;
  }

  std::uint64_t priority(const Candidate& candidate) const {
    const auto found = std::find(lowered_.begin(), lowered_.end(), candidate.name);
    // The one that was lowered last is the lowest.
    if (found != lowered_.end()) return static_cast<std::uint64_t>(lowered_.end() - found) - 1;
    return mix64(seed_ ^ candidate.name) | std::uint64_t{1} << 63;
  }

  std::size_t choose_sticky(const std::vector<Candidate>& all) {
    if (random_.chance(kStickPercent)) {
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].name == last_) return i;
      }
    }
    const std::size_t chosen = random_.below(all.size());
    last_ = all[chosen].name;
    return chosen;
  }

  const std::uint64_t seed_;
  RandomStream setup_, random_;
  SchedulePolicy policy_ = SchedulePolicy::kUniform;
  std::uint64_t starved_ = 0, last_ = 0, turn_ = 0;
  std::vector<std::uint64_t> changes_, lowered_;
};

class SeededEngineImpl final : public SeededEngine {
 public:
  SeededEngineImpl(std::uint64_t seed, const SeededOptions& options)
      : options_(options),
        chooser_(seed, options.policy),
        system_(config_),
        coordinator_(dynamic_cast<Coordinator&>(system_.scheduler())) {
    caf::logger::set_current_actor_system(nullptr);  // As in control_engine.cpp.
    system_.await_actors_before_shutdown(false);
    RandomStream pace(seed, kPolicyStream + 1);
    // A third of the seeds keeps time still between messages; the others differ in magnitude.
    if (options_.step_ns_max > 0 && !pace.chance(33)) {
      step_ns_ = 1 + pace.below(1 + pace.below(options_.step_ns_max));
    }
  }

  ~SeededEngineImpl() override { stop(); }

  void stop() override {
    if (is_stopped_) return;
    is_stopped_ = true;
    abandon_bodies();
    while (!bodies_.empty()) run_body(0);
    timers_ = TimerQueue();
    posted_.clear();
    for (const caf::actor& actor : actors_) {
      caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
    }
    actors_.clear();
    in_handler_ = true;
    while (coordinator_.has_job()) coordinator_.run_at(0);
  }

  Address spawn(std::string name, std::unique_ptr<Actor> actor) override {
    caf::actor handle = system_.spawn<CafShell>(std::move(actor), std::move(name));
    actors_.push_back(handle);
    return Address(std::make_shared<const Address::Cell>(std::move(handle)));
  }

  void post(std::function<void()> work) override { posted_.push_back(std::move(work)); }
  TimerId schedule(std::uint64_t at_ns, std::function<void()> work) override {
    return timers_.schedule(at_ns, std::move(work));
  }
  void cancel(TimerId timer) override { timers_.cancel(timer); }

  bool wait(const std::function<bool()>& ready, std::uint64_t deadline_ns) override {
    SEAWAY_CHECK(!in_handler_, "a handler may not wait: it would wait for itself");
    if (ready()) return true;
    return current_ == nullptr ? pump(ready, deadline_ns) : suspend(ready, deadline_ns);
  }
  void notify() override {}  // Each step asks all that wait.

  const Clock& clock() const override { return clock_; }
  bool on_control_thread() const override { return in_handler_; }

  void spawn_body(std::string name, std::function<void()> body) override {
    bodies_.push_back(
        std::make_unique<Body>(std::move(name), std::move(body), options_.stack_bytes));
    body_numbers_.push_back(++last_body_);
  }

  void yield() override {
    if (current_ == nullptr || is_abandoned_) return;
    current_->ready = nullptr;
    current_->fiber.suspend();
  }

  bool step() override {
    SEAWAY_CHECK(!in_handler_ && current_ == nullptr);
    collect();
    while (candidates_.empty()) {
      const auto next_ns = timers_.next_ns();
      if (!next_ns) return false;
      clock_.advance_to(*next_ns);
      collect();
    }
    const std::size_t chosen = chooser_.choose(candidates_, steps_);
    run(candidates_[chosen]);
    ++steps_;
    if (step_ns_ > 0) clock_.advance_to(clock_.now_ns() + step_ns_);
    return true;
  }

  std::uint64_t run_until_idle(std::uint64_t steps_max) override {
    std::uint64_t taken = 0;
    while (taken < steps_max && step()) ++taken;
    return taken;
  }

  void abandon_bodies() override { is_abandoned_ = true; }

  std::uint64_t steps() const override { return steps_; }
  std::uint64_t now_ns() const override { return clock_.now_ns(); }
  SchedulePolicy policy() const override { return chooser_.policy(); }
  std::vector<std::string> unfinished_bodies() const override {
    std::vector<std::string> names;
    for (const auto& body : bodies_) names.push_back(body->name);
    return names;
  }
  std::uint64_t choices_hash() const override { return hash_; }

 private:
  /// A test waits: everything else runs meanwhile.
  bool pump(const std::function<bool()>& ready, std::uint64_t deadline_ns) {
    bool is_late = false;
    TimerId timer = 0;
    if (deadline_ns > 0) timer = timers_.schedule(deadline_ns, [&is_late] { is_late = true; });
    while (!ready() && !is_late && step()) {
    }
    timers_.cancel(timer);
    return ready();
  }

  bool suspend(const std::function<bool()>& ready, std::uint64_t deadline_ns) {
    if (is_abandoned_) return false;
    Body& body = *current_;
    body.ready = &ready;
    body.has_timed_out = false;
    TimerId timer = 0;
    if (deadline_ns > 0) {
      timer = timers_.schedule(deadline_ns, [&body] { body.has_timed_out = true; });
    }
    body.fiber.suspend();
    timers_.cancel(timer);
    body.ready = nullptr;
    return ready();
  }

  /// All that could run now, in an order that repeats: since when they are ready, within a kind.
  void collect() {
    candidates_.clear();
    for (std::size_t i = 0; i < coordinator_.jobs.size(); ++i) {
      add(Candidate::Kind::kJob, i, Coordinator::number_of(coordinator_.jobs[i]));
    }
    if (!posted_.empty()) add(Candidate::Kind::kPosted, 0, 0);
    if (const auto next_ns = timers_.next_ns(); next_ns && *next_ns <= clock_.now_ns()) {
      add(Candidate::Kind::kTimer, 0, 0);
    }
    for (std::size_t i = 0; i < bodies_.size(); ++i) {
      const Body& body = *bodies_[i];
      if (body.ready == nullptr || body.has_timed_out || is_abandoned_ || (*body.ready)()) {
        add(Candidate::Kind::kBody, i, body_numbers_[i]);
      }
    }
  }
  void add(Candidate::Kind kind, std::size_t index, std::uint64_t number) {
    candidates_.push_back({kind, index, number * 4 + static_cast<std::uint64_t>(kind)});
  }

  void run(const Candidate& candidate) {
    hash_ = mix64(hash_ ^ candidate.name) + 1;
    if (candidate.kind == Candidate::Kind::kBody) {
      run_body(candidate.index);
      return;
    }
    in_handler_ = true;
    if (candidate.kind == Candidate::Kind::kJob) {
      coordinator_.run_at(candidate.index);
    } else if (candidate.kind == Candidate::Kind::kPosted) {
      const std::function<void()> work = std::move(posted_.front());
      posted_.pop_front();
      work();
    } else {
      timers_.take_due(clock_.now_ns())();
    }
    in_handler_ = false;
  }

  void run_body(std::size_t index) {
    current_ = bodies_[index].get();
    current_->fiber.resume();
    const bool is_finished = current_->fiber.finished();
    current_ = nullptr;
    if (!is_finished) return;
    bodies_.erase(bodies_.begin() + static_cast<std::ptrdiff_t>(index));
    body_numbers_.erase(body_numbers_.begin() + static_cast<std::ptrdiff_t>(index));
  }

  const SeededOptions options_;
  Chooser chooser_;
  ManualClock clock_;
  CoordinatorConfig<Coordinator> config_;
  caf::actor_system system_;
  Coordinator& coordinator_;
  TimerQueue timers_;
  bool is_stopped_ = false;
  std::vector<caf::actor> actors_;
  std::deque<std::function<void()>> posted_;
  std::vector<std::unique_ptr<Body>> bodies_;
  std::vector<std::uint64_t> body_numbers_;  // Parallel to bodies_.
  std::uint64_t last_body_ = 0;
  std::vector<Candidate> candidates_;  // Scratch of step().
  Body* current_ = nullptr;            // The body that runs now.
  bool in_handler_ = false;
  bool is_abandoned_ = false;
  std::uint64_t step_ns_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t hash_ = 0;
};

}  // namespace

std::string_view to_string(SchedulePolicy policy) {
  switch (policy) {
    case SchedulePolicy::kUniform:
      return "uniform";
    case SchedulePolicy::kFifo:
      return "fifo";
    case SchedulePolicy::kStarveOne:
      return "starve one";
    case SchedulePolicy::kPriorities:
      return "priorities";
    case SchedulePolicy::kSticky:
      return "sticky";
  }
  return "unknown";
}

std::unique_ptr<SeededEngine> make_seeded_engine(std::uint64_t seed, SeededOptions options) {
  return std::make_unique<SeededEngineImpl>(seed, options);
}

}  // namespace seaway::actor
