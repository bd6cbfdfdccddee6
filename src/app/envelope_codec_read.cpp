// Reading batches of envelopes: each number is checked before anybody acts on it.

#include <string>
#include <utility>

#include "app.capnp.h"
#include "app/envelope_codec.hpp"
#include "app/envelope_codec_places.hpp"
#include "wire/frame_reader.hpp"
#include "wire/status_codec.hpp"

namespace seaway::app {
namespace {

/// Most members of a mesh, as of a silo; and longest name.
constexpr std::size_t kMembersMax = 1u << 22;
constexpr std::size_t kNameBytesMax = 4096;
constexpr std::size_t kAxesMax = 16;

std::string text(std::uint64_t number) { return std::to_string(number); }

template <class List, class Number>
void read_numbers(List in, std::vector<Number>& out) {
  out.reserve(in.size());
  for (const auto number : in) out.push_back(number);
}

MemberName read_name(schema::MemberName::Reader in) { return {in.getMesh(), in.getIndex()}; }

/// The status in `out`; an unknown code is what is returned.
Status read_outcome(std::uint8_t code, capnp::Text::Reader message, Status& out) {
  if (code > static_cast<std::uint8_t>(kLastStatusCode)) return wire::read_status(code, message);
  out = wire::read_status(code, message);
  return {};
}

class Decoder {
 public:
  Decoder(std::uint64_t now_ns, std::uint32_t silos, Parcels& parcels)
      : now_ns_(now_ns), silos_(silos), parcels_(parcels) {}

  Status read(schema::EnvelopeBatch::Reader in, Batch& out) {
    out.from = in.getFrom();
    if (Status status = check_silo(out.from, "sender"); !status.ok()) return status;
    for (const auto payload : in.getPayloads()) {
      if (Status status = read_payload(payload); !status.ok()) return status;
    }
    for (const auto mesh : in.getMeshes()) {
      if (Status status = read_mesh(mesh); !status.ok()) return status;
    }
    const auto envelopes = in.getEnvelopes();
    out.envelopes.reserve(envelopes.size());
    for (const auto envelope : envelopes) {
      out.envelopes.emplace_back();
      Envelope& read = out.envelopes.back();
      read.from = out.from;
      Status status = read_envelope(envelope, read);
      if (status.ok()) status = check_whole(read);
      if (!status.ok()) return status;
    }
    return {};
  }

 private:
  Status check_silo(std::uint64_t silo, std::string_view what) const {
    if (silo < silos_) return {};
    return protocol_error(std::string(what) + " is silo " + text(silo) + " of " + text(silos_));
  }

  Status read_payload(schema::Payload::Reader in) {
    const capnp::Data::Reader data = in.getFrame();
    if (data.size() % sizeof(std::uint64_t) != 0) {
      return protocol_error("a payload has " + text(data.size()) + " bytes, which are no words");
    }
    internal::RawMessage payload;
    if (data.size() > 0) payload.frame = wire::data_frame(data);
    if (in.getAttachments() != 0) {
      Status status = parcels_.take(in.getAttachments(), "attachments", payload.attachments);
      if (!status.ok()) return status;
    }
    payloads_.push_back(std::move(payload));
    return {};
  }

  Status read_mesh(schema::ActorMesh::Reader in) {
    auto mesh = std::make_shared<internal::MeshInfo>();
    mesh->id = in.getId();
    Status status = parcels_.take(in.getType(), "type of actors", mesh->type);
    if (!status.ok()) return status;
    if (!mesh->type) return protocol_error("a mesh has no type");
    // Each part is asked for once: reading it again counts against the limits of the frame.
    const auto axes = in.getAxes();
    const auto hosts = in.getHosts();
    if (axes.size() > kAxesMax || hosts.size() > kMembersMax) {
      return protocol_error("a mesh has " + text(axes.size()) + " axes and " + text(hosts.size()) +
                            " members; the limits are " + text(kAxesMax) + " and " +
                            text(kMembersMax));
    }
    for (const auto axis : axes) mesh->axes.push_back({axis.getName().cStr(), axis.getSize()});
    read_numbers(hosts, mesh->hosts);
    for (const std::uint32_t host : mesh->hosts) {
      status = check_silo(std::uint64_t{host} + 1, "host of a member");
      if (!status.ok()) return status;
    }
    mesh->owner_silo = in.getOwnerSilo();
    mesh->owner = read_name(in.getOwner());
    mesh->client = in.getClient();
    meshes_.push_back(std::move(mesh));
    return check_silo(in.getOwnerSilo(), "owner of a mesh");
  }

