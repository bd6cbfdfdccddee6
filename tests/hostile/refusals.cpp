// The readers of each channel, without what follows.

#include "hostile/refusals.hpp"

#include "app/array_travel.hpp"
#include "app/client_envelopes.hpp"
#include "app/envelope_codec.hpp"
#include "cluster/peers.hpp"
#include "cluster/relay_messages.hpp"

namespace seaway::hostile {
namespace {

using actor::Role;
using cluster::RoleName;

/// Takes whatever says that it is an array: only its receiver knows.
class AnyArray final : public app::ArrayTravel {
 public:
  Status check(const Array&) override { return {}; }
  Frame give(const Array&) override { return {}; }
  Result<Array> take(const Frame&, app::SiloId) override { return Array(); }
};

app::SiloId silo_of(const RoleName& name, const cluster::Shape& shape) {
  if (name.role == Role::kClient) return app::silo_of_client(name.index, shape.all_hosts());
  if (name.role == Role::kController) return app::kHub;
  return app::silo_of_host(cluster::host_number(name, shape));
}

bool are_envelopes_refused(const RoleName& from, const Frame& frame, const Receiver& receiver) {
  const app::SiloId silo = silo_of(from, receiver.shape);
  const auto sender = app::read_sender(frame);
  if (!sender.ok() || *sender != silo) return true;
  AnyArray arrays;
  auto batch = app::decode_batch(frame, 0, UINT32_MAX, {receiver.types, nullptr, &arrays});
  if (!batch.ok()) return true;
  if (from.role != Role::kClient) return false;
  const app::ClientPeer peer{from.index, silo, receiver.limits.tenant};
  return !app::authorize_client_batch(*batch, peer, receiver.shape.all_hosts()).ok();
}

}  // namespace

bool is_refused(const RoleName& from, const RoleName& to, std::uint32_t channel,
                const std::string& name, const Frame& frame, const Receiver& receiver) {
  const std::uint32_t kind = channel >> cluster::kChannelKindShift;
  if (kind == cluster::kSiloChannels) return are_envelopes_refused(from, frame, receiver);
  if (kind != cluster::kRelayChannels) {
    return !cluster::check_at_door(from, to, frame, receiver.limits).ok();
  }
  if (name == "relay.delegateWords") return !cluster::read_delegate_words(frame).ok();
  if (name == "relay.clientWords") return !cluster::read_client_words(frame).ok();
  return false;
}

}  // namespace seaway::hostile
