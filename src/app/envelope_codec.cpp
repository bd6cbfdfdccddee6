// Writing batches of envelopes.

#include "app/envelope_codec.hpp"

#include <string>

#include "app.capnp.h"
#include "app/envelope_codec_places.hpp"
#include "wire/frame_builder.hpp"
#include "wire/status_codec.hpp"

namespace seaway::app {
namespace {

unsigned count(std::size_t size) { return static_cast<unsigned>(size); }

template <class Numbers, class List>
void fill(const Numbers& numbers, List out) {
  for (unsigned i = 0; i < out.size(); ++i) out.set(i, numbers[i]);
}

void write_name(const MemberName& name, schema::MemberName::Builder out) {
  out.setMesh(name.mesh);
  out.setIndex(name.index);
}

/// Collects what envelopes name by place, and writes it when all of them are written.
class Encoder {
 public:
  Encoder(std::uint64_t now_ns, Parcels& parcels) : now_ns_(now_ns), parcels_(parcels) {}

  void write(const Envelope& envelope, schema::Envelope::Builder out) {
    out.setKind(static_cast<std::uint8_t>(envelope.kind));
    out.setAwaitsArgument(envelope.awaits_argument);
    out.setIsStream(envelope.is_stream);
    out.setIsOnce(envelope.is_once);
    out.setOrigin(has_origin(envelope.kind) ? envelope.from : 0);
    out.setPayload(place_of(envelope.payload));
    if (envelope.member != MemberName()) write_name(envelope.member, out.initMember());
    if (envelope.sender != MemberName()) write_name(envelope.sender, out.initSender());
    out.setCall(envelope.call);
    out.setRequestType(envelope.request_type);
    out.setReplyType(envelope.reply_type);
    out.setRemainingNs(remaining_ns(envelope.deadline_ns, now_ns_));
    out.setNumber(is_time(envelope.kind) ? remaining_ns(envelope.number, now_ns_)
                                         : envelope.number);
    out.setRequestId(envelope.request_id);
    out.setEpoch(envelope.epoch);
    if (!envelope.status.ok()) {
      out.setCode(static_cast<std::uint8_t>(envelope.status.code()));
      out.setMessage(envelope.status.message());
    }
    if (envelope.parcel) write(*envelope.parcel, out.initParcel());
  }

  void finish(schema::EnvelopeBatch::Builder batch) {
    auto payloads = batch.initPayloads(count(payloads_.size()));
    for (unsigned i = 0; i < payloads.size(); ++i) {
      payloads[i].setFrame(wire::frame_data(payloads_[i].frame));
      if (payloads_[i].attachments) {
        payloads[i].setAttachments(parcels_.put(payloads_[i].attachments));
      }
    }
    auto meshes = batch.initMeshes(count(meshes_.size()));
    for (unsigned i = 0; i < meshes.size(); ++i) write(*meshes_[i], meshes[i]);
  }

 private:
  std::uint32_t place_of(const internal::RawMessage& payload) {
    if (payload.frame.empty() && !payload.attachments) return 0;
    const bool is_same = !payloads_.empty() &&
                         payloads_.back().attachments == payload.attachments &&
                         payloads_.back().frame.words().data() == payload.frame.words().data();
    if (!is_same) payloads_.push_back(payload);
    return count(payloads_.size());
  }

  std::uint32_t place_of(const std::shared_ptr<const internal::MeshInfo>& mesh) {
    if (!mesh) return 0;
    if (meshes_.empty() || meshes_.back() != mesh) meshes_.push_back(mesh);
    return count(meshes_.size());
  }

  void write(const internal::MeshInfo& mesh, schema::ActorMesh::Builder out) {
    out.setId(mesh.id);
    if (mesh.type) out.setType(parcels_.put(mesh.type));
    auto axes = out.initAxes(count(mesh.axes.size()));
    for (unsigned i = 0; i < axes.size(); ++i) {
      axes[i].setName(mesh.axes[i].name);
      axes[i].setSize(mesh.axes[i].size);
    }
    fill(mesh.hosts, out.initHosts(count(mesh.hosts.size())));
    out.setOwnerSilo(mesh.owner_silo);
    write_name(mesh.owner, out.initOwner());
    out.setClient(mesh.client);
  }

  void write(const Parcel& parcel, schema::Parcel::Builder out) {
    out.setMesh(place_of(parcel.mesh));
    if (parcel.factory) out.setFactory(parcels_.put(parcel.factory));
    auto starts = out.initStarts(count(parcel.starts.size()));
    for (unsigned i = 0; i < starts.size(); ++i) write(parcel.starts[i], starts[i]);
    fill(parcel.members, out.initMembers(count(parcel.members.size())));
    if (!parcel.name.empty()) out.setName(parcel.name);
    if (parcel.death) write(*parcel.death, out.initDeath());
    if (parcel.combine) out.setCombine(parcels_.put(parcel.combine));
    fill(parcel.children, out.initChildren(count(parcel.children.size())));
    out.setParent(parcel.parent);
    out.setIsRoot(parcel.is_root);
    if (!parcel.request_name.empty()) out.setRequestName(parcels_.put(parcel.request_name));
  }

  void write(const Start& start, schema::Start::Builder out) {
    out.setIndex(start.index);
    out.setIncarnation(start.incarnation);
    out.setSnapshotNumber(start.snapshot_number);
    if (!start.status.ok()) {
      out.setCode(static_cast<std::uint8_t>(start.status.code()));
      out.setMessage(start.status.message());
    }
    if (!start.snapshot) return;
    schema::Snapshot::Builder snapshot = out.initSnapshot();
    snapshot.setState(place_of(start.snapshot->state));
    auto answered = snapshot.initAnswered(count(start.snapshot->answered.size()));
    for (unsigned i = 0; i < answered.size(); ++i) {
      const auto& [request_id, outcome] = start.snapshot->answered[i];
      answered[i].setRequestId(request_id);
      schema::Outcome::Builder one = answered[i].initOutcome();
      if (outcome.ok()) {
        one.setPayload(place_of(*outcome));
      } else {
        one.setCode(static_cast<std::uint8_t>(outcome.status().code()));
        one.setMessage(outcome.status().message());
      }
    }
  }

  static void write(const Death& death, schema::Death::Builder out) {
    write_name(death.member, out.initMember());
    out.setName(death.name);
    out.setCode(static_cast<std::uint8_t>(death.cause.code()));
    out.setMessage(death.cause.message());
    out.setIncarnation(death.incarnation);
    out.setRestarts(death.restarts);
    out.setIsEscalated(death.is_escalated);
  }

  const std::uint64_t now_ns_;
  Parcels& parcels_;
  std::vector<internal::RawMessage> payloads_;
  std::vector<std::shared_ptr<const internal::MeshInfo>> meshes_;
};

}  // namespace

Status Parcels::missing(std::uint64_t number, std::string_view what) const {
  return protocol_error(std::string(what) + " " + std::to_string(number) + " is not among the " +
                        std::to_string(things_.size()) +
                        " things beside the frame, was taken before, or is something else");
}

Frame encode_batch(SiloId from, std::span<const Envelope> batch, std::uint64_t now_ns,
                   Parcels& parcels) {
  wire::FrameBuilder builder;
  auto root = builder.init_root<schema::EnvelopeBatch>();
  root.setFrom(from);
  Encoder encoder(now_ns, parcels);
  auto envelopes = root.initEnvelopes(count(batch.size()));
  for (unsigned i = 0; i < envelopes.size(); ++i) encoder.write(batch[i], envelopes[i]);
  encoder.finish(root);
  return builder.finish();
}

}  // namespace seaway::app
