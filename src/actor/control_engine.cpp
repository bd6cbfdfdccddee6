// A CAF coordinator with one thread at a time: its own jobs without a lock, others' under one.
//
// Measured reasons (docs/decisions.md): with role actors and I/O on one thread, a hop between two
// actors costs no wake-up; and a client that has to wait anyway takes the control thread's place
// while that one sleeps, so that a call and its answer cost none either.

#include "actor/control_engine.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "actor/caf_coordinator.hpp"
#include "actor/caf_shell.hpp"
#include "actor/caller_prediction.hpp"
#include "actor/engine_gate.hpp"
#include "actor/io_engine.hpp"
#include "actor/timer_queue.hpp"
#include "base/check.hpp"

namespace seaway::actor {
namespace {

/// Most messages that one actor handles before another has its turn.
constexpr std::size_t kThroughput = 64;
/// Most jobs between two looks at timers and other threads' messages.
constexpr int kBurst = 256;
/// Most bursts that are not full between two looks at sockets.
constexpr int kBurstsBetweenPolls = 8;
/// How long the control thread sleeps while it leaves work to a client that is about to wait.
constexpr std::uint64_t kNapNs = 100'000;
/// How long a client helps that does not wait here; where others answer it may have to wait.
constexpr std::uint64_t kHelpNs = 200'000, kHelpInLoopNs = 1'000'000;

class Coordinator final : public JobCoordinator {
 public:
  using JobCoordinator::JobCoordinator;

  void enqueue(caf::resumable* job) override {
    const std::thread::id self = std::this_thread::get_id();
    if (self == owner.load(std::memory_order_relaxed)) {
      jobs.push_back(job);
      return;
    }
    Sleeper sleeper = Sleeper::kNobody;
    {
      std::lock_guard guard(mutex);
      foreign.push_back(job);
      sleeper = this->sleeper();
      if (sleeper != Sleeper::kNobody && !helped) {
        const std::uint64_t now = clock->now_ns();
        const bool is_left = prediction.spoke(self, now) && !in_loop;
        left_ns = is_left ? now : 0;
        if (is_left && looks_soon(now)) sleeper = Sleeper::kNobody;
      }
    }
    // Notified after unlocking: the woken thread would otherwise run into the lock (measured).
    wake_up(sleeper);
  }

  /// Who has to be woken so that what lies here is done.
  enum class Sleeper : std::uint8_t {
    kNobody,  // Somebody is awake.
    kThread,  // The control thread, which naps.
    kInLoop,  // Whoever watches the sockets: the control thread, or a client that helps.
  };
  /// Under the mutex.
  Sleeper sleeper() const {
    if (in_loop) return Sleeper::kInLoop;
    return asleep && !helped ? Sleeper::kThread : Sleeper::kNobody;
  }
  void wake_up(Sleeper sleeper) {
    if (sleeper == Sleeper::kInLoop) waker->wake();
    if (sleeper == Sleeper::kThread) wake.notify_one();
  }

  /// Called while the actor system ends: its own actors still have to hear of it.
  void stop() override {
    owner = std::this_thread::get_id();
    take_foreign();
    while (run_one()) take_foreign();
  }

  void take_foreign() {
    std::lock_guard guard(mutex);
    take_foreign_locked();
  }
  /// Under the mutex.
  void take_foreign_locked() {
    jobs.insert(jobs.end(), foreign.begin(), foreign.end());
    foreign.clear();
  }

  bool run_one() {
    if (jobs.empty()) return false;
    caf::resumable* job = jobs.front();
    jobs.pop_front();
    run(job, kThroughput);
    return true;
  }

  /// Under the mutex: the control thread will see by itself, before long, what was left lying.
  bool looks_soon(std::uint64_t now) const { return sleeps_until_ns <= now + kNapNs; }

