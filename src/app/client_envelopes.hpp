// What a client may send to the silos of other processes.

#pragma once

#include <cstdint>

#include "app/envelope_codec.hpp"
#include "seaway/status.hpp"

namespace seaway::app {

/// The client at the other end of a connection, as its pass identifies it.
struct ClientPeer {
  std::uint32_t client = 0;
  SiloId silo = 0;
  std::uint64_t tenant = 0;  // transport::TenantKey.
};

/// Whether a client may send `batch`; then each envelope acts for the client's tenant.
///
/// Hosts run users' actors and are trusted; a client is not. A client owns meshes and calls
/// members, and has no members of its own: it never answers a call, and it speaks for no mesh, call
/// or client but its own. Whether it may use the mesh that an envelope names, the silo of that mesh
/// decides by the tenant (Silo::find_authorized).
///
/// `hosts`: how many hosts the cluster has. Errors: kProtocolError, with the kind and the field.
Status authorize_client_batch(Batch& batch, const ClientPeer& peer, std::uint32_t hosts);

}  // namespace seaway::app
