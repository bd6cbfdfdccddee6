// Meshes and who owns them: they begin, their members die and are restarted, they end.

#include <algorithm>
#include <utility>

#include "app/mesh_request.hpp"
#include "app/silo.hpp"
#include "base/check.hpp"
#include "base/limits.hpp"
#include "base/probe.hpp"

namespace seaway::app {
namespace {

/// Checks against the table of limits what its readers in other processes will check.
Status check_sizes(const internal::SpawnOrder& order) {
  const Placement& placement = order.placement;
  const std::string& type = order.type->name;
  Status status = limits::check_name(order.type->full_name, "class of actors");
  if (status.ok()) status = limits::check_name(order.name, "name of a mesh of actors");
  if (status.ok()) status = limits::check(limits::kMeshAxes, placement.axes.size(), type);
  std::uint64_t places = 1;
  for (const Placement::Axis& axis : placement.axes) {
    if (status.ok()) status = limits::check_name(axis.name, "axis of a mesh of actors");
    // Saturates: a larger product does not wrap around.
    places = axis.size > 0 && places > UINT64_MAX / axis.size ? UINT64_MAX : places * axis.size;
  }
  if (status.ok()) status = limits::check(limits::kMembers, places, type);
  if (status.ok()) status = limits::check(limits::kMembers, placement.size(), type);
  if (!status.ok() || places == placement.size()) return status;
  return invalid_argument(type + ": the axes of its placement have " + std::to_string(places) +
                          " places, and it names " + std::to_string(placement.size()) + " hosts");
}

std::string name_of(const OwnedMesh& owned, std::uint32_t index) {
  return internal::member_name(owned.mesh.get(), index);
}

}  // namespace

void Silo::spawn(std::shared_ptr<Member> owner, std::uint32_t client, internal::SpawnOrder order,
                 std::shared_ptr<Spawned> spawned) {
  const auto fail = [&spawned](Status status) { spawned->complete(std::move(status)); };
  if (!order.type->mistake.ok()) return fail(order.type->mistake);
  if (order.type->snapshot && order.type->snapshot_every == 0) {
    return fail(invalid_argument(order.type->name + ": a snapshot after every 0 messages; say 1, "
                                                    "or more"));
  }
  if (Status status = check_sizes(order); !status.ok()) return fail(std::move(status));
  if (order.placement.size() == 0) {
    return fail(invalid_argument(order.type->name + ": the placement has no places"));
  }
  for (const std::uint32_t host : order.placement.hosts) {
    if (host == UINT32_MAX) {
      return fail(invalid_argument(order.type->name + ": its placement was chosen from another " +
                                   "one by a position that does not exist there"));
    }
    if (host >= wiring_.network->hosts()) {
      return fail(invalid_argument(order.type->name + ": host " + std::to_string(host) +
                                   " does not exist; this cluster has " +
                                   std::to_string(wiring_.network->hosts())));
    }
    if (!wiring_.network->is_up(silo_of_host(host))) {
      return fail({StatusCode::kHostLost,
                   order.type->name + ": host " + std::to_string(host) + " was lost"});
    }
  }
  if (!order.name.empty() && !wiring_.network->is_up(kHub)) return fail(no_hub(order.name));
  auto mesh = std::make_shared<internal::MeshInfo>();
  mesh->id = (std::uint64_t{wiring_.id} << 40) | ++last_mesh_;
  mesh->type = order.type;
  mesh->axes = order.placement.axes;
  mesh->hosts = std::move(order.placement.hosts);
  mesh->owner_silo = wiring_.id;
  mesh->client = client;
  mesh->tenant = tenant_of(owner.get(), client);
  if (owner) mesh->owner = owner->member_name();
  const auto members = static_cast<std::uint32_t>(mesh->hosts.size());
  OwnedMesh& owned =
      owned_.try_emplace(mesh->id, actor::Supervision(order.restart, order.intensity, members))
          .first->second;
  owned.factory = std::move(order.factory);
  owned.name = std::move(order.name);
  owned.owner = std::move(owner);
  owned.places.resize(members);
  for (std::uint32_t i = 0; i < members; ++i) {
    owned.places[i].silo = silo_of_host(mesh->hosts[i]);
  }
  owned.mesh = std::move(mesh);
  owned.not_done = members;
  owned.spawned = std::move(spawned);
  if (owned.owner) owned.owner->extras().owned.push_back(owned.mesh->id);
  if (owned.name.empty()) {
    std::vector<std::uint32_t> all(members);
    for (std::uint32_t i = 0; i < members; ++i) all[i] = i;
    return begin_start(owned, all);
  }
  // The name comes first: whoever finds it finds members that live, or are about to.
  Envelope publish;
  publish.kind = Kind::kPublish;
  publish.tenant = owned.mesh->tenant;
  publish.member = {owned.mesh->id, 0};
  publish.parcel = std::make_shared<Parcel>();
  publish.parcel->mesh = owned.mesh;
  publish.parcel->name = owned.name;
  post(kHub, std::move(publish));
}

void Silo::on_published(const Envelope& envelope) {
  const auto found = owned_.find(envelope.member.mesh);
  if (found == owned_.end()) return;
  OwnedMesh& owned = found->second;
  if (!envelope.status.ok()) {
    owned.name.clear();  // It is another's.
    owned.failure = envelope.status;
    owned.not_done = 0;
    return finish_spawn(owned);
  }
  std::vector<std::uint32_t> all(owned.places.size());
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    all[i] = i;
    if (!wiring_.network->is_up(owned.places[i].silo)) {
      const std::string host = "host " + std::to_string(host_of_silo(owned.places[i].silo));
      owned.failure = {StatusCode::kHostLost, name_of(owned, i) + ": " + host + " was lost"};
      owned.not_done = 0;
      return finish_spawn(owned);
    }
  }
  begin_start(owned, all);
}

