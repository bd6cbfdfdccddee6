// A CAF coordinator that is one thread: jobs of its own actors without a lock, others' under one.
//
// Measured reason (docs/decisions.md): with role actors and I/O on one thread, a hop between two
// actors costs no wake-up.

#include "actor/control_engine.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "actor/caf_shell.hpp"
#include "actor/timer_queue.hpp"
#include "base/check.hpp"

namespace seaway::actor {
namespace {

using caf::scheduler::test_coordinator;

/// Most messages that one actor handles before another has its turn.
constexpr std::size_t kThroughput = 64;

class Coordinator final : public test_coordinator {
 public:
  explicit Coordinator(caf::actor_system& system) : test_coordinator(system), unit_(*this) {}

  void enqueue(caf::resumable* job) override {
    if (std::this_thread::get_id() == owner.load(std::memory_order_relaxed)) {
      jobs.push_back(job);
      return;
    }
    bool is_asleep = false;
    {
      std::lock_guard guard(mutex);
      foreign.push_back(job);
      is_asleep = asleep;
    }
    // Notified after unlocking: the woken thread would otherwise run into the lock (measured).
    if (is_asleep) wake.notify_one();
  }

  /// Called while the actor system ends: its own actors still have to hear of it.
  void stop() override {
    owner = std::this_thread::get_id();
    take_foreign();
    while (run_one()) take_foreign();
  }

  bool take_foreign() {
    std::lock_guard guard(mutex);
    if (foreign.empty()) return false;
    jobs.insert(jobs.end(), foreign.begin(), foreign.end());
    foreign.clear();
    return true;
  }

  bool run_one() {
    if (jobs.empty()) return false;
    caf::resumable* job = jobs.front();
    jobs.pop_front();
    switch (job->resume(&unit_, kThroughput)) {
      case caf::resumable::resume_later:
        jobs.push_back(job);
        break;
      case caf::resumable::done:
      case caf::resumable::awaiting_message:
      case caf::resumable::shutdown_execution_unit:
        caf::intrusive_ptr_release(job);
        break;
    }
    return true;
  }

  std::atomic<std::thread::id> owner;
  std::mutex mutex;
  std::condition_variable wake;
  std::deque<caf::resumable*> foreign;  // Guarded by mutex.
  bool asleep = false;                  // Guarded by mutex.

 private:
  class Unit final : public caf::execution_unit {
   public:
    explicit Unit(Coordinator& parent) : caf::execution_unit(&parent.system()), parent_(parent) {}
    void exec_later(caf::resumable* job) override { parent_.enqueue(job); }

   private:
    Coordinator& parent_;
  };
  Unit unit_;
};

class Config : public caf::actor_system_config {
 public:
  Config() {
    module_factories.emplace_back([](caf::actor_system& system) -> caf::actor_system::module* {
      return new Coordinator(system);
    });
  }
};

class ControlEngine final : public Engine {
 public:
  explicit ControlEngine(const Clock& clock)
      : clock_(clock),
        system_(config_),
        coordinator_(dynamic_cast<Coordinator&>(system_.scheduler())) {
    system_.await_actors_before_shutdown(false);
    thread_ = std::thread([this] { run(); });
    std::unique_lock guard(coordinator_.mutex);
    coordinator_.wake.wait(guard, [this] { return started_; });
  }

  ~ControlEngine() override { stop(); }

  void stop() override {
    if (!thread_.joinable()) return;
    post([this] { stopped_ = true; });
    thread_.join();
  }

  Address spawn(std::string name, std::unique_ptr<Actor> actor) override {
    caf::actor handle;
    const auto start = [this, &handle, &name, &actor] {
      handle = system_.spawn<CafShell>(std::move(actor), std::move(name));
      actors_.push_back(handle);
    };
    if (on_control_thread()) {
      start();
    } else {
      std::atomic<bool> is_done = false;
      post([&start, &is_done, this] {
        start();
        is_done = true;
        notify();
      });
      wait([&is_done] { return is_done.load(); }, 0);
    }
    return Address(std::make_shared<const Address::Cell>(handle));
  }

