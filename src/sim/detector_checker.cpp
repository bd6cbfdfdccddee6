// Who is not heard, since when, and what the controller makes of it.

#include "sim/detector_checker.hpp"

#include <string>

namespace seaway::sim {

using actor::Role;
using cluster::RoleName;
using events::Event;
using events::EventKind;
using Kind = ProcessFault::Kind;

namespace {

constexpr RoleName kController{Role::kController, 0};

bool is_follower(const RoleName& name) {
  return name.role == Role::kHost || name.role == Role::kIsland;
}

/// The one whom the controller cannot hear because of it; the controller: none, or nobody else.
RoleName silenced_by(const ProcessFault& fault) {
  switch (fault.kind) {
    case Kind::kPause:
    case Kind::kIsolate:
    case Kind::kMute:
      return fault.target;
    case Kind::kCutPair:
      if (fault.target == kController) return fault.other;
      return fault.other == kController ? fault.target : kController;
    default:
      return kController;
  }
}

/// What the controller does in its time is not what it would do.
bool is_of_controller(const ProcessFault& fault) {
  return fault.target == kController && fault.kind != Kind::kCutPair;
}

}  // namespace

void DetectorChecker::watch(const RoleName& name) {
  const std::uint32_t life = known_life(name);
  if (!is_follower(name) || life == 0 || life != lives_[name]) return;
  for (const Watched& one : watched_) {
    if (one.name == name && one.life == life) return;
  }
  watched_.push_back({name, life, now_()});
}

void DetectorChecker::leave(const RoleName& name) {
  std::erase_if(watched_, [&name](const Watched& one) { return one.name == name; });
}

void DetectorChecker::started(const RoleName& name, std::uint32_t life) {
  lives_[name] = life;
  leave(name);
  if (name != kController || life == 1) return;
  known_.clear();
  given_up_.clear();
  failed_.clear();
  watched_.clear();
}

void DetectorChecker::ended(const RoleName& name, std::uint32_t) {
  if (name == kController) return watched_.clear();
  watch(name);
}

void DetectorChecker::orphaned(const RoleName& name) {
  if (name.role == Role::kClient || may_be_lost(ProcessTruth::struck_by(name))) return;
  verdict_.report(
      Breach::kCorrectness, "I18",
      cluster::to_string(name) + " ended itself, but nothing was done to it or to the controller");
}

void DetectorChecker::began(const ProcessFault& fault) {
  if (is_of_controller(fault)) return watched_.clear();
  if (truth_.is_odd(kController)) return;
  watch(silenced_by(fault));
}

void DetectorChecker::finished(const ProcessFault& fault) {
  if (is_of_controller(fault)) return watched_.clear();
  leave(silenced_by(fault));
}

void DetectorChecker::record(const RoleName& teller, const Event& event) {
  // A life that was given up may still begin a view of before; it is never taken back.
  const bool is_given_up = given_up_[teller] == lives_[teller];
  if (event.kind == EventKind::kView && !is_given_up) known_[teller] = lives_[teller];
  if (teller != kController) return;
  if (event.kind == EventKind::kIslandFailed) {
    // Both roles are given up, whoever of them was lost too often: see restart_checker.
    failed_.insert(event.island);
    if (event.value == 0) failed_.erase(event.island);
  } else if (event.kind == EventKind::kHostJoined) {
    known_[{Role::kHost, event.island}] = static_cast<std::uint32_t>(event.value);
  } else if (event.kind == EventKind::kHostLost) {
    lose({Role::kHost, event.island});
  } else if (event.kind == EventKind::kSchedulerLost) {
    lose({Role::kIsland, event.island});
  }
}

void DetectorChecker::lose(const RoleName& name) {
  given_up_[name] = known_life(name);
  known_.erase(name);
  leave(name);
  if (may_be_lost(name)) return;
  verdict_.report(Breach::kCorrectness, "I18",
                  "the controller took " + cluster::to_string(name) +
                      " for lost, but nothing was done to either of them");
}

bool DetectorChecker::may_be_lost(const RoleName& name) const {
  return failed_.contains(name.index) || truth_.may_be_apart(name, kController);
}

void DetectorChecker::look() {
  if (watched_.empty() || now_() < watched_.front().since_ns + kDetectNsMax) return;
  const Watched late = watched_.front();
  watched_.erase(watched_.begin());
  // Something of before may still be in the controller's way.
  if (known_life(late.name) != late.life || truth_.is_odd(kController)) return;
  verdict_.report(Breach::kLiveness, "I18",
                  cluster::to_string(late.name) + " in its life " + std::to_string(late.life) +
                      " was not heard from " + std::to_string(late.since_ns) +
                      " ns on, and the controller does not know it at " + std::to_string(now_()));
}

std::uint32_t DetectorChecker::known_life(const RoleName& name) const {
  const auto found = known_.find(name);
  return found == known_.end() ? 0 : found->second;
}

}  // namespace seaway::sim