/// Has `members` made on their hosts; new incarnations go on with their last snapshots.
void Silo::begin_start(OwnedMesh& owned, const std::vector<std::uint32_t>& members) {
  std::map<SiloId, std::shared_ptr<Parcel>> parcels;
  for (const std::uint32_t index : members) {
    OwnedMesh::Place& place = owned.places[index];
    std::shared_ptr<Parcel>& parcel = parcels[place.silo];
    if (!parcel) {
      parcel = std::make_shared<Parcel>();
      parcel->mesh = owned.mesh;
      parcel->factory = owned.factory;
    }
    Start start{index, place.incarnation, nullptr, 0, {}};
    const auto kept = owned.snapshots.find(index);
    if (kept != owned.snapshots.end()) {
      start.snapshot_number = kept->second.first;
      start.snapshot = kept->second.second;
    }
    parcel->starts.push_back(std::move(start));
    ++owned.starting;
  }
  for (auto& [silo, parcel] : parcels) {
    Envelope envelope;
    envelope.kind = Kind::kStart;
    envelope.member = {owned.mesh->id, 0};
    envelope.parcel = std::move(parcel);
    post(silo, std::move(envelope));
  }
}

void Silo::on_started(Envelope& envelope) {
  const auto found = owned_.find(envelope.member.mesh);
  if (found == owned_.end()) {
    // Its owner has ended meanwhile: these members have no parent.
    for (const Start& start : envelope.parcel->starts) {
      Envelope stop;
      stop.kind = Kind::kStop;
      stop.tenant = envelope.parcel->mesh->tenant;
      stop.member = {envelope.member.mesh, start.index};
      stop.status = actor_lost("its parent has ended");
      post(envelope.from, std::move(stop));
    }
    forget_on(envelope.from, envelope.member.mesh);
    return;
  }
  const std::uint64_t mesh = found->first;
  OwnedMesh& owned = found->second;
  std::vector<std::pair<Start, Status>> failed;
  for (const Start& start : envelope.parcel->starts) {
    if (start.index >= owned.places.size()) continue;
    OwnedMesh::Place& place = owned.places[start.index];
    if (place.incarnation != start.incarnation) continue;
    if (place.is_done) {  // It was taken for lost, and nobody counts on it any more.
      if (start.status.ok()) stop_member(owned, start.index, 0, actor_lost("its host was lost"));
    } else if (start.status.ok()) {
      --owned.starting;
      place.is_live = true;
      static_cast<void>(owned.supervision.on_started(start.index, start.incarnation));
      if (owned.is_ending) stop_member(owned, start.index, 0, owned.failure);
    } else if (owned.spawned) {
      if (owned.failure.ok()) {
        owned.failure = {start.status.code(), name_of(owned, start.index) + " on host " +
                                                  std::to_string(owned.mesh->hosts[start.index]) +
                                                  " could not be made: " + start.status.message()};
      }
      --owned.starting;
      place.is_done = true;
      --owned.not_done;
    } else {
      failed.emplace_back(start, start.status);
    }
  }
  if (owned.spawned) {
    if (owned.starting == 0) finish_spawn(owned);
    return;
  }
  for (const auto& [start, status] : failed) {
    on_death({mesh, start.index}, start.incarnation, status);
  }
  const auto still = owned_.find(mesh);
  if (still != owned_.end() && still->second.is_ending && still->second.not_done == 0) {
    forget_owned(mesh);
  }
}