  const Clock* clock = nullptr;
  std::optional<transport::IoLoop::Waker> waker;  // Of an IoEngine; as it is once it has started.
  std::atomic<std::thread::id> owner;             // Who runs jobs now; nobody while all sleep.
  std::mutex mutex;
  std::condition_variable wake;
  // Guarded by mutex:
  std::vector<caf::resumable*> foreign;
  bool asleep = false;   // The control thread is, where it is no control thread meanwhile.
  bool helped = false;   // And a client that waits has taken its place.
  bool in_loop = false;  // Whoever is the control thread sleeps, or is about to, in the loop.
  CallerPrediction prediction;
  std::uint64_t sleeps_until_ns = 0;  // The control thread, unless it is woken.
  std::uint64_t left_ns = 0;  // When work was left to a client that is about to wait; 0: none is.
};

class ControlEngine final : public IoEngine, public Gated {
 public:
  enum class Sleeps : std::uint8_t { kAlone, kInLoop };

  ControlEngine(const Clock& clock, Sleeps sleeps)
      : clock_(clock),
        config_([&clock](Coordinator& coordinator) { coordinator.clock = &clock; }),
        system_(config_),
        coordinator_(dynamic_cast<Coordinator&>(system_.scheduler())) {
    give_back_logger();
    system_.await_actors_before_shutdown(false);
    thread_ = std::thread([this, sleeps] { run(sleeps); });
    std::unique_lock guard(coordinator_.mutex);
    coordinator_.wake.wait(guard, [this] { return started_; });
  }
  /// An error: it has no loop, and does nothing.
  const Status& status() const { return status_; }

  ~ControlEngine() override { stop(); }

  void stop() override {
    if (!thread_.joinable()) return;
    post([this] { stopped_ = true; });
    thread_.join();
    // Actors complete at their end what others wait for here. Who waits leaves before the engine.
    {
      std::lock_guard guard(wait_mutex_);
      ended_ = true;
    }
    changed_.notify_all();
    gate_->close();
  }

  const std::shared_ptr<EngineGate>& gate() const override { return gate_; }

  Address spawn(std::string name, std::unique_ptr<Actor> actor) override {
    caf::actor handle;
    const auto start = [this, &handle, &name, &actor] {
      handle = system_.spawn<CafShell>(std::move(actor), std::move(name));
      actors_.push_back(handle);
      give_back_logger();
    };
    if (on_control_thread()) {
      start();
    } else {
      run_on_control_thread(*this, start);
    }
    return Address(std::make_shared<const Address::Cell>(handle));
  }

  void post(std::function<void()> work) override {
    auto sleeper = Coordinator::Sleeper::kNobody;
    {
      std::lock_guard guard(coordinator_.mutex);
      posted_.push_back(std::move(work));
      sleeper = coordinator_.sleeper();
      if (sleeper != Coordinator::Sleeper::kNobody) coordinator_.left_ns = 0;
    }
    coordinator_.wake_up(sleeper);
  }

  void post_long(std::function<void()> work) override { long_.push_back(std::move(work)); }

  TimerId schedule(std::uint64_t at_ns, std::function<void()> work) override {
    return timers_.schedule(at_ns, std::move(work));
  }
  void cancel(TimerId timer) override { timers_.cancel(timer); }

  bool wait(const std::function<bool()>& ready, std::uint64_t deadline_ns) override {
    SEAWAY_CHECK(!on_control_thread());
    // Counted before it looks whether it can help: who helps now sees it, or it helps itself.
    ++callers_;
    const bool is_helped = work_until(ready, deadline_ns);
    const bool is_ready = is_helped || wait_for_notice(ready, deadline_ns);
    --callers_;
    return is_ready;
  }

  void help(const std::function<bool()>& ready) override {
    if (on_control_thread()) return;
    ++callers_;
    (void)work_until(ready, clock_.now_ns() + (coordinator_.waker ? kHelpInLoopNs : kHelpNs));
    --callers_;
  }

  void notify() override {
    bool is_awaited = false;
    {
      std::lock_guard guard(wait_mutex_);
      is_awaited = std::ranges::any_of(waiting_, [](const auto* ready) { return (*ready)(); });
    }
    if (is_awaited) changed_.notify_all();
  }

  transport::IoLoop& loop() override {
    SEAWAY_CHECK(on_control_thread() && loop_);
    return *loop_;
  }

