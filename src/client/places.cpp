// Where a client's actors can be: the hosts of its cluster, and those of its slices.

#include <algorithm>
#include <mutex>

#include "client/session.hpp"
#include "seaway/app/actor.hpp"

namespace seaway {
namespace {

Placement on_hosts(std::vector<std::uint32_t> hosts) {
  Placement placement;
  placement.axes.push_back({"host", static_cast<std::uint32_t>(hosts.size())});
  placement.hosts = std::move(hosts);
  return placement;
}

/// The host of each device of a slice: devices of an island are dealt to its hosts in order.
std::vector<std::uint32_t> hosts_of(client::SliceRecord& record) {
  const client::Wiring& wiring = record.session->wiring();
  std::lock_guard guard(record.mutex);
  std::vector<std::uint32_t> hosts;
  for (std::size_t i = 1; i < record.binding.size(); ++i) {
    const std::uint64_t local = std::uint64_t{record.binding[i]} * wiring.hosts / wiring.devices;
    hosts.push_back(record.binding[0] * wiring.hosts + static_cast<std::uint32_t>(local));
  }
  return hosts;
}

}  // namespace

Placement Client::hosts() const {
  std::vector<std::uint32_t> hosts;
  if (owner_) {
    const client::Wiring& wiring = session().wiring();
    for (std::uint32_t i = 0; i < wiring.islands * wiring.hosts; ++i) hosts.push_back(i);
  }
  return on_hosts(std::move(hosts));
}

Placement Slice::hosts() const {
  if (!record_) return {};
  std::vector<std::uint32_t> hosts = hosts_of(*record_);
  std::sort(hosts.begin(), hosts.end());
  hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
  return on_hosts(std::move(hosts));
}

Placement Slice::devices() const {
  if (!record_) return {};
  Placement placement;
  for (const auto& [name, size] : mesh().axes()) {
    placement.axes.push_back({name, static_cast<std::uint32_t>(size)});
  }
  placement.hosts = hosts_of(*record_);
  return placement;
}

Result<std::shared_ptr<internal::Caller>> Client::caller() const {
  if (!owner_) return invalid_argument("this Client is empty: it was default-made or moved from");
  return session().caller();
}

namespace client {

Result<std::shared_ptr<internal::Caller>> Session::caller() {
  std::lock_guard guard(caller_mutex_);
  if (is_closed()) return closed_status();
  if (!wiring_.open_caller) {
    return invalid_argument("actors live in a cluster, and a debug client has none");
  }
  if (caller_) return caller_;
  auto opened = wiring_.open_caller();
  if (opened.ok()) caller_ = *opened;
  return opened;
}

}  // namespace client

}  // namespace seaway