/// All members have said whether they live: so does the mesh, or none of them. Whoever asked may
/// have gone, and has an outcome then.
void Silo::finish_spawn(OwnedMesh& owned) {
  const std::shared_ptr<Spawned> spawned = std::exchange(owned.spawned, nullptr);
  const std::shared_ptr<const internal::MeshInfo> mesh = owned.mesh;
  const Status failure = owned.failure;
  if (owned.is_ending) {
    if (owned.not_done == 0) forget_owned(mesh->id);
    if (spawned) spawned->complete(actor_lost("its parent has ended"));
  } else if (!failure.ok()) {
    end_owned(owned, failure);
    if (spawned) spawned->complete(failure);
  } else if (spawned) {
    spawned->complete(mesh);
  }
}

void Silo::stop_member(const OwnedMesh& owned, std::uint32_t index, std::uint64_t until_ns,
                       const Status& cause) {
  Envelope stop;
  stop.kind = Kind::kStop;
  stop.tenant = owned.mesh->tenant;
  stop.member = {owned.mesh->id, index};
  stop.number = until_ns;
  stop.status = cause;
  post(owned.places[index].silo, std::move(stop));
}

void Silo::on_death(MemberName member, std::uint32_t incarnation, const Status& cause) {
  const auto found = owned_.find(member.mesh);
  if (found == owned_.end() || member.index >= found->second.places.size()) return;
  OwnedMesh& owned = found->second;
  OwnedMesh::Place& place = owned.places[member.index];
  if (place.is_done || place.incarnation != incarnation) return;
  const bool was_live = std::exchange(place.is_live, false);
  if (!was_live && owned.spawned) {  // Lost before it could say whether it lives.
    SEAWAY_PROBE("a host is lost during a spawn");
    --owned.starting;
    place.is_done = true;
    --owned.not_done;
    if (owned.failure.ok()) owned.failure = cause;
    if (owned.starting == 0) finish_spawn(owned);
    return;
  }
  SEAWAY_PROBE_IF(!was_live, "a member dies before it lives");
  if (!was_live) --owned.starting;
  Death death{member, name_of(owned, member.index), cause, incarnation, false, false};
  if (cause.ok() || owned.is_ending || place.stops > 0) {
    // Of a mesh that was given up they have heard.
    if (!cause.ok() && !owned.supervision.is_given_up()) tell(owned, death);
    on_member_done(owned, member.index);
    return;
  }
  const actor::Supervision::Decision decision =
      was_live ? owned.supervision.on_death(member.index, incarnation, now_ns_)
               : owned.supervision.on_start_failed(member.index, incarnation, now_ns_);
  if (!decision.given_up.ok()) {
    SEAWAY_PROBE("a mesh has more deaths than allowed");
    place.is_done = true;
    --owned.not_done;
    give_up(owned, actor_lost(owned.mesh->type->name + " mesh: " + decision.given_up.message() +
                              "; the last death: " + cause.to_string()));
    return;
  }
  death.restarts = !decision.start.empty();
  tell(owned, death);
  // Those that have ended in peace, or are about to, are no part of the gang any more.
  const auto is_over = [&owned](std::uint32_t index) {
    return owned.places[index].is_done || owned.places[index].stops > 0;
  };
  for (const auto& other : decision.stop) {
    if (is_over(other.member)) continue;
    SEAWAY_PROBE("a gang restarts with a member");
    if (!std::exchange(owned.places[other.member].is_live, false)) --owned.starting;
    stop_member(owned, other.member, 0,
                actor_lost("its gang restarts, for " + death.name + " has died"));
  }
  if (decision.start.empty()) {
    on_member_done(owned, member.index);
    return;
  }
  std::vector<std::uint32_t> members;
  for (const auto& start : decision.start) {
    if (is_over(start.member)) continue;
    OwnedMesh::Place& again = owned.places[start.member];
    again.incarnation = start.incarnation;
    if (!wiring_.network->is_up(again.silo) && !move_member(owned, start.member)) {
      // None of those that were to start lives, and nobody will say so.
      for (const auto& other : decision.start) {
        if (is_over(other.member)) continue;
        owned.places[other.member].is_done = true;
        --owned.not_done;
      }
      give_up(owned, {StatusCode::kHostLost,
                      "no host is left to restart " + name_of(owned, start.member) + " on"});
      return;
    }
    members.push_back(start.member);
  }
  begin_start(owned, members);
}

