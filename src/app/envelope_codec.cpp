// Writing batches of envelopes.

#include "app/envelope_codec.hpp"

#include <string>

#include "app.capnp.h"
#include "app/envelope_codec_places.hpp"
#include "base/check.hpp"
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
  Encoder(std::uint64_t now_ns, const CodecOptions& options)
      : now_ns_(now_ns), types_(options.types), beside_(options.beside), arrays_(options.arrays) {}

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
    out.setTenant(envelope.tenant);
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
      if (!payloads_[i].attachments) continue;
      const Attachments& attachments = *payloads_[i].attachments;
      write(attachments, payloads[i].initAttachments(count(attachments.size())));
    }
    // Behind those of payloads, as they are read: arrays are taken in the order of their giving.
    for (auto& [attachments, factory] : factories_) {
      write(attachments, factory.initAttachments(count(attachments.size())));
    }
    auto meshes = batch.initMeshes(count(meshes_.size()));
    for (unsigned i = 0; i < meshes.size(); ++i) write(*meshes_[i], meshes[i]);
    auto types = batch.initTypes(count(actor_types_.size()));
    for (unsigned i = 0; i < types.size(); ++i) write(actor_types_[i], types[i]);
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

  std::uint32_t place_of(const std::shared_ptr<const internal::ActorTypeInfo>& type) {
    if (!type) return 0;
    if (actor_types_.empty() || actor_types_.back() != type) actor_types_.push_back(type);
    return count(actor_types_.size());
  }

  void write(const std::shared_ptr<const internal::ActorTypeInfo>& type,
             schema::ActorType::Builder out) {
    if (beside_ && !(types_ && types_->find(type->full_name) == type)) {
      out.setBeside(beside_->put(type));
      return;
    }
    out.setFullName(type->full_name);
    out.setName(type->name);
    out.setId(type->id);
    out.setFingerprint(type->fingerprint);
    out.setMailboxMax(type->mailbox_max);
  }

  void write(const std::vector<Placement::Axis>& axes,
             capnp::List<schema::ActorAxis>::Builder out) {
    for (unsigned i = 0; i < out.size(); ++i) {
      out[i].setName(axes[i].name);
      out[i].setSize(axes[i].size);
    }
  }

  void write(const Attachments& attachments, capnp::List<schema::Attachment>::Builder out) {
    for (unsigned i = 0; i < out.size(); ++i) {
      if (const auto* bytes = std::get_if<Bytes>(&attachments[i])) {
        const auto span = bytes->span();
        out[i].setBytes({reinterpret_cast<const kj::byte*>(span.data()), span.size()});
      } else if (const auto* actors = std::get_if<internal::Reference>(&attachments[i])) {
        write(*actors, out[i].initActors());
      } else if (const auto* array = std::get_if<Array>(&attachments[i]); array && !beside_) {
        SEAWAY_CHECK(arrays_);
        out[i].setArray(wire::frame_data(arrays_->give(*array)));
      } else {
        SEAWAY_CHECK(beside_);
        out[i].setBeside(beside_->put(attachments[i]));
      }
    }
  }

  void write(const internal::Reference& reference, schema::Reference::Builder out) {
    const internal::Members& members = reference.members;
    out.setMesh(place_of(members.mesh));
    out.setFirst(members.first);
    out.setCount(members.count);
    if (members.list) fill(*members.list, out.initMembers(count(members.list->size())));
    write(reference.axes, out.initAxes(count(reference.axes.size())));
  }

  void write(const internal::ObjectFactory& factory, const internal::MeshInfo* mesh,
             schema::Factory::Builder out) {
    auto made = factory.construction();
    const bool is_known = types_ && mesh && made.ok() && types_->has(*mesh->type, made->signature);
    if (beside_ && !is_known) {
      out.setBeside(beside_->put(factory));
      return;
    }
    SEAWAY_CHECK(made.ok(), made.status().to_string());
    out.setSignature(made->signature);
    out.setArguments({reinterpret_cast<const kj::byte*>(made->bytes.data()), made->bytes.size()});
    factories_.emplace_back(std::move(made->attachments), out);
  }

  void write(const internal::Combine& combine, schema::Combine::Builder out) {
    if (beside_ && !(types_ && types_->has(combine))) {
      out.setBeside(beside_->put(combine));
      return;
    }
    out.setName(combine.name);
    out.setFingerprint(combine.fingerprint);
  }

  void write(const internal::MeshInfo& mesh, schema::ActorMesh::Builder out) {
    out.setId(mesh.id);
    out.setType(place_of(mesh.type));
    write(mesh.axes, out.initAxes(count(mesh.axes.size())));
    fill(mesh.hosts, out.initHosts(count(mesh.hosts.size())));
    out.setOwnerSilo(mesh.owner_silo);
    write_name(mesh.owner, out.initOwner());
    out.setClient(mesh.client);
    out.setTenant(mesh.tenant);
  }

  void write(const Parcel& parcel, schema::Parcel::Builder out) {
    out.setMesh(place_of(parcel.mesh));
    if (parcel.factory) write(parcel.factory, parcel.mesh.get(), out.initFactory());
    auto starts = out.initStarts(count(parcel.starts.size()));
    for (unsigned i = 0; i < starts.size(); ++i) write(parcel.starts[i], starts[i]);
    fill(parcel.members, out.initMembers(count(parcel.members.size())));
    if (!parcel.name.empty()) out.setName(parcel.name);
    if (parcel.death) write(*parcel.death, out.initDeath());
    if (parcel.combine) write(parcel.combine, out.initCombine());
    fill(parcel.children, out.initChildren(count(parcel.children.size())));
    out.setParent(parcel.parent);
    out.setIsRoot(parcel.is_root);
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
  const internal::TypeTable* const types_;
  Parcels* const beside_;
  ArrayTravel* const arrays_;
  std::vector<internal::RawMessage> payloads_;
  std::vector<std::pair<Attachments, schema::Factory::Builder>> factories_;
  std::vector<std::shared_ptr<const internal::MeshInfo>> meshes_;
  std::vector<std::shared_ptr<const internal::ActorTypeInfo>> actor_types_;
};

