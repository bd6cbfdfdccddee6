// One rule for each kind of envelope.

#include "app/client_envelopes.hpp"

#include <string>
#include <string_view>

namespace seaway::app {
namespace {

class Rules {
 public:
  Rules(const ClientPeer& peer, std::uint32_t hosts) : peer_(peer), hosts_(hosts) {}

  Status check(const Envelope& envelope) const {
    switch (envelope.kind) {
      case Kind::kCall:
        return check_call(envelope);
      case Kind::kCombine:
        return check_tree(envelope);
      case Kind::kArgument:
        return is(envelope.from == peer_.silo, envelope, "origin", envelope.from);
      case Kind::kForward:
        return is(is_host(envelope.number), envelope, "silo", envelope.number);
      case Kind::kStart:
      case Kind::kPublish:
        return check_mesh(envelope);
      case Kind::kStop:
        // One member, which any client of its tenant may end; or all of a mesh, by its owner.
        return envelope.member.index == UINT32_MAX ? check_owner(envelope) : Status();
      case Kind::kKept:
      case Kind::kMoved:
      case Kind::kUnpublish:
        return check_owner(envelope);
      case Kind::kNotice:
        return check_notice(envelope);
      case Kind::kWatch:
        return check_sender(envelope);
      case Kind::kCancel:
      case Kind::kMore:
      case Kind::kStopMesh:
      case Kind::kStopped:
      case Kind::kFind:
        return {};  // About a call of the sender, or decided by the silo of the mesh.
      case Kind::kReply:
      case Kind::kItem:
      case Kind::kCredit:
      case Kind::kPartial:
      case Kind::kStarted:
      case Kind::kDeath:
      case Kind::kSnapshot:
      case Kind::kPublished:
      case Kind::kFound:
        break;
    }
    return protocol_error(name() + " may not send envelopes of kind " +
                          std::string(to_string(envelope.kind)));
  }

 private:
  /// Members live on hosts alone.
  bool is_host(std::uint64_t silo) const { return silo >= 1 && silo <= hosts_; }
  std::string name() const { return "client " + std::to_string(peer_.client); }

  Status is(bool is_own, const Envelope& envelope, std::string_view field,
            std::uint64_t number) const {
    if (is_own) return {};
    return protocol_error(name() + " may not name " + std::string(field) + " " +
                          std::to_string(number) + " in an envelope of kind " +
                          std::string(to_string(envelope.kind)));
  }

  /// A client calls in its own name, and not in that of a member.
  Status check_sender(const Envelope& envelope) const {
    return is(envelope.sender == MemberName(), envelope, "sender mesh", envelope.sender.mesh);
  }
  Status check_call(const Envelope& envelope) const {
    if (Status status = check_sender(envelope); !status.ok()) return status;
    return is(!envelope.is_once || envelope.request_id >> kSiloShift == peer_.silo, envelope,
              "request", envelope.request_id);
  }
  Status check_tree(const Envelope& envelope) const {
    if (Status status = check_sender(envelope); !status.ok()) return status;
    const Parcel& parcel = *envelope.parcel;
    for (const SiloId child : parcel.children) {
      if (!is_host(child)) return is(false, envelope, "child silo", child);
    }
    return is(parcel.is_root || is_host(parcel.parent), envelope, "parent silo", parcel.parent);
  }
  Status check_owner(const Envelope& envelope) const {
    const std::uint64_t mesh = envelope.member.mesh;
    return is(mesh >> kSiloShift == peer_.silo, envelope, "mesh", mesh);
  }
  Status check_mesh(const Envelope& envelope) const {
    if (Status status = check_owner(envelope); !status.ok()) return status;
    const internal::MeshInfo& mesh = *envelope.parcel->mesh;
    if (Status status = is(mesh.id == envelope.member.mesh, envelope, "mesh", mesh.id);
        !status.ok()) {
      return status;
    }
    const bool is_owner = mesh.owner_silo == peer_.silo && mesh.owner == MemberName();
    if (Status status = is(is_owner, envelope, "owner silo", mesh.owner_silo); !status.ok()) {
      return status;
    }
    if (Status status = is(mesh.client == peer_.client, envelope, "client", mesh.client);
        !status.ok()) {
      return status;
    }
    return is(mesh.tenant == peer_.tenant, envelope, "tenant", mesh.tenant);
  }
  /// Of a death in a mesh of the client's, or the end of a watch.
  Status check_notice(const Envelope& envelope) const {
    if (!envelope.parcel) return {};
    const std::uint64_t mesh = envelope.parcel->death->member.mesh;
    return is(mesh >> kSiloShift == peer_.silo, envelope, "mesh", mesh);
  }

  const ClientPeer& peer_;
  const std::uint32_t hosts_;
};

}  // namespace

Status authorize_client_batch(Batch& batch, const ClientPeer& peer, std::uint32_t hosts) {
  const Rules rules(peer, hosts);
  for (Envelope& envelope : batch.envelopes) {
    if (Status status = rules.check(envelope); !status.ok()) return status;
    envelope.tenant = peer.tenant;
  }
  return {};
}

}  // namespace seaway::app
