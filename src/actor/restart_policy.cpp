// Supervision: which members of a mesh are stopped and started anew when one of them dies.

#include "actor/restart_policy.hpp"

#include <string>
#include <utility>

#include "base/check.hpp"

namespace seaway {

std::string_view to_string(Restart restart) {
  switch (restart) {
    case Restart::kMember:
      return "member";
    case Restart::kGang:
      return "gang";
    case Restart::kNever:
      return "never";
  }
  return "unknown";
}

std::string to_string(const Intensity& intensity) {
  return std::to_string(intensity.restarts_max) +
         (intensity.restarts_max == 1 ? " restart in " : " restarts in ") +
         std::to_string(intensity.window_ns / 1'000'000) + " ms";
}

namespace actor {

Supervision::Supervision(Restart restart, Intensity intensity, std::uint32_t members)
    : restart_(restart), intensity_(intensity), members_(members) {}

Supervision::Decision Supervision::on_death(std::uint32_t member, std::uint32_t incarnation,
                                            std::uint64_t now_ns) {
  Member& dead = at(member);
  if (dead.incarnation != incarnation || !is_alive(dead)) return {};
  if (restart_ == Restart::kNever) {
    dead.state = State::kDead;
    return {};
  }
  if (!count_restart(now_ns)) return give_up(member);
  Decision decision;
  if (restart_ == Restart::kMember) {
    decision.start.push_back(begin_anew(member));
    return decision;
  }
  decision.stop = others_alive(member);
  decision.start.reserve(members_.size());
  for (std::uint32_t m = 0; m < size(); ++m) decision.start.push_back(begin_anew(m));
  return decision;
}

Supervision::Decision Supervision::on_start_failed(std::uint32_t member, std::uint32_t incarnation,
                                                   std::uint64_t now_ns) {
  return on_death(member, incarnation, now_ns);
}

bool Supervision::on_started(std::uint32_t member, std::uint32_t incarnation) {
  Member& started = at(member);
  if (started.incarnation != incarnation || !is_alive(started)) return false;
  started.state = State::kRunning;
  return true;
}

Supervision::State Supervision::state(std::uint32_t member) const { return at(member).state; }

std::uint32_t Supervision::incarnation(std::uint32_t member) const {
  return at(member).incarnation;
}

Supervision::Member& Supervision::at(std::uint32_t member) {
  SEAWAY_CHECK(member < members_.size(), member, members_.size());
  return members_[member];
}

const Supervision::Member& Supervision::at(std::uint32_t member) const {
  SEAWAY_CHECK(member < members_.size(), member, members_.size());
  return members_[member];
}

bool Supervision::count_restart(std::uint64_t now_ns) {
  const auto is_over = [this, now_ns](std::uint64_t at_ns) {
    return at_ns <= now_ns && now_ns - at_ns >= intensity_.window_ns;
  };
  while (!restarts_ns_.empty() && is_over(restarts_ns_.front())) restarts_ns_.pop_front();
  if (restarts_ns_.size() >= intensity_.restarts_max) return false;
  restarts_ns_.push_back(now_ns);
  return true;
}

Supervision::Decision Supervision::give_up(std::uint32_t member) {
  const std::string limit = seaway::to_string(intensity_);
  Decision decision;
  decision.stop = others_alive(member);
  decision.given_up =
      actor_lost("the mesh of " + std::to_string(members_.size()) + " is given up: member " +
                 std::to_string(member) + " died in incarnation " +
                 std::to_string(members_[member].incarnation) + ", after " + limit +
                 ", and no more are allowed; see why it died, or raise Intensity::restarts_max");
  for (Member& each : members_) each.state = State::kGivenUp;
  is_given_up_ = true;
  return decision;
}

std::vector<Supervision::Life> Supervision::others_alive(std::uint32_t dead) const {
  std::vector<Life> alive;
  alive.reserve(members_.size());
  for (std::uint32_t m = 0; m < size(); ++m) {
    if (m == dead || !is_alive(members_[m])) continue;
    alive.push_back({.member = m, .incarnation = members_[m].incarnation});
  }
  return alive;
}

Supervision::Life Supervision::begin_anew(std::uint32_t member) {
  Member& each = members_[member];
  ++each.incarnation;
  each.state = State::kStarting;
  return {.member = member, .incarnation = each.incarnation};
}

}  // namespace actor
}  // namespace seaway