/// What of it has no bytes.
Status check_travels(const Attachments& attachments, ArrayTravel* arrays) {
  for (const Attachment& one : attachments) {
    const auto* array = std::get_if<Array>(&one);
    if (!array) continue;
    Status status = arrays ? arrays->check(*array)
                           : invalid_argument(
                                 "arrays travel between the processes of hosts and of "
                                 "their client alone; send its values");
    if (!status.ok()) return status;
  }
  return {};
}

Status check_travels(const internal::RawMessage& payload, ArrayTravel* arrays) {
  return payload.attachments ? check_travels(*payload.attachments, arrays) : Status();
}

}  // namespace

Status Parcels::missing(std::uint64_t number, std::string_view what) const {
  return protocol_error(std::string(what) + " " + std::to_string(number) + " is not among the " +
                        std::to_string(things_.size()) +
                        " things beside the frame, was taken before, or is something else");
}

Status check_travels(const Envelope& envelope, ArrayTravel* arrays) {
  Status status = check_travels(envelope.payload, arrays);
  if (!envelope.parcel || !status.ok()) return status;
  const Parcel& parcel = *envelope.parcel;
  if (parcel.factory) {
    const auto made = parcel.factory.construction();
    status = made.ok() ? check_travels(made->attachments, arrays) : made.status();
  }
  if (status.ok() && parcel.combine && parcel.combine.name.empty()) {
    status = invalid_argument(
        "a reduction over processes needs a combining function that they know: give it a name with "
        "Combining, and register it with Registry::reduction() in the hosts' main()");
  }
  for (const Start& start : parcel.starts) {
    if (start.snapshot && status.ok()) status = check_travels(start.snapshot->state, arrays);
    if (!start.snapshot) continue;
    for (const auto& [id, outcome] : start.snapshot->answered) {
      if (status.ok() && outcome.ok()) status = check_travels(*outcome, arrays);
    }
  }
  return status;
}

Frame encode_batch(SiloId from, std::span<const Envelope> batch, std::uint64_t now_ns,
                   const CodecOptions& options) {
  wire::FrameBuilder builder;
  auto root = builder.init_root<schema::EnvelopeBatch>();
  root.setFrom(from);
  Encoder encoder(now_ns, options);
  auto envelopes = root.initEnvelopes(count(batch.size()));
  for (unsigned i = 0; i < envelopes.size(); ++i) encoder.write(batch[i], envelopes[i]);
  encoder.finish(root);
  return builder.finish();
}

Frame encode_news(SiloNews news) {
  wire::FrameBuilder builder;
  auto root = builder.init_root<schema::EnvelopeBatch>();
  root.setFrom(kHub);
  auto list = root.initNews(1);
  list[0].setSilo(news.silo);
  list[0].setEpoch(news.epoch);
  return builder.finish();
}

}  // namespace seaway::app
