// Deaths, and who hears of them.

#include <algorithm>
#include <memory>
#include <utility>

#include "app/silo.hpp"
#include "base/probe.hpp"
#include "seaway/app/task.hpp"

namespace seaway::app {

void Silo::watch(std::uint64_t tenant, const internal::Members& members, MemberName watcher,
                 std::uint64_t number) {
  if (!members.mesh) return;
  Envelope envelope;
  envelope.kind = Kind::kWatch;
  envelope.tenant = tenant;
  envelope.member = {members.mesh->id, 0};
  envelope.sender = watcher;
  envelope.number = number;
  envelope.parcel = std::make_shared<Parcel>();
  for (std::uint32_t i = 0; i < members.count; ++i) {
    envelope.parcel->members.push_back(members.at(i));
  }
  envelope.parcel->name = members.mesh->type->name;
  post(members.mesh->owner_silo, std::move(envelope));
}

void Silo::on_watch(const Envelope& envelope) {
  // The watcher has a handle that names the wrong owner.
  if (envelope.member.mesh >> kSiloShift != wiring_.id) return;
  Watch watch{envelope.from, envelope.tenant, envelope.sender, envelope.number,
              envelope.parcel->members};
  const auto found = owned_.find(envelope.member.mesh);
  if (found != owned_.end() && found->second.mesh->tenant == envelope.tenant) {
    auto& watches = found->second.watches;
    // Those of the watcher's earlier incarnations have nobody any more.
    std::erase_if(watches, [&watch](const Watch& other) {
      return watch.watcher != MemberName() && other.watcher == watch.watcher &&
             other.number != watch.number;
    });
    watches.push_back(std::move(watch));
    const OwnedMesh& owned = found->second;
    for (const std::uint32_t index : envelope.parcel->members) {
      if (index >= owned.places.size() || !owned.places[index].is_done) continue;
      const MemberName member{owned.mesh->id, index};
      SEAWAY_PROBE("a member had ended before it was watched");
      tell_too_late(watches.back(), member, internal::member_name(owned.mesh.get(), index));
    }
    return;
  }
  SEAWAY_PROBE("a mesh had ended before it was watched");
  tell_too_late(watch, envelope.member, envelope.parcel->name + " mesh");
  end_watch(watch);
}

/// Who watches what has ended for good hears at once, as if the death had come now.
void Silo::tell_too_late(const Watch& watch, MemberName member, std::string name) {
  Envelope notice;
  notice.kind = Kind::kNotice;
  notice.tenant = watch.tenant;
  notice.member = watch.watcher;
  notice.number = watch.number;
  notice.parcel = std::make_shared<Parcel>();
  notice.parcel->death = std::make_shared<const Death>(Death{
      member, std::move(name), actor_lost("it had ended before it was watched"), 0, false, false});
  post(watch.silo, std::move(notice));
}

/// A client's watch of a mesh that is over is not kept any longer.
void Silo::end_watch(const Watch& watch) {
  if (watch.watcher != MemberName()) return;
  Envelope last;
  last.kind = Kind::kNotice;
  last.number = watch.number;
  post(watch.silo, std::move(last));
}

void Silo::tell(OwnedMesh& owned, const Death& death) {
  const auto shared = std::make_shared<const Death>(death);
  if (owned.owner) hear(*owned.owner, death);
  for (const Watch& watch : owned.watches) {
    const bool is_meant =
        death.is_escalated || std::find(watch.members.begin(), watch.members.end(),
                                        death.member.index) != watch.members.end();
    if (!is_meant) continue;
    Envelope notice;
    notice.kind = Kind::kNotice;
    notice.tenant = watch.tenant;
    notice.member = watch.watcher;
    notice.number = watch.number;
    notice.parcel = std::make_shared<Parcel>();
    notice.parcel->death = shared;
    post(watch.silo, std::move(notice));
  }
}

void Silo::on_notice(const Envelope& envelope) {
  if (envelope.member == MemberName()) {
    const auto found = watches_.find(envelope.number);
    if (found == watches_.end()) return;
    if (!envelope.parcel) {
      watches_.erase(found);
    } else {
      found->second(*envelope.parcel->death);
    }
    return;
  }
  Member* member = find_authorized(envelope) ? find_member(envelope.member) : nullptr;
  const bool is_meant = member && member->incarnation() == envelope.number;
  if (is_meant) hear(*member, *envelope.parcel->death);
}

/// Its handler of deaths takes its turn like any other: as a message.
void Silo::hear(Member& member, const Death& death) {
  if (member.life == Member::Life::kDead || !member.mesh()->type->on_death) return;
  Envelope own;
  own.from = wiring_.id;
  Delivery& delivery = make_delivery(member, kDeathMethod, own);
  delivery.death = std::make_shared<const Death>(death);
  // In front of all data, behind earlier ones: a word about the world, and not of one of its
  // senders.
  Delivery* behind = nullptr;
  for (Delivery* at = member.mailbox.first(); at && at->death; at = at->next) behind = at;
  member.mailbox.insert(behind, delivery);
  make_ready(member);
}

const internal::MethodInfo Silo::kDeathMethod = {
    0,
    0,
    "Death",
    true,
    false,
    nullptr,
    nullptr,
    [](void* actor, internal::Invocation& invocation) {
      auto& delivery = static_cast<Delivery&>(invocation);
      try {
        delivery.member->mesh()->type->on_death(actor, *delivery.death);
        delivery.finish(internal::RawMessage());
      } catch (...) {
        delivery.crash(internal::status_of_user_exception());
      }
    }};

void Silo::keep_watch(std::uint64_t number, std::function<void(const Death&)> on_death) {
  watches_[number] = std::move(on_death);
}

}  // namespace seaway::app