  Status find_payload(std::uint32_t place, internal::RawMessage& out) const {
    if (place > payloads_.size()) {
      return protocol_error("payload " + text(place) + " of " + text(payloads_.size()) +
                            " does not exist");
    }
    if (place > 0) out = payloads_[place - 1];
    return {};
  }

  Status read_envelope(schema::Envelope::Reader in, Envelope& out) {
    if (in.getKind() > static_cast<std::uint8_t>(Kind::kFound)) {
      return protocol_error("there is no kind " + text(in.getKind()) + " of envelopes");
    }
    out.kind = static_cast<Kind>(in.getKind());
    if (has_origin(out.kind)) {
      out.from = in.getOrigin();
      if (Status status = check_silo(out.from, "origin of a call"); !status.ok()) return status;
    }
    out.awaits_argument = in.getAwaitsArgument();
    out.is_stream = in.getIsStream();
    out.is_once = in.getIsOnce();
    out.member = read_name(in.getMember());
    out.sender = read_name(in.getSender());
    out.call = in.getCall();
    out.request_type = in.getRequestType();
    out.reply_type = in.getReplyType();
    out.deadline_ns = deadline_after(in.getRemainingNs(), now_ns_);
    out.number = is_time(out.kind) ? deadline_after(in.getNumber(), now_ns_) : in.getNumber();
    if (is_silo(out.kind)) {
      if (Status status = check_silo(out.number, "number"); !status.ok()) return status;
    }
    out.request_id = in.getRequestId();
    out.epoch = in.getEpoch();
    Status status = read_outcome(in.getCode(), in.getMessage(), out.status);
    if (status.ok()) status = find_payload(in.getPayload(), out.payload);
    if (!status.ok() || !in.hasParcel()) return status;
    out.parcel = std::make_shared<Parcel>();
    return read_parcel(in.getParcel(), *out.parcel);
  }

  Status read_parcel(schema::Parcel::Reader in, Parcel& out) {
    if (in.getMesh() > meshes_.size()) {
      return protocol_error("mesh " + text(in.getMesh()) + " of " + text(meshes_.size()) +
                            " does not exist");
    }
    if (in.getMesh() > 0) out.mesh = meshes_[in.getMesh() - 1];
    Status status;
    if (in.getFactory() != 0) status = parcels_.take(in.getFactory(), "factory", out.factory);
    for (const auto start : in.getStarts()) {
      if (!status.ok()) return status;
      out.starts.emplace_back();
      status = read_start(start, out.starts.back());
      if (status.ok() && out.mesh && out.starts.back().index >= out.mesh->hosts.size()) {
        return protocol_error("member " + text(out.starts.back().index) + " of " +
                              text(out.mesh->hosts.size()) + " cannot start");
      }
    }
    if (!status.ok()) return status;
    const auto members = in.getMembers();
    const capnp::Text::Reader name = in.getName();
    if (members.size() > kMembersMax || name.size() > kNameBytesMax) {
      return protocol_error("a list of " + text(members.size()) + " members and a name of " +
                            text(name.size()) + " bytes; the limits are " + text(kMembersMax) +
                            " and " + text(kNameBytesMax));
    }
    read_numbers(members, out.members);
    out.name = name.cStr();
    if (in.hasDeath()) status = read_death(in.getDeath(), out.death);
    if (status.ok() && in.getCombine() != 0) {
      status = parcels_.take(in.getCombine(), "combining function", out.combine);
    }
    read_numbers(in.getChildren(), out.children);
    for (const SiloId child : out.children) {
      if (status.ok()) status = check_silo(child, "child");
    }
    out.parent = in.getParent();
    if (status.ok()) status = check_silo(out.parent, "parent");
    out.is_root = in.getIsRoot();
    if (status.ok() && in.getRequestName() != 0) {
      status = parcels_.take(in.getRequestName(), "name of a request", out.request_name);
    }
    return status;
  }

