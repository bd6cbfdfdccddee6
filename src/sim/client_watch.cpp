// How long clients wait, and how long they are remembered.

#include "sim/client_watch.hpp"

#include <algorithm>

namespace seaway::sim {

void ClientWatch::ended(const cluster::RoleName& name, std::uint32_t) {
  if (name.role != actor::Role::kClient) return;
  clients_.erase(name.index);
  dead_[name.index] = now_();
}

bool ClientWatch::waits(ClientId client) const {
  const auto found = clients_.find(client);
  return found != clients_.end() && found->second().has_value();
}

void ClientWatch::look() {
  const std::uint64_t now_ns = now_();
  for (const auto& [client, waits_since_ns] : clients_) {
    const auto since_ns = waits_since_ns();
    if (healed_ns_ == 0 || !since_ns) continue;
    const std::uint64_t begin_ns = std::max(*since_ns, healed_ns_);
    if (now_ns <= begin_ns + kSettleNsMax + settle_ns_) continue;
    verdict_.report(Breach::kLiveness, "I2",
                    "client " + std::to_string(client) + " waits since " +
                        std::to_string(*since_ns) + " ns, and all faults were over at " +
                        std::to_string(healed_ns_) + " ns");
  }
  for (auto entry = dead_.begin(); entry != dead_.end();) {
    const std::string left = remains_(entry->first);
    if (left.empty()) {
      entry = dead_.erase(entry);
      continue;
    }
    if (truth_.is_troubled()) entry->second = now_ns;
    if (now_ns > entry->second + kCleanNsMax) {
      verdict_.report(Breach::kLiveness, "I9",
                      "client " + std::to_string(entry->first) +
                          " died, or whoever cleans up "
                          "behind it was hindered, until " +
                          std::to_string(entry->second) + " ns, and there is left of it: " + left);
    }
    ++entry;
  }
}

}  // namespace seaway::sim