void Silo::on_moved(const Envelope& envelope) {
  moved_[envelope.member] = static_cast<SiloId>(envelope.number);
  const auto found = routes_.find(envelope.member.mesh);
  if (found == routes_.end() || envelope.member.index >= found->second.places.size()) return;
  Route::Place& place = found->second.places[envelope.member.index];
  if (std::exchange(place.silo, static_cast<SiloId>(envelope.number)) != envelope.number) {
    SEAWAY_PROBE("a route follows a member");
    recount_credit(found->second, envelope.member.index);
  }
}

/// More deaths than allowed: the mesh ends, and its parent hears of it, or dies of it.
void Silo::give_up(OwnedMesh& owned, const Status& why) {
  const std::shared_ptr<Member> owner = owned.owner;
  tell(owned, {{owned.mesh->id, 0}, owned.mesh->type->name + " mesh", why, 0, false, true});
  end_owned(owned, why);
  if (!owner || owner->life == Member::Life::kDead || owner->mesh()->type->on_death) return;
  if (owner->entered > 0) {
    end_after_turn(*owner, why);
  } else {
    SEAWAY_PROBE("a parent dies of its children");
    end_member(*owner, why);
  }
}

void Silo::end_owned(OwnedMesh& owned, const Status& cause) {
  const std::uint64_t mesh = owned.mesh->id;
  owned.is_ending = true;
  owned.failure = cause;
  if (owned.owner && owned.owner->find_extras()) std::erase(owned.owner->extras().owned, mesh);
  owned.owner.reset();
  for (std::uint32_t i = 0; i < owned.places.size(); ++i) {
    if (owned.places[i].is_live) stop_member(owned, i, 0, cause);
  }
  if (owned.not_done == 0 && owned.starting == 0) forget_owned(mesh);
}

