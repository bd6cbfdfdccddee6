// What an island is told about runs that are far from their turn waits for more of its kind.

#include <algorithm>
#include <limits>

#include "controller/records.hpp"

namespace seaway::controller {

bool ControllerCore::is_pressing(IslandId island) const {
  const ControllerOutbox::Island& outbox = outbox_.islands[island];
  return !outbox.weights.empty() || !outbox.definitions.empty() || !outbox.plans.empty() ||
         !outbox.cancels.empty() || !outbox.questions.empty() || !outbox.cuts.empty() ||
         outbox.has_new_view || outbox.has_forgotten();
}

/// A message wakes its receiver, which costs that one and this as much as some gangs take. Runs of
/// a tenant that has many under way have to wait for those anyway, and the islands learn of several
/// at once; of whoever has few, and of anything else, they learn at once.
bool ControllerCore::can_wait(IslandId island) const {
  if (is_pressing(island)) return false;
  const ControllerOutbox::Island& outbox = outbox_.islands[island];
  std::uint32_t fewest = std::numeric_limits<std::uint32_t>::max();
  const auto look_at = [&fewest](const Tenant& tenant) {
    fewest = std::min(fewest, tenant.runs_in_flight);
  };
  for (const ControllerOutbox::Launch& launch : outbox.launches) look_at(*tenants_[launch.tenant]);
  for (const ControllerOutbox::Put& put : outbox.puts) look_at(*tenants_[put.tenant]);
  for (const ControllerOutbox::Fetch& fetch : outbox.fetches) {
    const auto client = clients_.find(fetch.client);
    if (client == clients_.end()) return false;
    look_at(*client->second->tenant);
  }
  // Room that frees give back is wanted by those who have runs under way.
  if (fewest == std::numeric_limits<std::uint32_t>::max()) {
    fewest = static_cast<std::uint32_t>(runs_in_flight_);
  }
  return fewest >= options_.limits.runs_to_gather &&
         outbox.launches.size() * ControllerLimits::kGatheredShare <= fewest;
}

}  // namespace seaway::controller
