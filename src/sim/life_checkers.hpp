// LifeCheckers: the checkers of events, where roles have lives that end while others go on.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/delay_checker.hpp"
#include "sim/gang_checker.hpp"
#include "sim/input_checker.hpp"
#include "sim/loss_checker.hpp"
#include "sim/memory_checker.hpp"
#include "sim/outcome_checker.hpp"
#include "sim/process_sink.hpp"
#include "sim/progress_checker.hpp"
#include "sim/surroundings.hpp"
#include "sim/verdict.hpp"

namespace seaway::sim {

/// What one life of an island's host does is checked by itself, also when the controller has given
/// it up: a life that is over enters no other one's books. What a scheduler says is about the host
/// whose knowledge its view began with. With a new life of the controller all runs begin anew.
///
/// I8: a run of which a part was unfinished when its host was lost does not succeed, whoever says
/// afterwards that the part is over; no edge reaches a life that was not there when it was sent.
/// I17: the views of an island rise, each is of one scheduler, and nobody speaks outside of one.
class LifeCheckers final : public ProcessSink {
 public:
  /// What checkers ask that events leave out, about those who live now.
  struct Sources {
    const Surroundings& surroundings;
    /// The life of the controller that a scheduler or a host has joined.
    std::function<std::uint32_t(const cluster::RoleName&)> controller_life;
    /// How many views of an island the controller has begun.
    std::function<std::uint64_t(IslandId)> views;
  };
  LifeCheckers(Sources sources, Verdict& verdict);

  void started(const cluster::RoleName& name, std::uint32_t life) override;
  void ended(const cluster::RoleName& name, std::uint32_t life) override;
  void record(const cluster::RoleName& teller, const events::Event& event) override;

  /// At the end of a client that lost nobody and that nobody lost.
  void finish(ClientId client, const Counts& counted) { outcomes_.finish(client, counted); }
  /// Once nothing can happen any more.
  void finish();

 private:
  /// Of one life of an island's host.
  struct Books {
    Books(const Surroundings& surroundings, Verdict& verdict, std::uint32_t life_of_host)
        : life(life_of_host),
          gangs(surroundings, verdict),
          inputs(surroundings, verdict),
          memory(surroundings, verdict),
          progress(verdict) {}
    void record(const events::Event& event, bool is_alive);

    const std::uint32_t life;
    GangChecker gangs;
    InputChecker inputs;
    MemoryChecker memory;
    ProgressChecker progress;
  };
  struct Joined {  // The host whose views come after so many others.
    std::uint64_t views_before = 0;
    std::uint32_t life = 0;
  };
  using Island = std::pair<std::uint32_t, IslandId>;  // Of one life of the controller.

  void hear_controller(const events::Event& event);
  void hear_host(const cluster::RoleName& teller, const events::Event& event);
  void hear_scheduler(const cluster::RoleName& teller, const events::Event& event);
  void begin_view(const cluster::RoleName& teller, const events::Event& event);
  void lose_host(IslandId island);
  void resolve(const events::Event& event);
  Books* books_of(IslandId island, std::uint32_t life);

  const Sources sources_;
  Verdict& verdict_;
  OutcomeChecker outcomes_;
  DelayChecker delays_;
  LossChecker losses_;
  std::map<IslandId, std::unique_ptr<Books>> alive_, dead_;  // The present life, and the last one.
  std::map<cluster::RoleName, std::uint32_t> lives_;
  std::map<Island, std::vector<Joined>> joined_;
  std::map<Island, std::uint64_t> last_view_;
  std::map<cluster::RoleName, std::uint32_t> spoken_to_;  // By scheduler: the life of its host.
  std::map<RunId, std::set<IslandId>> islands_of_;        // That runs were launched on.
  std::map<RunId, IslandId> doomed_;                      // A host was lost with a part of them.
  std::map<IslandId, std::uint32_t> given_up_;  // The last life that the controller took for lost.
};

}  // namespace seaway::sim