  void post(std::function<void()> work) override {
    bool is_asleep = false;
    {
      std::lock_guard guard(coordinator_.mutex);
      posted_.push_back(std::move(work));
      is_asleep = coordinator_.asleep;
    }
    if (is_asleep) coordinator_.wake.notify_one();
  }

  TimerId schedule(std::uint64_t at_ns, std::function<void()> work) override {
    return timers_.schedule(at_ns, std::move(work));
  }
  void cancel(TimerId timer) override { timers_.cancel(timer); }

  bool wait(const std::function<bool()>& ready, std::uint64_t deadline_ns) override {
    SEAWAY_CHECK(!on_control_thread());
    std::unique_lock guard(wait_mutex_);
    ++waiting_;
    bool is_ready = true;
    while (!ready()) {
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
    --waiting_;
    return is_ready;
  }

  void notify() override {
    bool is_awaited = false;
    {
      std::lock_guard guard(wait_mutex_);
      is_awaited = waiting_ > 0;
    }
    if (is_awaited) changed_.notify_all();
  }

  const Clock& clock() const override { return clock_; }
  bool on_control_thread() const override {
    return std::this_thread::get_id() == coordinator_.owner.load(std::memory_order_relaxed);
  }

 private:
  void run() {
    coordinator_.owner = std::this_thread::get_id();
    {
      std::lock_guard guard(coordinator_.mutex);
      started_ = true;
    }
    coordinator_.wake.notify_all();
    while (!stopped_) {
      coordinator_.take_foreign();
      run_posted();
      fire_timers();
      // A bounded burst, so that timers and other threads' messages are never starved.
      bool ran = false;
      for (int i = 0; i < 256 && coordinator_.run_one(); ++i) ran = true;
      if (!ran && !stopped_) sleep();
    }
    shut_down();
  }

  void run_posted() {
    std::deque<std::function<void()>> works;
    {
      std::lock_guard guard(coordinator_.mutex);
      works.swap(posted_);
    }
    for (auto& work : works) work();
  }

  void fire_timers() {
    if (!timers_.next_ns()) return;
    const std::uint64_t now = clock_.now_ns();
    while (auto work = timers_.take_due(now)) work();
  }

  void sleep() {
    const auto next_ns = timers_.next_ns();
    std::unique_lock guard(coordinator_.mutex);
    if (!coordinator_.foreign.empty() || !posted_.empty() || coordinator_.has_job()) return;
    coordinator_.asleep = true;
    if (!next_ns) {
      coordinator_.wake.wait(guard);
    } else if (const std::uint64_t now = clock_.now_ns(); *next_ns > now) {
      coordinator_.wake.wait_for(guard, std::chrono::nanoseconds(*next_ns - now));
    }
    coordinator_.asleep = false;
  }

  void shut_down() {
    for (const caf::actor& actor : actors_) {
      caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
    }
    actors_.clear();
    coordinator_.take_foreign();
    while (coordinator_.run_one()) coordinator_.take_foreign();
    coordinator_.owner = std::thread::id();
  }

  const Clock& clock_;
  Config config_;
  caf::actor_system system_;
  Coordinator& coordinator_;
  TimerQueue timers_;                         // Control thread.
  std::vector<caf::actor> actors_;            // Control thread.
  std::deque<std::function<void()>> posted_;  // Guarded by coordinator_.mutex.
  bool started_ = false;                      // Guarded by coordinator_.mutex.
  bool stopped_ = false;                      // Control thread.
  std::mutex wait_mutex_;
  std::condition_variable changed_;
  int waiting_ = 0;  // Guarded by wait_mutex_.
  std::thread thread_;
};

}  // namespace

std::unique_ptr<Engine> make_control_engine(const Clock& clock) {
  return std::make_unique<ControlEngine>(clock);
}

}  // namespace seaway::actor
