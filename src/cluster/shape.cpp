// Numbers of processes, and back.

#include "cluster/shape.hpp"

#include "base/check.hpp"
#include "cluster/embedded.hpp"

namespace seaway::cluster {

using actor::Role;
using transport::ProcessId;

Shape::Shape(const EmbeddedOptions& cluster) : Shape(cluster.islands, cluster.hosts) {}

ProcessId last_role_process(const Shape& shape) { return (1 + shape.hosts) * shape.islands; }

ProcessId process_of(const RoleName& name, const Shape& shape) {
  const std::uint32_t annexes = shape.hosts - 1;  // Of each island.
  switch (name.role) {
    case Role::kController:
      return 0;
    case Role::kIsland:
      return 1 + 2 * name.index;
    case Role::kHost:
      return 2 + 2 * name.index;
    case Role::kAnnex:
      return 2 * shape.islands + actor::island_of_annex(name.index) * annexes +
             actor::host_of_annex(name.index);
    case Role::kClient:
      break;
  }
  return last_role_process(shape) + name.index;
}

RoleName role_of(ProcessId process, const Shape& shape) {
  if (process == 0) return {Role::kController, 0};
  if (process <= 2 * shape.islands) {
    return {process % 2 == 1 ? Role::kIsland : Role::kHost, (process - 1) / 2};
  }
  const ProcessId last = last_role_process(shape);
  if (process > last) return {Role::kClient, process - last};
  const std::uint32_t annexes = shape.hosts - 1, behind = process - 2 * shape.islands - 1;
  return {Role::kAnnex, actor::annex_of(behind / annexes, behind % annexes + 1)};
}

std::uint32_t host_number(const RoleName& name, const Shape& shape) {
  if (name.role == Role::kHost) return name.index * shape.hosts;
  SEAWAY_CHECK(name.role == Role::kAnnex, to_string(name));
  return actor::island_of_annex(name.index) * shape.hosts + actor::host_of_annex(name.index);
}

RoleName role_of_host(std::uint32_t number, const Shape& shape) {
  SEAWAY_CHECK(number < shape.all_hosts(), number, shape.all_hosts());
  const std::uint32_t island = number / shape.hosts, host = number % shape.hosts;
  if (host == 0) return {Role::kHost, island};
  return {Role::kAnnex, actor::annex_of(island, host)};
}

std::optional<transport::DataPeer> data_peer_of(const RoleName& name) {
  if (name.role == Role::kHost) return actor::data_peer_of(name.index, 0);
  if (name.role != Role::kAnnex) return std::nullopt;
  return actor::data_peer_of(actor::island_of_annex(name.index), actor::host_of_annex(name.index));
}

RoleName role_of_peer(transport::DataPeer peer) {
  if ((peer & actor::kAnnexPeer) == 0 && (peer & actor::kClientPeer) != 0) {
    return {Role::kClient, peer & ~actor::kClientPeer};
  }
  if ((peer & actor::kAnnexPeer) == 0) return {Role::kHost, peer};
  return {Role::kAnnex, peer & ~actor::kAnnexPeer};
}

}  // namespace seaway::cluster