  const Clock& clock() const override { return clock_; }
  bool on_control_thread() const override {
    return std::this_thread::get_id() == coordinator_.owner.load(std::memory_order_relaxed);
  }

 private:
  /// Sleeps until somebody has called notify() and it was for this.
  bool wait_for_notice(const std::function<bool()>& ready, std::uint64_t deadline_ns) {
    std::unique_lock guard(wait_mutex_);
    waiting_.push_back(&ready);
    bool is_ready = true;
    while (!ready()) {
      if (ended_) {
        is_ready = false;
        break;
      }
      if (deadline_ns == 0) {
        changed_.wait(guard);
        continue;
      }
      const std::uint64_t now = clock_.now_ns();
      if (now >= deadline_ns) {
        is_ready = false;
        break;
      }
      changed_.wait_for(guard, std::chrono::nanoseconds(deadline_ns - now));
    }
    std::erase(waiting_, &ready);
    return is_ready;
  }

  void run(Sleeps sleeps) {
    if (sleeps == Sleeps::kInLoop) {
      auto made = transport::IoLoop::make();
      made.ok() ? static_cast<void>(loop_ = std::move(*made))
                : static_cast<void>(status_ = made.status());
    }
    coordinator_.owner = std::this_thread::get_id();
    {
      std::lock_guard guard(coordinator_.mutex);
      if (loop_) coordinator_.waker = loop_->waker();
      started_ = true;
    }
    coordinator_.wake.notify_all();
    while (!stopped_ && status_.ok()) {
      take_turns();
      // A bounded burst, so that timers and other threads' messages are never starved.
      int ran = 0;
      while (ran < kBurst && coordinator_.run_one()) ++ran;
      if (stopped_) break;
      if (ran < kBurst && !long_.empty()) {
        run_long();
      } else if (loop_) {
        turn_loop(ran);
      } else if (ran == 0) {
        sleep();
      }
    }
    shut_down();
    loop_.reset();
  }

  /// CAF lends its logger to each thread that makes a system or an actor, and the end of the system
  /// waits until it has come back: for ever, if such a thread lives on.
  static void give_back_logger() { caf::logger::set_current_actor_system(nullptr); }

  /// What came from elsewhere since the last burst.
  void take_turns() {
    {
      std::lock_guard guard(coordinator_.mutex);
      coordinator_.take_foreign_locked();
      works_.swap(posted_);
    }
    for (auto& work : works_) work();
    works_.clear();
    fire_timers();
  }

  /// The calling client does the control thread's work while that one sleeps, until `ready()` or
  /// until there is nothing to do; where others answer it waits for them. True when ready.
  bool work_until(const std::function<bool()>& ready, std::uint64_t deadline_ns) {
    const std::thread::id self = std::this_thread::get_id();
    const bool was_ready = ready();
    {
      std::lock_guard guard(coordinator_.mutex);
      coordinator_.prediction.waits(self, clock_.now_ns());
      if (was_ready) return true;
      if (!coordinator_.asleep || coordinator_.helped) return false;
      coordinator_.helped = true;
      coordinator_.left_ns = 0;
      coordinator_.owner = self;
    }
    const bool is_ready = (!loop_ || loop_->enter()) && do_work(ready, deadline_ns);
    bool wakes = false;
    {
      std::lock_guard guard(coordinator_.mutex);
      coordinator_.owner = std::thread::id();
      coordinator_.helped = false;
      const auto next_ns = timers_.next_ns();
      // What is left of this client's own call can wait for its next one, unless others wait.
      const bool is_left = is_ready && coordinator_.has_job() && coordinator_.foreign.empty() &&
                           posted_.empty() && callers_ == 1 && coordinator_.prediction.is_likely();
      const std::uint64_t now = clock_.now_ns();
      if (is_left) coordinator_.left_ns = now;
      wakes = stopped_ || (has_work() && !(is_left && coordinator_.looks_soon(now))) ||
              (next_ns && *next_ns < coordinator_.sleeps_until_ns) ||
              (coordinator_.waker && !coordinator_.looks_soon(now));
    }
    if (wakes) coordinator_.wake_up(Coordinator::Sleeper::kThread);
    return is_ready;
  }

