// What a member would be restored from: it is taken here, kept by the owner of its mesh, and
// answers that rest on it wait until it is.

#include <memory>
#include <utility>

#include "app/silo.hpp"
#include "base/probe.hpp"
#include "seaway/app/task.hpp"

namespace seaway::app {

/// An answer leaves when the snapshot is safe that it rests on: the one about to be taken, if a
/// handler has just run, else the last one.
void Silo::reply_when_kept(Member& member, bool is_handled, SiloId to, Envelope envelope) {
  const internal::ActorTypeInfo& type = *member.mesh()->type;
  if (type.snapshot && type.snapshot_every == 1 && member.life != Member::Life::kDead) {
    Member::Extras& extras = member.extras();
    const std::uint64_t snapshot = extras.snapshots + (is_handled ? 1 : 0);
    if (snapshot > extras.kept) {
      SEAWAY_PROBE("an answer waits for its snapshot");
      extras.unsent.push_back({snapshot, to, std::move(envelope)});
      return;
    }
  }
  post(to, std::move(envelope));
}

void Silo::take_snapshot(Member& member) {
  Member::Extras& extras = member.extras();
  auto snapshot = std::make_shared<Snapshot>();
  try {
    const actor::HandlerScope scope(member);
    snapshot->state = member.mesh()->type->snapshot(member.object.get());
  } catch (...) {
    return end_member(member, internal::status_of_user_exception());
  }
  for (std::size_t i = extras.once_begin; i < extras.once_order.size(); ++i) {
    const std::uint64_t id = extras.once_order[i];
    snapshot->answered.emplace_back(id, *extras.once.at(id).answer);
  }
  Envelope envelope;
  envelope.kind = Kind::kSnapshot;
  envelope.tenant = member.mesh()->tenant;
  envelope.member = member.member_name();
  envelope.number = ++extras.snapshots;
  envelope.request_id = member.incarnation();
  envelope.parcel = std::make_shared<Parcel>();
  envelope.parcel->starts.push_back(
      {member.index(), member.incarnation(), std::move(snapshot), extras.snapshots, {}});
  post(member.mesh()->owner_silo, std::move(envelope));
}

void Silo::on_kept(const Envelope& envelope) {
  Member* member = find_member(envelope.member);
  if (!member || !member->find_extras()) return;
  member->extras().kept = envelope.number;
  auto& unsent = member->extras().unsent;
  std::size_t count = 0;
  while (count < unsent.size() && unsent[count].snapshot <= envelope.number) ++count;
  for (std::size_t i = 0; i < count; ++i) post(unsent[i].to, std::move(unsent[i].envelope));
  unsent.erase(unsent.begin(), unsent.begin() + static_cast<std::ptrdiff_t>(count));
  if (member->life == Member::Life::kStopping) end_when_drained(*member);
}

// At the owner.

void Silo::on_snapshot(Envelope& envelope) {
  const auto found = owned_.find(envelope.member.mesh);
  if (found == owned_.end() || envelope.member.index >= found->second.places.size()) return;
  OwnedMesh& owned = found->second;
  const OwnedMesh::Place& place = owned.places[envelope.member.index];
  // One of an incarnation that is over would take back what its successor has done.
  if (place.is_done || place.incarnation != envelope.request_id) return;
  owned.snapshots[envelope.member.index] = {envelope.number,
                                            envelope.parcel->starts.front().snapshot};
  Envelope kept;
  kept.kind = Kind::kKept;
  kept.member = envelope.member;
  kept.number = envelope.number;
  post(envelope.from, std::move(kept));
}

}  // namespace seaway::app
