// Two CAF actors on a coordinator that is this thread; the queue has a lock for foreign threads, as
// the control thread's has, and no job ever crosses it here.

#include "benchmarks/dispatch/caf_request.hpp"

#include <caf/all.hpp>
#include <caf/scheduler/test_coordinator.hpp>
#include <mutex>
#include <thread>
#include <vector>

#include "benchmarks/support/measure.hpp"

namespace seaway::benchmarks {
namespace {

using caf::scheduler::test_coordinator;

class Coordinator final : public test_coordinator {
 public:
  explicit Coordinator(caf::actor_system& system)
      : test_coordinator(system), owner_(std::this_thread::get_id()), unit_(*this) {}

  void enqueue(caf::resumable* job) override {
    if (std::this_thread::get_id() == owner_) {
      jobs.push_back(job);
      return;
    }
    std::lock_guard guard(mutex_);
    foreign_.push_back(job);
  }

  void run_all() {
    for (;;) {
      {
        std::lock_guard guard(mutex_);
        jobs.insert(jobs.end(), foreign_.begin(), foreign_.end());
        foreign_.clear();
      }
      if (jobs.empty()) return;
      for (int i = 0; i < kBurst && !jobs.empty(); ++i) run_one();
    }
  }

 private:
  /// Jobs between two looks at what other threads have sent, as on the control thread.
  static constexpr int kBurst = 256;
  static constexpr std::size_t kThroughput = 64;

  class Unit final : public caf::execution_unit {
   public:
    explicit Unit(Coordinator& parent) : caf::execution_unit(&parent.system()), parent_(parent) {}
    void exec_later(caf::resumable* job) override { parent_.enqueue(job); }

   private:
    Coordinator& parent_;
  };

  void run_one() {
    caf::resumable* const job = jobs.front();
    jobs.pop_front();
    if (job->resume(&unit_, kThroughput) == caf::resumable::resume_later) {
      jobs.push_back(job);
    } else {
      caf::intrusive_ptr_release(job);
    }
  }

  const std::thread::id owner_;
  std::mutex mutex_;
  std::deque<caf::resumable*> foreign_;  // Guarded by mutex_.
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

/// Answers each int with the next one.
caf::behavior echo(caf::event_based_actor*) {
  return {[](int number) { return number + 1; }};
}

/// Asks again as soon as it has its answer, until the answer is `last`.
void ask(caf::event_based_actor* self, const caf::actor& server, int number, int last) {
  self->request(server, caf::infinite, number).then([self, server, last](int answer) {
    if (answer < last) ask(self, server, answer, last);
  });
}

}  // namespace

double caf_request_ns(std::uint32_t round_trips, int rounds) {
  Config config;
  caf::actor_system system(config);
  system.await_actors_before_shutdown(false);
  auto& coordinator = dynamic_cast<Coordinator&>(system.scheduler());
  const caf::actor server = system.spawn(echo);
  std::vector<double> rounds_ns;
  for (int round = 0; round < rounds; ++round) {
    const int last = static_cast<int>(round_trips);
    system.spawn([&server, last](caf::event_based_actor* self) { ask(self, server, 0, last); });
    const std::uint64_t begin_ns = now_ns();
    coordinator.run_all();
    const auto elapsed_ns = static_cast<double>(now_ns() - begin_ns);
    rounds_ns.push_back(elapsed_ns / round_trips);
  }
  caf::anon_send_exit(server, caf::exit_reason::user_shutdown);
  coordinator.run_all();
  return quantile(std::move(rounds_ns), 0.1);
}

}  // namespace seaway::benchmarks
