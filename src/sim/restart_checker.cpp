// Losses counted from what the controller says.

#include "sim/restart_checker.hpp"

#include <string>

namespace seaway::sim {

using actor::Role;
using events::EventKind;

void RestartChecker::started(const cluster::RoleName& name, std::uint32_t) {
  if (name.role == Role::kController) islands_.clear();
}

void RestartChecker::record(const cluster::RoleName& teller, const events::Event& event) {
  if (teller.role != Role::kController) return;
  Island& island = islands_[event.island];
  switch (event.kind) {
    case EventKind::kHostLost:
      return count(event.island, island.host_losses, event.time_ns);
    case EventKind::kSchedulerLost:
      return count(event.island, island.scheduler_losses, event.time_ns);
    case EventKind::kHostJoined:
      if (island.failed_ns != 0) complain(event.island, "has a host, though it has failed");
      return;
    case EventKind::kIslandFailed:
      if (event.value == 0) {
        if (event.time_ns < island.failed_ns + limits_.restart_window_ns) {
          complain(event.island, "is used again before it was left alone for long enough");
        }
        island = Island();
      } else {
        if (!island.must_fail) complain(event.island, "has failed without a reason");
        island.failed_ns = event.time_ns;
        island.must_fail = false;
      }
      return;
    default:
      return;
  }
}

void RestartChecker::count(IslandId number, std::deque<std::uint64_t>& losses,
                           std::uint64_t now_ns) {
  Island& island = islands_[number];
  if (island.failed_ns != 0) return;
  losses.push_back(now_ns);
  while (losses.front() + limits_.restart_window_ns < now_ns) losses.pop_front();
  island.must_fail |= losses.size() > limits_.restarts_max;
}

void RestartChecker::look() {
  for (const auto& [number, island] : islands_) {
    if (island.must_fail) complain(number, "was lost too often, and has not failed");
  }
}

void RestartChecker::complain(IslandId island, const std::string& text) {
  verdict_.report(Breach::kCorrectness, "F11", "island " + std::to_string(island) + " " + text);
}

}  // namespace seaway::sim