void Silo::on_member_done(OwnedMesh& owned, std::uint32_t index) {
  const std::uint64_t mesh = owned.mesh->id;
  OwnedMesh::Place& place = owned.places[index];
  if (!std::exchange(place.is_done, true)) --owned.not_done;
  place.is_live = false;
  owned.snapshots.erase(index);
  for (std::size_t i = 0; i < owned.stops.size();) {
    StopRequest& request = *owned.stops[i];
    if (std::binary_search(request.members.begin(), request.members.end(), index)) --request.open;
    if (request.open > 0) {
      ++i;
      continue;
    }
    wheel_.remove(request);
    Status status;
    SEAWAY_PROBE_IF(request.killed > 0, "a stop kills at its deadline");
    if (request.killed > 0) {
      status = deadline_exceeded(std::to_string(request.killed) + " of " + owned.mesh->type->name +
                                 "'s members were still busy at the deadline, and were killed");
    }
    answer_call(request.from, request.call, std::move(status));
    owned.stops.erase(owned.stops.begin() + static_cast<std::ptrdiff_t>(i));
  }
  if (owned.not_done == 0 && owned.starting == 0) forget_owned(mesh);
}

void Silo::forget_on(SiloId silo, std::uint64_t mesh) {
  Envelope forget;
  forget.kind = Kind::kStop;
  forget.member = {mesh, UINT32_MAX};
  post(silo, std::move(forget));
}

/// No member is left: nobody needs to remember the mesh.
void Silo::forget_owned(std::uint64_t mesh) {
  const auto found = owned_.find(mesh);
  OwnedMesh& owned = found->second;
  if (owned.spawned) owned.spawned->complete(owned.failure);
  for (const auto& request : owned.stops) {
    wheel_.remove(*request);
    answer_call(request->from, request->call, Status());
  }
  if (!owned.name.empty()) {
    Envelope unpublish;
    unpublish.kind = Kind::kUnpublish;
    unpublish.tenant = owned.mesh->tenant;
    unpublish.member = {mesh, 0};
    unpublish.parcel = std::make_shared<Parcel>();
    unpublish.parcel->name = owned.name;
    post(kHub, std::move(unpublish));
  }
  std::vector<SiloId> told;
  for (const OwnedMesh::Place& place : owned.places) {
    if (std::find(told.begin(), told.end(), place.silo) == told.end()) told.push_back(place.silo);
  }
  if (owned.has_moved) {  // Everybody was told where to.
    told.clear();
    wiring_.network->for_each_up([&told](SiloId silo) { told.push_back(silo); });
  }
  for (const SiloId silo : told) forget_on(silo, mesh);
  for (const Watch& watch : owned.watches) end_watch(watch);
  if (owned.owner && owned.owner->find_extras()) std::erase(owned.owner->extras().owned, mesh);
  owned_.erase(found);
}

void Silo::answer_call(SiloId to, std::uint64_t call, Status status) {
  Envelope answer;
  answer.kind = Kind::kStopped;
  answer.call = call;
  answer.status = std::move(status);
  post(to, std::move(answer));
}

void Silo::stop(Member* caller, std::uint32_t client, const internal::Members& members,
                std::uint64_t deadline_ns, std::shared_ptr<internal::FutureState<void>> stopped) {
  if (!members.mesh || members.count == 0) {
    stopped->complete(check_target(members.mesh.get(), UINT32_MAX, "stop"));
    return;
  }
  if (caller && members.mesh->owner != caller->member_name()) {
    stopped->complete(Status(StatusCode::kPermissionDenied,
                             caller->to_string() + " did not spawn " + members.mesh->type->name +
                                 " and may not stop it; ask who did, or let them stop themselves"));
    return;
  }
  if (Status status = check_room("stop"); !status.ok()) {
    stopped->complete(std::move(status));
    return;
  }
  // The members are killed at the deadline; what is beyond that is the way there and back.
  Call& call = begin_call(caller, client, std::make_shared<RequestState<void>>(std::move(stopped)),
                          "stop", members.mesh->owner_silo,
                          deadline_ns + static_cast<std::uint64_t>(kCallDeadline.count()));
  call.mesh = members.mesh;
  call.member = {members.mesh->id, members.at(0)};
  wheel_.add(call, call.deadline_ns);
  Envelope envelope;
  envelope.kind = Kind::kStopMesh;
  envelope.tenant = tenant_of(caller, client);
  envelope.member = {members.mesh->id, 0};
  envelope.call = call.id;
  envelope.deadline_ns = deadline_ns;
  envelope.parcel = std::make_shared<Parcel>();
  for (std::uint32_t i = 0; i < members.count; ++i) {
    envelope.parcel->members.push_back(members.at(i));
  }
  post(members.mesh->owner_silo, std::move(envelope));
}

