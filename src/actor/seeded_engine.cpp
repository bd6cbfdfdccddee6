// The steps of all processes: what comes next is drawn from the seed.

#include "actor/seeded_engine.hpp"

#include <algorithm>
#include <utility>

#include "actor/schedule_chooser.hpp"
#include "actor/simulated_process.hpp"
#include "base/check.hpp"
#include "base/clock.hpp"
#include "base/random.hpp"

namespace seaway::actor {
namespace {

/// Name of the stream of random numbers for the pace.
constexpr std::uint64_t kPaceStream = 0x706f6c6963790001;

class SeededEngineImpl final : public SeededEngine, public Gated {
 public:
  SeededEngineImpl(std::uint64_t seed, const SeededOptions& options)
      : chooser_(seed, options.policy, options.choices_max),
        own_(prepared(thread_, options), "engine") {
    thread_.step = [this] { return step(); };
    RandomStream pace(seed, kPaceStream);
    // A third of the seeds keeps time still between messages; the others differ in magnitude.
    if (options.step_ns_max > 0 && !pace.chance(33)) {
      step_ns_ = 1 + pace.below(1 + pace.below(options.step_ns_max));
    }
  }

  ~SeededEngineImpl() override {
    stop();
    SEAWAY_CHECK(thread_.processes.size() == 1, "processes end before their engine",
                 thread_.processes.back()->name());
  }

  void stop() override {
    if (!own_.is_alive()) return;
    SEAWAY_CHECK(thread_.handling == nullptr && thread_.body == nullptr,
                 "an engine may not be stopped by what it runs");
    abandon_bodies();
    // Each end may bring others about.
    const auto find = [this](const auto& which) {
      const auto found = std::ranges::find_if(thread_.processes, which);
      return found == thread_.processes.end() ? nullptr : *found;
    };
    const auto has_bodies = [](const SimulatedProcess* one) { return one->has_bodies(); };
    while (SimulatedProcess* const one = find(has_bodies)) one->finish_bodies();
    const auto is_alive = [this](const SimulatedProcess* one) {
      return one != &own_ && one->is_alive();
    };
    while (SimulatedProcess* const one = find(is_alive)) one->end();
    own_.end();
    thread_.handling = &own_;
  }

  Address spawn(std::string name, std::unique_ptr<Actor> actor) override {
    return own_.spawn(std::move(name), std::move(actor));
  }
  void post(std::function<void()> work) override { own_.post(std::move(work)); }
  TimerId schedule(std::uint64_t at_ns, std::function<void()> work) override {
    return own_.schedule(at_ns, std::move(work));
  }
  void cancel(TimerId timer) override { own_.cancel(timer); }
  bool wait(const std::function<bool()>& ready, std::uint64_t deadline_ns) override {
    return own_.wait(ready, deadline_ns);
  }
  void notify() override { own_.notify(); }
  const Clock& clock() const override { return own_.clock(); }
  bool on_control_thread() const override { return own_.on_control_thread(); }
  const std::shared_ptr<EngineGate>& gate() const override { return own_.gate(); }
  void spawn_body(std::string name, std::function<void()> body) override {
    own_.spawn_body(std::move(name), std::move(body));
  }
  void yield() override { own_.yield(); }

  std::unique_ptr<SeededProcess> make_process(std::string name) override {
    SEAWAY_CHECK(own_.is_alive(), "a stopped engine makes no processes", name);
    return std::make_unique<SimulatedProcess>(thread_, std::move(name));
  }

  bool step() override {
    SEAWAY_CHECK(thread_.handling == nullptr && thread_.body == nullptr);
    collect();
    while (candidates_.empty()) {
      const auto next_ns = next_timer_ns();
      if (!next_ns) return false;
      thread_.clock.advance_to(*next_ns);
      collect();
    }
    const Candidate chosen = candidates_[chooser_.choose(candidates_, steps_)];
    hash_ = mix64(hash_ ^ chosen.name) + 1;
    chosen.process->run(chosen);
    ++steps_;
    if (step_ns_ > 0) thread_.clock.advance_to(now_ns() + step_ns_);
    return true;
  }

  std::uint64_t run_until_idle(std::uint64_t steps_max) override {
    std::uint64_t taken = 0;
    while (taken < steps_max && step()) ++taken;
    return taken;
  }

  void abandon_bodies() override { thread_.is_abandoned = true; }

  std::uint64_t steps() const override { return steps_; }
  std::uint64_t now_ns() const override { return thread_.clock.now_ns(); }
  SchedulePolicy policy() const override { return chooser_.policy(); }
  std::vector<std::string> unfinished_bodies() const override {
    std::vector<std::string> names;
    for (const SimulatedProcess* one : thread_.processes) one->append_bodies(names);
    return names;
  }
  std::uint64_t choices_hash() const override { return hash_; }

 private:
  static SimulatedThread& prepared(SimulatedThread& thread, const SeededOptions& options) {
    thread.stack_bytes = options.stack_bytes;
    return thread;
  }

  /// All that could run now, in an order that repeats.
  void collect() {
    candidates_.clear();
    for (SimulatedProcess* one : thread_.living) one->collect(candidates_);
  }

  std::optional<std::uint64_t> next_timer_ns() const {
    std::optional<std::uint64_t> first_ns;
    for (const SimulatedProcess* one : thread_.living) {
      const auto next_ns = one->next_ns();
      if (next_ns && (!first_ns || *next_ns < *first_ns)) first_ns = next_ns;
    }
    return first_ns;
  }

  ScheduleChooser chooser_;
  SimulatedThread thread_;
  SimulatedProcess own_;
  std::vector<Candidate> candidates_;  // Scratch of step().
  std::uint64_t step_ns_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t hash_ = 0;
};

}  // namespace

std::unique_ptr<SeededEngine> make_seeded_engine(std::uint64_t seed, SeededOptions options) {
  return std::make_unique<SeededEngineImpl>(seed, options);
}

}  // namespace seaway::actor