  /// As the control thread, of a client that is it now. True when ready.
  bool do_work(const std::function<bool()>& ready, std::uint64_t deadline_ns) {
    bool is_ready = false;
    for (bool ran = true; (ran || loop_) && !is_ready && !stopped_;) {
      take_turns();
      ran = false;
      for (int i = 0; i < kBurst && !is_ready && coordinator_.run_one(); ++i) {
        ran = true;
        is_ready = ready();
      }
      is_ready = is_ready || ready();
      if (is_ready || (deadline_ns > 0 && clock_.now_ns() >= deadline_ns)) break;
      if (!ran && !long_.empty()) {
        run_long();
        ran = true;
        continue;
      }
      if (loop_ && !ran) wait_in_loop(deadline_ns > 0 ? deadline_ns : UINT64_MAX);
    }
    if (!loop_) return is_ready;
    // What is left is often for others, who would have to wait until the control thread looks.
    for (int i = 0; i < kBurst && coordinator_.run_one(); ++i) continue;
    loop_->leave();
    return is_ready;
  }

  /// Under the mutex, or where nobody else may look.
  bool has_work() const {
    return !coordinator_.foreign.empty() || !posted_.empty() || !long_.empty() ||
           coordinator_.has_job();
  }

  /// The next of what takes long, once all others have had their turn and what they have said has
  /// been written.
  void run_long() {
    if (loop_) loop_->poll();
    const std::function<void()> work = std::move(long_.front());
    long_.pop_front();
    work();
  }

  void fire_timers() {
    if (!timers_.next_ns()) return;
    const std::uint64_t now = clock_.now_ns();
    while (auto work = timers_.take_due(now)) work();
  }

  /// Until there is something to do that no client does itself, such as a look at the sockets.
  void sleep() {
    std::unique_lock guard(coordinator_.mutex);
    if (has_work()) return;
    if (loop_) loop_->leave();
    coordinator_.owner = std::thread::id();
    coordinator_.asleep = true;
    const std::uint64_t looks_ns = loop_ ? clock_.now_ns() + kNapNs : UINT64_MAX;
    for (;;) {
      const std::uint64_t now = clock_.now_ns();
      coordinator_.sleeps_until_ns = UINT64_MAX;
      if (!coordinator_.helped) {
        const auto next_ns = timers_.next_ns();
        if (stopped_ || (next_ns && *next_ns <= now)) break;
        if (has_work() ? !is_left_to_caller(now) : now >= looks_ns) break;
        coordinator_.sleeps_until_ns = std::min(next_ns.value_or(UINT64_MAX), looks_ns);
        coordinator_.prediction.forget_if_quiet(now);
      }
      if (coordinator_.prediction.is_likely() || coordinator_.left_ns > 0) {
        coordinator_.sleeps_until_ns = std::min(coordinator_.sleeps_until_ns, now + kNapNs);
      }
      if (coordinator_.sleeps_until_ns == UINT64_MAX) {
        coordinator_.wake.wait(guard);
      } else {
        coordinator_.wake.wait_for(guard,
                                   std::chrono::nanoseconds(coordinator_.sleeps_until_ns - now));
      }
    }
    coordinator_.left_ns = 0;
    coordinator_.asleep = false;
    coordinator_.owner = std::this_thread::get_id();
    if (loop_) SEAWAY_CHECK(loop_->enter());
  }

  /// Looks at sockets, now and then while there is work, or sleeps there until there is some; while
  /// a client calls and waits in turns, it naps and leaves them to that one.
  void turn_loop(int ran) {
    if (ran > 0 && ran < kBurst && ++bursts_ < kBurstsBetweenPolls) return;
    bursts_ = 0;
    bool naps = false;
    {
      std::lock_guard guard(coordinator_.mutex);
      naps = coordinator_.prediction.is_likely();
    }
    if (!naps) return wait_in_loop(UINT64_MAX);
    loop_->poll();
    sleep();
  }