void Silo::on_stop_mesh(const Envelope& envelope) {
  const auto found = owned_.find(envelope.member.mesh);
  if (found == owned_.end() || found->second.mesh->tenant != envelope.tenant) {
    return answer_call(envelope.from, envelope.call, Status());
  }
  OwnedMesh& owned = found->second;
  auto request = std::make_unique<StopRequest>();
  request->from = envelope.from;
  request->call = envelope.call;
  request->mesh = envelope.member.mesh;
  for (const std::uint32_t index : envelope.parcel->members) {
    if (index >= owned.places.size() || owned.places[index].is_done) continue;
    request->members.push_back(index);
    ++owned.places[index].stops;
  }
  if (request->members.empty()) return answer_call(envelope.from, envelope.call, Status());
  std::sort(request->members.begin(), request->members.end());
  request->open = static_cast<std::uint32_t>(request->members.size());
  wheel_.add(*request, envelope.deadline_ns);
  for (const std::uint32_t index : request->members) {
    stop_member(owned, index, envelope.deadline_ns, Status());
  }
  owned.stops.push_back(std::move(request));
}

void Silo::on_stop_due(StopRequest& request) {
  const auto found = owned_.find(request.mesh);
  if (found == owned_.end()) return;
  request.killed = request.open;
  for (const std::uint32_t index : request.members) {
    if (found->second.places[index].is_done) continue;
    stop_member(found->second, index, 0,
                deadline_exceeded("it was still busy at the deadline of its stop"));
  }
}

void Silo::kill(std::uint64_t tenant, const internal::Members& members, const Status& cause) {
  if (!members.mesh) return;
  const Route& route = route_to(members.mesh);
  for (std::uint32_t i = 0; i < members.count; ++i) {
    const std::uint32_t index = members.at(i);
    if (index >= route.places.size()) continue;
    Envelope stop;
    stop.kind = Kind::kStop;
    stop.tenant = tenant;
    stop.member = {members.mesh->id, index};
    stop.status = cause.ok() ? actor_lost("killed") : cause;
    post(route.places[index].silo, std::move(stop));
  }
}

void Silo::open_client(std::uint32_t client, std::uint64_t tenant) {
  client_tenants_[client] = tenant;
}

void Silo::close_client(std::uint32_t client, const Status& why) {
  std::vector<std::uint64_t> meshes;
  for (const auto& [id, owned] : owned_) {
    if (!owned.owner && owned.mesh->client == client && !owned.is_ending) meshes.push_back(id);
  }
  for (const std::uint64_t mesh : meshes) {
    const auto found = owned_.find(mesh);
    if (found == owned_.end()) continue;
    // Its hosts or the hub may not answer any more.
    const std::shared_ptr<Spawned> spawned = std::exchange(found->second.spawned, nullptr);
    end_owned(found->second, cancelled("client " + std::to_string(client) + " has ended"));
    if (spawned) spawned->complete(why);
  }
  calls_.for_each([&](Call& call) {
    if (call.caller || call.client != client) return;
    withdraw(call);
    close_call(call, why, 0);
  });
  // Its executors may be gone already.
  watches_.erase(watches_.lower_bound(std::uint64_t{client} << 32),
                 watches_.upper_bound(std::uint64_t{client} << 32 | UINT32_MAX));
  client_tenants_.erase(client);
  flush();
}

}  // namespace seaway::app