  Status read_start(schema::Start::Reader in, Start& out) const {
    out.index = in.getIndex();
    out.incarnation = in.getIncarnation();
    out.snapshot_number = in.getSnapshotNumber();
    Status status = read_outcome(in.getCode(), in.getMessage(), out.status);
    if (!status.ok() || !in.hasSnapshot()) return status;
    const schema::Snapshot::Reader read = in.getSnapshot();
    auto snapshot = std::make_shared<Snapshot>();
    status = find_payload(read.getState(), snapshot->state);
    for (const auto answered : read.getAnswered()) {
      if (!status.ok()) return status;
      const schema::Outcome::Reader outcome = answered.getOutcome();
      Status failure;
      internal::RawMessage payload;
      status = read_outcome(outcome.getCode(), outcome.getMessage(), failure);
      if (status.ok()) status = find_payload(outcome.getPayload(), payload);
      if (failure.ok()) {
        snapshot->answered.emplace_back(answered.getRequestId(), std::move(payload));
      } else {
        snapshot->answered.emplace_back(answered.getRequestId(), std::move(failure));
      }
    }
    out.snapshot = std::move(snapshot);
    return status;
  }

  static Status read_death(schema::Death::Reader in, std::shared_ptr<const Death>& out) {
    auto death = std::make_shared<Death>();
    death->member = read_name(in.getMember());
    death->name = in.getName().cStr();
    death->incarnation = in.getIncarnation();
    death->restarts = in.getRestarts();
    death->is_escalated = in.getIsEscalated();
    Status status = read_outcome(in.getCode(), in.getMessage(), death->cause);
    out = std::move(death);
    return status;
  }

  /// Silos rely on it that an envelope has what its kind is about.
  static Status check_whole(const Envelope& envelope) {
    const Parcel* const parcel = envelope.parcel.get();
    bool is_whole = true;
    switch (envelope.kind) {
      case Kind::kStopMesh:
      case Kind::kWatch:
      case Kind::kUnpublish:
      case Kind::kFind:
        is_whole = parcel != nullptr;
        break;
      case Kind::kCombine:
        is_whole = parcel && parcel->combine && !parcel->members.empty();
        break;
      case Kind::kStart:
        is_whole = parcel && parcel->mesh && parcel->factory;
        break;
      case Kind::kStarted:
      case Kind::kPublish:
        is_whole = parcel && parcel->mesh;
        break;
      case Kind::kNotice:
        // Without a death it ends a client's watch.
        is_whole = parcel ? parcel->death != nullptr : envelope.member == MemberName();
        break;
      case Kind::kSnapshot:
        is_whole = parcel && !parcel->starts.empty() && parcel->starts.front().snapshot;
        break;
      case Kind::kFound:
        is_whole = !envelope.status.ok() || (parcel && parcel->mesh);
        break;
      default:
        break;
    }
    if (is_whole) return {};
    return protocol_error("an envelope of kind " + std::string(to_string(envelope.kind)) +
                          " lacks what it is about");
  }

  const std::uint64_t now_ns_;
  const std::uint32_t silos_;
  Parcels& parcels_;
  std::vector<internal::RawMessage> payloads_;
  std::vector<std::shared_ptr<const internal::MeshInfo>> meshes_;
};

}  // namespace

Result<Batch> decode_batch(const Frame& frame, std::uint64_t now_ns, std::uint32_t silos,
                           Parcels& parcels) {
  Batch batch;
  Status status =
      wire::read_frame<schema::EnvelopeBatch>(frame, [&](schema::EnvelopeBatch::Reader in) {
        return Decoder(now_ns, silos, parcels).read(in, batch);
      });
  if (!status.ok()) return status;
  return batch;
}

}  // namespace seaway::app