  /// Sleeps in the loop until there is something to do, which sockets bring or others; or looks at
  /// the sockets, where there is something already, or `until_ns` is over.
  void wait_in_loop(std::uint64_t until_ns) {
    until_ns = std::min(until_ns, timers_.next_ns().value_or(UINT64_MAX));
    const std::uint64_t now = until_ns < UINT64_MAX ? clock_.now_ns() : 0;
    bool sleeps = false;
    {
      std::lock_guard guard(coordinator_.mutex);
      sleeps = !has_work() && until_ns > now;
      coordinator_.in_loop = sleeps;
      if (!coordinator_.helped) coordinator_.sleeps_until_ns = until_ns;
    }
    if (!sleeps) return loop_->poll();
    // What comes from its sockets meanwhile is posted and sent by this thread itself.
    loop_->wait(until_ns < UINT64_MAX ? until_ns - now : UINT64_MAX);
    std::lock_guard guard(coordinator_.mutex);
    coordinator_.in_loop = false;
  }

  /// Whether what lies here is for a client that will wait in a moment. Under the mutex.
  bool is_left_to_caller(std::uint64_t now) {
    if (coordinator_.left_ns == 0) return false;
    if (now - coordinator_.left_ns < CallerPrediction::kPatienceNs) return true;
    coordinator_.prediction.missed();
    return false;
  }

  void shut_down() {
    for (const caf::actor& actor : actors_) shell_of(actor).end();
    coordinator_.take_foreign();
    while (coordinator_.run_one()) coordinator_.take_foreign();
    actors_.clear();
    coordinator_.owner = std::thread::id();
  }

  const Clock& clock_;
  CoordinatorConfig<Coordinator> config_;
  caf::actor_system system_;
  Coordinator& coordinator_;
  TimerQueue timers_;                          // Whoever runs jobs.
  std::vector<caf::actor> actors_;             // Whoever runs jobs.
  std::vector<std::function<void()>> posted_;  // Guarded by coordinator_.mutex.
  std::deque<std::function<void()>> long_;     // On the control thread only.
  std::vector<std::function<void()>> works_;   // Taken from there; whoever runs jobs.
  bool started_ = false;                       // Guarded by coordinator_.mutex.
  bool stopped_ = false;                       // Whoever runs jobs.
  std::unique_ptr<transport::IoLoop> loop_;    // Of an IoEngine. Control thread.
  Status status_;                              // As it was when the thread began.
  int bursts_ = 0;                             // Since it was polled. Control thread.
  std::mutex wait_mutex_;
  std::condition_variable changed_;
  /// What those wait for who sleep. Guarded by wait_mutex_.
  std::vector<const std::function<bool()>*> waiting_;
  bool ended_ = false;  // Nothing changes any more. Guarded by wait_mutex_.
  const std::shared_ptr<EngineGate> gate_ = std::make_shared<EngineGate>();
  std::atomic<int> callers_ = 0;  // Clients in wait().
  std::thread thread_;
};

}  // namespace

std::unique_ptr<Engine> make_control_engine(const Clock& clock) {
  return std::make_unique<ControlEngine>(clock, ControlEngine::Sleeps::kAlone);
}

Result<std::unique_ptr<IoEngine>> make_io_engine(const Clock& clock) {
  try {
    auto engine = std::make_unique<ControlEngine>(clock, ControlEngine::Sleeps::kInLoop);
    if (!engine->status().ok()) return engine->status();
    return std::unique_ptr<IoEngine>(std::move(engine));
  } catch (const std::system_error& error) {
    return resource_exhausted(std::string("this process cannot begin: no thread: ") + error.what());
  }
}

void run_on_control_thread(Engine& engine, const std::function<void()>& work) {
  std::atomic<bool> is_done = false;
  engine.post([&work, &is_done, &engine] {
    work();
    is_done = true;
    engine.notify();
  });
  engine.wait([&is_done] { return is_done.load(); }, 0);
}

}  // namespace seaway::actor
