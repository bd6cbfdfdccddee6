// Reading batches of envelopes: each number is checked before anybody acts on it.

#include <string>
#include <utility>

#include "app.capnp.h"
#include "app/envelope_codec.hpp"
#include "app/envelope_codec_places.hpp"
#include "base/limits.hpp"
#include "wire/frame_reader.hpp"
#include "wire/status_codec.hpp"

namespace seaway::app {
namespace {

using limits::of_stranger;

Status check_text(capnp::Text::Reader name, std::string_view what) {
  return of_stranger(limits::check_name({name.begin(), name.size()}, what));
}

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
  Decoder(std::uint64_t now_ns, std::uint32_t silos, const CodecOptions& options)
      : now_ns_(now_ns),
        silos_(silos),
        types_(options.types),
        beside_(options.beside),
        arrays_(options.arrays) {}

  Status read(schema::EnvelopeBatch::Reader in, Batch& out) {
    out.from = in.getFrom();
    if (Status status = check_silo(out.from, "sender"); !status.ok()) return status;
    from_ = out.from;
    for (const auto type : in.getTypes()) {
      if (Status status = read_type(type); !status.ok()) return status;
    }
    for (const auto mesh : in.getMeshes()) {
      if (Status status = read_mesh(mesh); !status.ok()) return status;
    }
    for (const auto payload : in.getPayloads()) {
      if (Status status = read_payload(payload); !status.ok()) return status;
    }
    for (const auto news : in.getNews()) {
      if (Status status = check_silo(news.getSilo(), "what is new"); !status.ok()) return status;
      out.news.push_back({news.getSilo(), news.getEpoch()});
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
    if (data.size() > 0) {
      payload.frame = wire::data_frame(data);
      // Handlers and callers read fields of the message without another check of its pointers.
      const internal::OpenMessage<capnp::AnyPointer> message(payload.frame);
      if (!message.root().isNull() && !message.root().isStruct()) {
        return protocol_error("a payload is no message");
      }
      static_cast<void>(message.root().targetSize());  // Throws if a pointer leaves it.
    }
    if (in.hasAttachments()) {
      auto attachments = std::make_shared<Attachments>();
      Status status = read_attachments(in.getAttachments(), *attachments);
      if (!status.ok()) return status;
      payload.attachments = std::move(attachments);
    }
    payloads_.push_back(std::move(payload));
    return {};
  }

  template <class T>
  Status take_beside(std::uint64_t number, std::string_view what, T& out) {
    if (beside_) return beside_->take(number, what, out);
    return protocol_error(std::string(what) + " is said to be beside the frame of another process");
  }

  Status read_attachments(capnp::List<schema::Attachment>::Reader in, Attachments& out) {
    out.reserve(in.size());
    for (const auto one : in) {
      Status status;
      if (one.isBytes()) {
        const capnp::Data::Reader data = one.getBytes();
        const auto* begin = reinterpret_cast<const std::byte*>(data.begin());
        out.emplace_back(Bytes(std::vector<std::byte>(begin, begin + data.size())));
      } else if (one.isActors()) {
        internal::Reference reference;
        status = read_reference(one.getActors(), reference);
        out.emplace_back(std::move(reference));
      } else if (one.isArray()) {
        if (!arrays_) return protocol_error("an array has come to a process that has none");
        const capnp::Data::Reader data = one.getArray();
        if (data.size() % sizeof(std::uint64_t) != 0) return protocol_error("an array is no words");
        auto array = arrays_->take(wire::data_frame(data), from_);
        if (!array.ok()) return array.status();
        out.emplace_back(std::move(array).value());
      } else if (one.isBeside()) {
        out.emplace_back();
        status = take_beside(one.getBeside(), "an attachment", out.back());
      } else {
        status = protocol_error("there is no kind " +
                                text(static_cast<std::uint64_t>(one.which())) + " of attachments");
      }
      if (!status.ok()) return status;
    }
    return {};
  }

  Status read_reference(schema::Reference::Reader in, internal::Reference& out) {
    Status status = find_mesh(in.getMesh(), out.members.mesh);
    if (!status.ok()) return status;
    out.members.first = in.getFirst();
    out.members.count = in.getCount();
    const std::uint64_t size = out.members.mesh ? out.members.mesh->hosts.size() : 0;
    bool is_inside = true;
    if (in.hasMembers()) {
      auto list = std::make_shared<std::vector<std::uint32_t>>();
      read_numbers(in.getMembers(), *list);
      for (const std::uint32_t index : *list) is_inside = is_inside && index < size;
      is_inside = is_inside && out.members.count == list->size();
      out.members.list = std::move(list);
    } else {
      is_inside =
          std::uint64_t{out.members.first} + out.members.count <= size || out.members.count == 0;
    }
    if (!is_inside) {
      return protocol_error("a reference names members beyond the " + text(size) + " of its mesh");
    }
    return read_axes(in.getAxes(), out.axes);
  }

  static Status read_axes(capnp::List<schema::ActorAxis>::Reader in,
                          std::vector<Placement::Axis>& out) {
    Status status = of_stranger(limits::check(limits::kMeshAxes, in.size(), "mesh of actors"));
    for (const auto axis : in) {
      if (!status.ok()) return status;
      const capnp::Text::Reader name = axis.getName();
      status = check_text(name, "axis of a mesh of actors");
      out.push_back({std::string(name.begin(), name.size()), axis.getSize()});
    }
    return status;
  }

  /// A class that is the same here is that one. Of another, or of one that is not known, enough is
  /// read to name its actors and to call them.
  Status read_type(schema::ActorType::Reader in) {
    std::shared_ptr<const internal::ActorTypeInfo>& type = actor_types_.emplace_back();
    if (in.getBeside() != 0) {
      Status status = take_beside(in.getBeside(), "type of actors", type);
      return status.ok() && !type ? protocol_error("a type of actors is none") : status;
    }
    const capnp::Text::Reader full_name = in.getFullName(), name = in.getName();
    for (const capnp::Text::Reader one : {full_name, name}) {
      if (Status status = check_text(one, "class of actors"); !status.ok()) return status;
    }
    if (types_) type = types_->find({full_name.begin(), full_name.size()});
    if (type && type->fingerprint == in.getFingerprint()) return {};
    // Enough to call it: what it answers, its host knows.
    auto other = std::make_shared<internal::ActorTypeInfo>();
    other->full_name = full_name.cStr();
    other->name = name.cStr();
    other->id = in.getId();
    other->fingerprint = in.getFingerprint();
    other->mailbox_max = in.getMailboxMax();
    type = std::move(other);
    return {};
  }

  Status find_mesh(std::uint32_t place, std::shared_ptr<const internal::MeshInfo>& out) const {
    if (place > meshes_.size()) {
      return protocol_error("mesh " + text(place) + " of " + text(meshes_.size()) +
                            " does not exist");
    }
    if (place > 0) out = meshes_[place - 1];
    return {};
  }

  Status read_mesh(schema::ActorMesh::Reader in) {
    auto mesh = std::make_shared<internal::MeshInfo>();
    mesh->id = in.getId();
    if (in.getType() == 0 || in.getType() > actor_types_.size()) {
      return protocol_error("a mesh is of type " + text(in.getType()) + " of " +
                            text(actor_types_.size()));
    }
    mesh->type = actor_types_[in.getType() - 1];
    // Each part is asked for once: reading it again counts against the limits of the frame.
    const auto hosts = in.getHosts();
    Status status = of_stranger(limits::check(limits::kMembers, hosts.size(), "mesh of actors"));
    if (status.ok()) status = read_axes(in.getAxes(), mesh->axes);
    if (!status.ok()) return status;
    read_numbers(hosts, mesh->hosts);
    for (const std::uint32_t host : mesh->hosts) {
      status = check_silo(std::uint64_t{host} + 1, "host of a member");
      if (!status.ok()) return status;
    }
    mesh->owner_silo = in.getOwnerSilo();
    mesh->owner = read_name(in.getOwner());
    mesh->client = in.getClient();
    mesh->tenant = in.getTenant();
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
    out.tenant = in.getTenant();
    Status status = read_outcome(in.getCode(), in.getMessage(), out.status);
    if (status.ok()) status = find_payload(in.getPayload(), out.payload);
    if (!status.ok() || !in.hasParcel()) return status;
    out.parcel = std::make_shared<Parcel>();
    return read_parcel(in.getParcel(), *out.parcel);
  }

  Status read_parcel(schema::Parcel::Reader in, Parcel& out) {
    Status status = find_mesh(in.getMesh(), out.mesh);
    if (status.ok() && in.hasFactory()) status = read_factory(in.getFactory(), out);
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
    status = of_stranger(limits::check(limits::kMembers, members.size(), "list of members"));
    if (status.ok()) status = check_text(name, "name of a mesh of actors");
    if (!status.ok()) return status;
    read_numbers(members, out.members);
    out.name.assign(name.begin(), name.size());
    if (in.hasDeath()) status = read_death(in.getDeath(), out.death);
    if (status.ok() && in.hasCombine()) status = read_combine(in.getCombine(), out);
    read_numbers(in.getChildren(), out.children);
    for (const SiloId child : out.children) {
      if (status.ok()) status = check_silo(child, "child");
    }
    out.parent = in.getParent();
    if (status.ok()) status = check_silo(out.parent, "parent");
    out.is_root = in.getIsRoot();
    return status;
  }

  Status read_factory(schema::Factory::Reader in, Parcel& out) {
    if (in.getBeside() != 0) return take_beside(in.getBeside(), "factory", out.factory);
    if (!out.mesh) return protocol_error("members are to be made of no mesh");
    auto from = std::make_shared<internal::Construction>();
    from->signature = in.getSignature().cStr();
    const capnp::Data::Reader data = in.getArguments();
    const auto* begin = reinterpret_cast<const std::byte*>(data.begin());
    from->bytes.assign(begin, begin + data.size());
    Status status = read_attachments(in.getAttachments(), from->attachments);
    if (!status.ok()) return status;
    if (!types_) {
      out.refusal = not_found("this process is no host and makes no actors");
      return {};
    }
    auto made = types_->make_factory(out.mesh->type->full_name, out.mesh->type->fingerprint, from);
    if (made.ok()) {
      out.factory = std::move(made).value();
    } else {
      out.refusal = made.status();
    }
    return {};
  }

  Status read_combine(schema::Combine::Reader in, Parcel& out) {
    if (in.getBeside() != 0) return take_beside(in.getBeside(), "combining function", out.combine);
    if (!types_) {
      out.refusal = not_found("this process is no host and combines nothing");
      return {};
    }
    auto found = types_->find_combine(in.getName().cStr(), in.getFingerprint());
    if (found.ok()) {
      out.combine = std::move(found).value();
    } else {
      out.refusal = found.status();
    }
    return {};
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
        is_whole = parcel && (parcel->combine || !parcel->refusal.ok()) && !parcel->members.empty();
        break;
      case Kind::kStart:
        is_whole = parcel && parcel->mesh && (parcel->factory || !parcel->refusal.ok());
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
  const internal::TypeTable* const types_;
  Parcels* const beside_;
  ArrayTravel* const arrays_;
  SiloId from_ = 0;
  std::vector<std::shared_ptr<const internal::ActorTypeInfo>> actor_types_;
  std::vector<internal::RawMessage> payloads_;
  std::vector<std::shared_ptr<const internal::MeshInfo>> meshes_;
};

}  // namespace

Result<Batch> decode_batch(const Frame& frame, std::uint64_t now_ns, std::uint32_t silos,
                           const CodecOptions& options) {
  Batch batch;
  Status status =
      wire::read_frame<schema::EnvelopeBatch>(frame, [&](schema::EnvelopeBatch::Reader in) {
        return Decoder(now_ns, silos, options).read(in, batch);
      });
  if (!status.ok()) return status;
  return batch;
}

Result<SiloId> read_sender(const Frame& frame) {
  SiloId from = 0;
  Status status = wire::read_frame<schema::EnvelopeBatch>(
      frame, [&from](schema::EnvelopeBatch::Reader in) { from = in.getFrom(); });
  if (!status.ok()) return status;
  return from;
}

}  // namespace seaway::app
