// JobCoordinator: a CAF scheduler whose jobs run only when its engine says so. For the engines.

#pragma once

#include <caf/all.hpp>
#include <caf/scheduler/test_coordinator.hpp>
#include <functional>
#include <utility>

namespace seaway::actor {

/// What both engines' coordinators have in common; who may touch `jobs` is theirs to say.
class JobCoordinator : public caf::scheduler::test_coordinator {
 public:
  explicit JobCoordinator(caf::actor_system& system) : test_coordinator(system), unit_(*this) {}

  /// Lets `job`, which is in no list, handle up to `throughput` messages. When it has more it goes
  /// behind the others.
  void run(caf::resumable* job, std::size_t throughput) {
    if (job->resume(&unit_, throughput) == caf::resumable::resume_later) {
      jobs.push_back(job);
    } else {
      caf::intrusive_ptr_release(job);
    }
  }

 private:
  class Unit final : public caf::execution_unit {
   public:
    explicit Unit(JobCoordinator& parent)
        : caf::execution_unit(&parent.system()), parent_(parent) {}
    void exec_later(caf::resumable* job) override { parent_.enqueue(job); }

   private:
    JobCoordinator& parent_;
  };
  Unit unit_;
};

/// Makes an actor system use a coordinator of type `Coordinator`, once `prepare` has seen it.
template <class Coordinator>
class CoordinatorConfig : public caf::actor_system_config {
 public:
  explicit CoordinatorConfig(std::function<void(Coordinator&)> prepare = {}) {
    module_factories.emplace_back(
        [prepare = std::move(prepare)](caf::actor_system& system) -> caf::actor_system::module* {
          auto* coordinator = new Coordinator(system);
          if (prepare) prepare(*coordinator);
          return coordinator;
        });
  }
};

}  // namespace seaway::actor
