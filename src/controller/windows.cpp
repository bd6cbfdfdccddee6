// Which run is stamped next. Each island has a window: so many runs may be in flight on it. It
// gives the places of its window to tenants by their shares of this island, so that nobody waits
// for what another tenant does on other islands. A run on several islands is stamped when each of
// them has had a place for it.

#include <algorithm>

#include "base/fault_point.hpp"
#include "base/probe.hpp"
#include "controller/records.hpp"

namespace seaway::controller {

namespace {

/// So that weights divide short runs finely.
constexpr std::uint64_t kShareScale = 1024;

}  // namespace

std::uint32_t ControllerCore::window() const {
  std::uint32_t competing = 0;
  for (const auto& tenant : tenants_) competing += tenant->runs_queued > 0;
  return competing > 1 ? options_.limits.runs_shared_in_flight : options_.limits.runs_in_flight_max;
}

bool ControllerCore::has_place(IslandId island, std::uint32_t window) const {
  const InFlight& now = in_flight_[island];
  if (now.runs >= window) return false;
  // The end of any run looks again.
  if (now.runs > 0 && SEAWAY_FAULT(kClosedWindow)) return false;
  // Two runs always, so that one is ready when another ends; beyond that a bound in device time,
  // so that a tenant that comes later does not wait behind a long queue of somebody else's.
  return now.runs < 2 || now.cost_ns < options_.limits.cost_in_flight_ns_max;
}

/// What is stamped for one island may be what runs for others wait for.
void ControllerCore::fill_windows() {
  const auto has_queue = [](const auto& tenant) { return tenant->runs_queued > 0; };
  for (bool again = std::ranges::any_of(tenants_, has_queue); again;) {
    again = false;
    ++pumps_;
    for (IslandId island = 0; island < options_.islands; ++island) again |= fill_window(island);
  }
}

/// True: windows that have been filled before may be given more.
bool ControllerCore::fill_window(IslandId island) {
  bool again = false;
  for (std::uint32_t places = window(); has_place(island, places); places = window()) {
    Tenant* best = nullptr;
    for (const auto& tenant : tenants_) {
      if (tenant->runs_queued == 0 || tenant->shares[island].stuck_in == pumps_) continue;
      if (!best || tenant->shares[island].used < best->shares[island].used) best = tenant.get();
    }
    if (!best) break;
    bool did_something = false;
    for (std::size_t n = 0; n < best->clients.size() && !did_something; ++n) {
      Client& client = *best->clients[best->next_client++ % best->clients.size()];
      did_something = pump_client(client, island);
    }
    again |= did_something && island > 0 && best->runs_queued > 0;
    if (did_something) continue;
    SEAWAY_PROBE("no run of a tenant can be stamped");
    best->shares[island].stuck_in = pumps_;
    // What keeps its runs back is not that others are served.
    best->shares[island].busy_in = 0;
  }
  return again;
}

bool ControllerCore::pump_client(Client& client, IslandId island) {
  std::uint32_t looked_at = 0;
  for (auto it = client.queue.begin(); it != client.queue.end(); ++it) {
    Run& run = **it;
    SEAWAY_PROBE_IF(looked_at == options_.limits.lookahead_max,
                    "more runs wait than are looked at");
    if (++looked_at > options_.limits.lookahead_max) return false;
    if (!can_stamp(run)) continue;
    Status failure = run.program->failure;
    if (failure.ok()) failure = lost_slice(*run.program);
    if (failure.ok()) failure = arg_failure(run);
    if (failure.ok() && !take_place(run, island)) continue;
    if (failure.ok() && !has_quota(run)) {
      // Later releases may make room while something of this client is unfinished.
      const bool may_get_room = client.unfinished > client.queue.size() || looked_at > 1;
      SEAWAY_PROBE_IF(may_get_room, "a run waits for quota");
      if (may_get_room) return false;
      SEAWAY_PROBE("a run never gets its quota");
      failure = no_quota(run);
    }
    client.queue.erase(it);
    --client.tenant->runs_queued;
    if (!failure.ok()) {
      resolve(run, std::move(failure));
    } else {
      start(run);
    }
    return true;
  }
  return false;
}

/// No tenant has a smaller share of `island` and a run that may want it.
bool ControllerCore::is_first(const Tenant& tenant, IslandId island) const {
  return std::ranges::none_of(tenants_, [&](const auto& other) {
    const Tenant::Share& share = other->shares[island];
    return other->runs_queued > 0 && share.stuck_in != pumps_ &&
           share.used < tenant.shares[island].used;
  });
}

/// False: `run` is not on `island`, which has a place, or another one of its islands has had none
/// for it. No place is kept free meanwhile: an island on which nothing moves would hold up others.
bool ControllerCore::take_place(Run& run, IslandId island) {
  const std::vector<IslandId>& islands = run.program->islands;
  if (islands.empty()) return true;
  if (!std::ranges::binary_search(islands, island)) return false;
  if (islands.size() == 1) return true;
  bool has_all = true;
  for (const IslandId one : islands) {
    if (std::ranges::find(run.places, one) != run.places.end()) continue;
    const bool takes =
        one == island || (has_place(one, window()) && is_first(*run.client->tenant, one));
    if (takes) run.places.push_back(one);
    has_all &= takes;
  }
  SEAWAY_PROBE_IF(!has_all, "a run has had a place on some of its islands");
  return has_all;
}

void ControllerCore::enter_windows(Run& run) {
  Tenant& tenant = *run.client->tenant;
  run.cost_ns = run.program->cost_ns;
  const std::uint64_t cost_ns = std::max<std::uint64_t>(run.cost_ns, 1);
  for (const IslandId island : run.program->islands) {
    Tenant::Share& share = tenant.shares[island];
    InFlight& now = in_flight_[island];
    // A tenant that was idle starts where the one served last was: no credit is saved.
    const bool was_idle = share.busy_in != tenant.idles;
    SEAWAY_PROBE_IF(was_idle && share.used < now.share_served,
                    "a tenant that was idle saves no share");
    if (was_idle) share.used = std::max(share.used, now.share_served);
    share.busy_in = tenant.idles;
    now.share_served = std::max(now.share_served, share.used);
    share.used += cost_ns * kShareScale / tenant.weight;
  }
  ++tenant.runs_in_flight;
  count_in_windows(run);
}

void ControllerCore::count_in_windows(Run& run) {
  ++runs_in_flight_;
  run.places = run.program->islands;
  for (const IslandId island : run.places) {
    ++in_flight_[island].runs;
    in_flight_[island].cost_ns += run.cost_ns;
  }
}

void ControllerCore::leave_windows(Run& run) {
  --runs_in_flight_;
  for (const IslandId island : run.places) {
    --in_flight_[island].runs;
    in_flight_[island].cost_ns -= run.cost_ns;
  }
  run.places.clear();
}

std::string ControllerCore::windows_text(const std::vector<IslandId>& islands) const {
  std::string text;
  for (const IslandId island : islands) {
    text += "island " + std::to_string(island) + ": " + std::to_string(in_flight_[island].runs) +
            " of " + std::to_string(window()) + " runs are in flight\n";
  }
  return text;
}

}  // namespace seaway::controller
