// What becomes of an envelope that cannot be sent, by its kind.

#include "app/undeliverable.hpp"

#include <utility>

namespace seaway::app {
namespace {

/// The same word without its payload: that it has failed.
Envelope failed(const Envelope& envelope, const Status& why) {
  Envelope instead = envelope;
  instead.payload = {};
  instead.status = why;
  return instead;
}

}  // namespace

Undeliverable undeliverable(const Envelope& envelope, SiloId to, const Status& why) {
  Undeliverable result;
  Envelope back;
  back.from = to;
  back.member = envelope.member;
  back.call = envelope.call;
  back.tenant = envelope.tenant;
  back.status = why;
  switch (envelope.kind) {
    case Kind::kCall:
    case Kind::kCombine:
      // Nobody waits for a one-way message: its place in the mailbox is free again, and that is
      // all.
      back.kind = envelope.call == 0 ? Kind::kCredit : Kind::kReply;
      back.number = envelope.call == 0 ? 1 : 0;
      result.back = std::move(back);
      return result;
    case Kind::kItem:
      // A stream ends with what it could not say.
      result.instead = failed(envelope, why);
      result.instead->kind = Kind::kReply;
      return result;
    case Kind::kReply:
    case Kind::kArgument:
    case Kind::kPartial:
      result.instead = failed(envelope, why);
      return result;
    case Kind::kStart:
      back.kind = Kind::kStarted;
      back.status = {};
      back.parcel = std::make_shared<Parcel>();
      back.parcel->mesh = envelope.parcel->mesh;
      for (const Start& start : envelope.parcel->starts) {
        back.parcel->starts.push_back({start.index, start.incarnation, nullptr, 0, why});
      }
      result.back = std::move(back);
      return result;
    case Kind::kSnapshot:
      back.kind = Kind::kStop;
      result.back = std::move(back);
      return result;
    case Kind::kStopMesh:
      back.kind = Kind::kStopped;
      result.back = std::move(back);
      return result;
    case Kind::kFind:
      back.kind = Kind::kFound;
      result.back = std::move(back);
      return result;
    case Kind::kPublish:
      back.kind = Kind::kPublished;
      result.back = std::move(back);
      return result;
    default:
      return result;  // Words of a few bytes, for which nobody waits.
  }
}

}  // namespace seaway::app
