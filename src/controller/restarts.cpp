// Restart intensity: an island whose roles are lost again and again has failed, until it is left
// alone for a while (OTP, supervisor(3): intensity and period).

#include <algorithm>

#include "base/probe.hpp"
#include "controller/records.hpp"

namespace seaway::controller {
namespace {

std::string seconds(std::uint64_t ns) { return std::to_string(ns / 1'000'000'000) + " s"; }

}  // namespace

/// One of its two roles has been lost: `losses` are those of this role.
void ControllerCore::count_loss(IslandId island, const char* role, Losses& losses) {
  Member& member = members_[island];
  const std::uint64_t now_ns = clock_.now_ns(), window_ns = options_.limits.restart_window_ns;
  if (member.failed_until_ns != 0) {  // Those are forgotten when it is used again: none is kept.
    SEAWAY_PROBE("a role of a failed island is lost");
    member.failed_until_ns = now_ns + window_ns;
    return;
  }
  losses.push_back(now_ns);
  while (losses.front() + window_ns < now_ns) losses.pop_front();
  if (losses.size() > options_.limits.restarts_max) {
    SEAWAY_PROBE("an island fails");
    fail_island(island, "its " + std::string(role) + " was lost " + std::to_string(losses.size()) +
                            " times within " + seconds(window_ns) + ", and " +
                            std::to_string(options_.limits.restarts_max) + " are allowed");
  }
}

/// Both roles begin anew, whoever of them it was, and wait: what the one that lives knows goes with
/// what the other one was to do about it.
void ControllerCore::fail_island(IslandId island, const std::string& why) {
  Member& member = members_[island];
  const std::uint64_t window_ns = options_.limits.restart_window_ns;
  member.failed_until_ns = clock_.now_ns() + window_ns;
  events_.record({.time_ns = clock_.now_ns(),
                  .value = window_ns,
                  .island = static_cast<std::uint16_t>(island),
                  .kind = events::EventKind::kIslandFailed});
  outbox_.failed_islands.push_back(island);
  host_lost(island, "its island has failed: " + why);
  scheduler_lost(island);
  const Status failed(StatusCode::kIslandUnavailable,
                      "island " + std::to_string(island) + " has failed: " + why +
                          "; see what ends it; it is used again once nothing of it was lost for " +
                          seconds(window_ns));
  for (DeviceId device = 0; device < options_.devices; ++device) {
    lost_devices_.insert_or_assign({island, device}, failed);
  }
}

std::uint64_t ControllerCore::next_return_ns() const {
  std::uint64_t next_ns = 0;
  for (const Member& member : members_) {
    if (member.failed_until_ns == 0) continue;
    next_ns = next_ns == 0 ? member.failed_until_ns : std::min(next_ns, member.failed_until_ns);
  }
  return next_ns;
}

/// Islands that were left alone for long enough are used again.
void ControllerCore::take_in_islands() {
  for (IslandId island = 0; island < members_.size(); ++island) {
    Member& member = members_[island];
    if (member.failed_until_ns == 0 || clock_.now_ns() < member.failed_until_ns) continue;
    member.failed_until_ns = 0;
    events_.record({.time_ns = clock_.now_ns(),
                    .island = static_cast<std::uint16_t>(island),
                    .kind = events::EventKind::kIslandFailed});
    member.host_losses.clear();
    member.scheduler_losses.clear();
    const Status absent(StatusCode::kIslandUnavailable,
                        "island " + std::to_string(island) + " has no host");
    for (DeviceId device = 0; device < options_.devices; ++device) {
      lost_devices_.insert_or_assign({island, device}, absent);
    }
    const std::uint32_t host = std::exchange(member.waiting_host_epoch, 0);
    const std::uint32_t scheduler = std::exchange(member.waiting_scheduler_epoch, 0);
    if (host != 0) host_joined(island, host);
    if (scheduler != 0) scheduler_joined(island, scheduler);
  }
}

}  // namespace seaway::controller
