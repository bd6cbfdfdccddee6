// Shape: which processes a cluster has, and which of them plays which role.

#pragma once

#include <cstdint>
#include <optional>

#include "cluster/peers.hpp"
#include "transport/data_plane.hpp"
#include "transport/wires.hpp"

namespace seaway::cluster {

struct EmbeddedOptions;

/// How many processes play the roles of a cluster.
struct Shape {
  std::uint32_t islands = 1;
  std::uint32_t hosts = 1;  // Of each island: from 1 to actor::kHostsMax.

  Shape(std::uint32_t all_islands, std::uint32_t all_hosts = 1)
      : islands(all_islands), hosts(all_hosts) {}
  explicit Shape(const EmbeddedOptions& cluster);

  /// Of all islands.
  std::uint32_t all_hosts() const { return islands * hosts; }

  friend bool operator==(const Shape&, const Shape&) = default;
};

/// Processes are numbered: the controller, then the scheduler and the host of each island, then the
/// annexes of one island after the other's, then clients by their ids, from 1.
transport::ProcessId process_of(const RoleName& name, const Shape& shape);
/// Who plays the role of `process`. `process` may be any number: behind the annexes are clients.
RoleName role_of(transport::ProcessId process, const Shape& shape);
/// The last process that is no client's.
transport::ProcessId last_role_process(const Shape& shape);

/// Users' actors know hosts by one number, from 0: those of one island after the other's, each
/// island's host before its annexes. `name` is a host or an annex.
std::uint32_t host_number(const RoleName& name, const Shape& shape);
/// Who plays the host of that number, below all_hosts().
RoleName role_of_host(std::uint32_t number, const Shape& shape);

/// What connections for data and memory that is lent call a host or an annex; nothing: it is none.
std::optional<transport::DataPeer> data_peer_of(const RoleName& name);
/// Who is called so, a client perhaps (actor::data_peer_of_client()).
RoleName role_of_peer(transport::DataPeer peer);

}  // namespace seaway::cluster
