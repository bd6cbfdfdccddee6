// Whose books an event enters, and what must never pass from one life to another.

#include "sim/life_checkers.hpp"

#include <algorithm>

namespace seaway::sim {

using actor::Role;
using cluster::RoleName;
using events::Event;
using events::EventKind;

namespace {

constexpr RoleName kController{Role::kController, 0};

}  // namespace

/// A host that is gone holds nothing, and runs nothing; what was handed to its island is open.
void LifeCheckers::Books::record(const Event& event, bool is_alive) {
  progress.record(event);
  if (!is_alive) return;
  gangs.record(event);
  inputs.record(event);
  memory.record(event);
}

LifeCheckers::LifeCheckers(Sources sources, Verdict& verdict)
    : sources_(std::move(sources)),
      verdict_(verdict),
      outcomes_(verdict),
      delays_(sources_.surroundings, verdict),
      losses_(sources_.surroundings, verdict) {}

void LifeCheckers::started(const RoleName& name, std::uint32_t life) {
  lives_[name] = life;
  if (name.role == Role::kHost) {
    alive_[name.index] = std::make_unique<Books>(sources_.surroundings, verdict_, life);
    losses_.forget(name.index);
  } else if (name == kController && life > 1) {
    outcomes_.restart();
    doomed_.clear();
    given_up_.clear();
  }
}

void LifeCheckers::ended(const RoleName& name, std::uint32_t) {
  if (name.role == Role::kHost) {
    dead_[name.index] = std::move(alive_[name.index]);
    delays_.lose(name.index);
  }
  if (name.role == Role::kIsland) spoken_to_.erase(name);
  if (name == kController) {
    verdict_.coverage.add(Feature::kControllerLostWithRuns, outcomes_.open_count() > 0);
  } else if (name.role == Role::kClient) {
    verdict_.coverage.add(Feature::kClientLostWithRuns, outcomes_.open_count(name.index) > 0);
  }
}

LifeCheckers::Books* LifeCheckers::books_of(IslandId island, std::uint32_t life) {
  for (auto* shelf : {&alive_, &dead_}) {
    const auto found = shelf->find(island);
    if (found != shelf->end() && found->second && found->second->life == life) {
      return found->second.get();
    }
  }
  return nullptr;
}

void LifeCheckers::record(const RoleName& teller, const Event& event) {
  switch (teller.role) {
    case Role::kController:
      return hear_controller(event);
    case Role::kHost:
      return hear_host(teller, event);
    case Role::kIsland:
      return hear_scheduler(teller, event);
    case Role::kClient:
    case Role::kAnnex:
      return;
  }
}

void LifeCheckers::hear_controller(const Event& event) {
  if (event.kind == EventKind::kResolve) resolve(event);
  if (event.kind == EventKind::kRerun) doomed_.erase(event.object);
  outcomes_.record(event);
  losses_.record(event);
  for (auto& [island, books] : alive_) {
    if (books) books->inputs.record(event);
  }
  if (event.kind == EventKind::kHostJoined) {
    joined_[{lives_[kController], event.island}].push_back(
        {sources_.views(event.island), static_cast<std::uint32_t>(event.value)});
  } else if (event.kind == EventKind::kHostLost) {
    lose_host(event.island);
  }
}

void LifeCheckers::resolve(const Event& event) {
  const auto found = doomed_.find(event.object);
  if (event.code == StatusCode::kOk && found != doomed_.end()) {
    verdict_.report(Breach::kCorrectness, "I8",
                    "run " + std::to_string(event.object) + " succeeded, but the host of island " +
                        std::to_string(found->second) +
                        " was lost before its part there had finished");
  }
  const bool is_lost = event.code == StatusCode::kHostLost && found == doomed_.end();
  const auto islands = islands_of_.find(event.object);
  const bool has_edges = islands != islands_of_.end() && islands->second.size() > 1;
  verdict_.coverage.add(Feature::kRunLostBetweenHosts, is_lost && has_edges);
  if (islands != islands_of_.end()) islands_of_.erase(islands);
}

void LifeCheckers::lose_host(IslandId island) {
  const auto joined = joined_.find({lives_[kController], island});
  if (joined == joined_.end() || joined->second.empty()) return;
  const std::uint32_t life = joined->second.back().life;
  given_up_[island] = life;
  const Books* const books = books_of(island, life);
  if (!books) return;
  const std::set<RunId> open = books->progress.open_runs(island);
  bool has_edges = false;
  for (const RunId run : open) {
    doomed_.emplace(run, island);
    for (const auto& [other, others] : alive_) {
      has_edges |= other != island && others && others->progress.open_runs(other).contains(run);
    }
  }
  verdict_.coverage.add(Feature::kHostLostWithRuns, !open.empty());
  verdict_.coverage.add(Feature::kHostLostWithEdges, has_edges);
  verdict_.coverage.add(Feature::kHostLostWithArrays, books->memory.array_count() > 0);
}

void LifeCheckers::hear_host(const RoleName& teller, const Event& event) {
  const std::uint32_t life = lives_[teller];
  const auto given_up = given_up_.find(teller.index);
  const bool is_zombie = given_up != given_up_.end() && given_up->second == life;
  verdict_.coverage.add(Feature::kZombieHost, is_zombie);
  outcomes_.record(event);
  delays_.record(event);
  losses_.record(event);
  const auto found = alive_.find(teller.index);
  if (found != alive_.end() && found->second) found->second->record(event, true);
  if (event.kind != EventKind::kSend) return;
  // Who still serves a controller that is gone means other runs by the same stamps.
  const std::uint32_t served = sources_.controller_life(teller);
  if (served != sources_.controller_life({Role::kHost, event.place})) return;
  const auto receiver = alive_.find(event.place);
  if (receiver != alive_.end() && receiver->second) receiver->second->inputs.record(event);
}

void LifeCheckers::hear_scheduler(const RoleName& teller, const Event& event) {
  if (event.kind == EventKind::kView) begin_view(teller, event);
  if (event.kind == EventKind::kLaunch) islands_of_[event.object].insert(event.island);
  const auto spoken_to = spoken_to_.find(teller);
  if (spoken_to == spoken_to_.end()) {
    verdict_.report(Breach::kCorrectness, "I17",
                    cluster::to_string(teller) + " has said something before its first view");
    return;
  }
  Books* const books = books_of(teller.index, spoken_to->second);
  delays_.record(event);
  // What it says to a host that is gone reaches nobody.
  if (books) books->record(event, books == alive_[teller.index].get());
}

void LifeCheckers::begin_view(const RoleName& teller, const Event& event) {
  const Island island{sources_.controller_life(teller), teller.index};
  const std::string name = "view " + std::to_string(event.value) + " of island " +
                           std::to_string(teller.index) + ", in which " +
                           cluster::to_string(teller) + " speaks in its life " +
                           std::to_string(lives_[teller]) + ", ";
  std::uint64_t& last = last_view_[island];
  if (event.value <= last) {
    verdict_.report(Breach::kCorrectness, "I17",
                    name + "begins behind view " + std::to_string(last));
  }
  last = std::max(last, event.value);
  std::uint32_t host_life = 0;
  for (const Joined& joined : joined_[island]) {
    if (joined.views_before < event.value) host_life = joined.life;
  }
  if (host_life == 0) {
    verdict_.report(Breach::kCorrectness, "I17", name + "is one that no controller began");
  }
  const auto before = spoken_to_.find(teller);
  const bool is_first = before == spoken_to_.end();
  verdict_.coverage.add(Feature::kViewWithoutDeath, !is_first && before->second == host_life);
  verdict_.coverage.add(Feature::kSchedulerRestored,
                        is_first && lives_[teller] > 1 && event.object > 0);
  spoken_to_[teller] = host_life;
}

void LifeCheckers::finish() {
  outcomes_.finish_open();
  for (auto& [island, books] : alive_) {
    if (!books) continue;
    books->gangs.finish();
    books->memory.finish();
    books->progress.finish();
  }
}

}  // namespace seaway::sim
