// Members begin and end on their host.

#include <algorithm>
#include <utility>

#include "app/silo.hpp"
#include "base/check.hpp"
#include "base/mutant.hpp"
#include "base/probe.hpp"
#include "seaway/app/task.hpp"

namespace seaway::app {

LocalMesh* Silo::find_local(std::uint64_t mesh) {
  if (last_local_ && last_local_->mesh && last_local_->mesh->id == mesh) return last_local_;
  const auto found = local_meshes_.find(mesh);
  if (found == local_meshes_.end()) return nullptr;
  return last_local_ = &found->second;
}

/// Null also for a mesh of another tenant than the one that `envelope` acts for.
LocalMesh* Silo::find_authorized(const Envelope& envelope) {
  LocalMesh* const local = find_local(envelope.member.mesh);
  return local && local->mesh && local->mesh->tenant == envelope.tenant ? local : nullptr;
}

Member* Silo::find_member(MemberName name) {
  LocalMesh* local = find_local(name.mesh);
  if (!local || name.index >= local->members.size()) return nullptr;
  return local->members[name.index].get();
}

void Silo::on_start(Envelope& envelope) {
  Parcel& parcel = *envelope.parcel;
  if (!parcel.refusal.ok()) return refuse_start(envelope);
  LocalMesh& local = local_meshes_[parcel.mesh->id];
  if (!local.mesh) {
    local.mesh = parcel.mesh;
    local.factory = parcel.factory;
    local.members.resize(parcel.mesh->hosts.size());
  } else if (local.members.size() != parcel.mesh->hosts.size()) {
    parcel.refusal = invalid_argument("mesh " + std::to_string(parcel.mesh->id) + " has " +
                                      std::to_string(local.members.size()) + " members here");
    return refuse_start(envelope);
  }
  auto answer = std::make_shared<Parcel>();
  answer->mesh = parcel.mesh;
  for (const Start& start : parcel.starts) {
    answer->starts.push_back(
        {start.index, start.incarnation, nullptr, 0, start_member(local, start)});
  }
  Envelope started;
  started.kind = Kind::kStarted;
  started.member = {parcel.mesh->id, 0};
  started.parcel = std::move(answer);
  post(envelope.from, std::move(started));
  // Those that stopped themselves as soon as they were made.
  for (const Start& start : parcel.starts) {
    if (Member* member = local.members[start.index].get()) end_if_due(*member);
  }
}

/// What is to be made is not known here, or is something else.
void Silo::refuse_start(const Envelope& envelope) {
  Envelope started;
  started.kind = Kind::kStarted;
  started.member = {envelope.parcel->mesh->id, 0};
  started.parcel = std::make_shared<Parcel>();
  started.parcel->mesh = envelope.parcel->mesh;
  for (const Start& start : envelope.parcel->starts) {
    started.parcel->starts.push_back(
        {start.index, start.incarnation, nullptr, 0, envelope.parcel->refusal});
  }
  post(envelope.from, std::move(started));
}

Status Silo::start_member(LocalMesh& local, const Start& start) {
  // Its owner stops an incarnation before it starts the next.
  if (const Member* const before = local.members[start.index].get();
      before && before->life != Member::Life::kDead) {
    return invalid_argument(
        internal::member_name(local.mesh.get(), start.index) + ": incarnation " +
        std::to_string(before->incarnation()) + " of it lives on " + silo_text(wiring_.id) +
        "; stop it before incarnation " + std::to_string(start.incarnation) + " is started");
  }
  if (member_count_ >= wiring_.limits.members_max) {
    return resource_exhausted(silo_text(wiring_.id) + " has " + std::to_string(member_count_) +
                              " actors already; place " + local.mesh->type->name + " elsewhere");
  }
  auto member = std::make_shared<Member>(*this, local.mesh, start.index, start.incarnation);
  Status status;
  ++entered_;
  try {
    const actor::HandlerScope scope(*member);
    member->object = local.factory(Self(member));
    if (member->is_ending) status = std::move(member->ending_cause);
    if (status.ok() && start.snapshot && local.mesh->type->restore) {
      status = local.mesh->type->restore(member->object.get(),
                                         internal::bound(start.snapshot->state, member));
      for (const auto& [id, reply] : start.snapshot->answered) {
        member->extras().once[id].answer = reply;
        member->extras().once_order.push_back(id);
      }
      SEAWAY_PROBE("a member begins from a snapshot");
      member->extras().snapshots = member->extras().kept = start.snapshot_number;
    }
  } catch (...) {
    status = internal::status_of_user_exception();
  }
  --entered_;
  ++local.live;
  ++member_count_;
  local.members[start.index] = member;
  local.graves.erase(start.index);
  if (!status.ok()) {
    // It has perhaps asked others already: it ends as every other member does.
    member->is_told = false;
    end_member(*member, status);
  }
  return status;
}

void Silo::on_stop(Envelope& envelope) {
  if (envelope.member.index == UINT32_MAX) {  // The mesh is over.
    LocalMesh* local = find_local(envelope.member.mesh);
    if (local && local->live == 0) {
      local_meshes_.erase(envelope.member.mesh);
      last_local_ = nullptr;
    }
    routes_.erase(envelope.member.mesh);
    last_route_ = nullptr;
    moved_.erase(moved_.lower_bound({envelope.member.mesh, 0}),
                 moved_.upper_bound({envelope.member.mesh, UINT32_MAX}));
    return;
  }
  Member* member = find_authorized(envelope) ? find_member(envelope.member) : nullptr;
  if (!member || member->life == Member::Life::kDead) return;
  if (envelope.number == 0) {
    if (member->entered > 0) return end_after_turn(*member, std::move(envelope.status));
    return end_member(*member, std::move(envelope.status));
  }
  member->life = Member::Life::kStopping;
  end_when_drained(*member);
}

/// A member that takes nothing new ends when it has handled what it was asked before.
void Silo::end_when_drained(Member& member) {
  if (!member.mailbox.empty() || !member.running.empty() || member.entered > 0) return;
  if (const Member::Extras* extras = member.find_extras()) {
    if (!extras->held.empty() || !extras->unsent.empty()) return;
  }
  end_member(member, Status());
}

void Silo::end_if_due(Member& member) {
  if (member.entered > 0) return;
  if (member.is_ending) return end_member(member, std::move(member.ending_cause));
  if (member.life == Member::Life::kStopping) end_when_drained(member);
}

void Silo::end_after_turn(Member& member, Status cause) {
  if (member.life == Member::Life::kDead || member.is_ending) return;
  member.is_ending = true;
  member.ending_cause = std::move(cause);
}

/// Of `cause`, or in peace if that is OK. Never while a handler of it is on the stack.
void Silo::end_member(Member& member, Status cause) {
  if (member.life == Member::Life::kDead) return;
  SEAWAY_CHECK(member.entered == 0);
  const std::shared_ptr<Member> keeps = std::static_pointer_cast<Member>(member.shared_from_this());
  member.life = Member::Life::kDead;
  const std::string name = member.to_string();
  const std::string why = cause.ok() ? "has ended" : "has died: " + cause.to_string();
  const auto end_all = [&](DeliveryList& list, const char* when) {
    while (Delivery* delivery = list.first()) {
      list.remove(*delivery);
      // Who waits for the very handler that failed hears how, and not only that.
      const bool is_culprit = delivery->crash_cause.has_value();
      if (delivery->root) std::exchange(delivery->root, nullptr).destroy();
      answer(*delivery, is_culprit ? cause
                                   : actor_lost(name + " " + why + "; " + delivery->method->name +
                                                " " + when));
    }
  };
  end_all(member.running, "was being handled");
  end_all(member.mailbox, "was not handled");
  if (member.find_extras()) {
    for (auto& [source, list] : std::exchange(member.extras().held, {})) {
      end_all(list, "was not handled");
    }
    // What was answered but not kept is not known to anybody: its callers may ask again.
    for (UnsentReply& unsent : std::exchange(member.extras().unsent, {})) {
      SEAWAY_PROBE("an answer is lost with its snapshot");
      unsent.envelope.payload = {};
      unsent.envelope.status = actor_lost(name + " " + why + " before its answer was safe");
      post(unsent.to, std::move(unsent.envelope));
    }
  }
  abandon_calls(member);
  while (member.sleeps) {
    end_sleep(*member.sleeps)->complete(cancelled(name + " has ended"));
  }
  if (member.find_extras()) {
    for (const std::uint64_t mesh : std::exchange(member.extras().owned, {})) {
      const auto owned = owned_.find(mesh);
      if (owned != owned_.end()) {
        if (SEAWAY_MUTANT("children outlive their parent")) continue;
        end_owned(owned->second, actor_lost(name + ", its parent, " + why));
      }
    }
  }
  ++entered_;  // Its destructor may send.
  member.object.reset();
  --entered_;
  if (member.is_ready) {
    std::erase(ready_, &member);
    member.is_ready = false;
  }
  member.detach();
  LocalMesh* local = find_local(member.mesh()->id);
  --local->live;
  --member_count_;
  const bool is_told = member.is_told;
  local->members[member.index()] = nullptr;
  if (!cause.ok()) local->graves[member.index()] = cause;
  if (!is_told) return;
  Envelope death;
  death.kind = Kind::kDeath;
  death.member = member.member_name();
  death.number = member.incarnation();
  death.status = std::move(cause);
  post(member.mesh()->owner_silo, std::move(death));
}

}  // namespace seaway::app
