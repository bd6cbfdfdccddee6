// Hosts die and return: what was asked there fails, and what lived there, or for there, ends.

#include <algorithm>
#include <map>
#include <utility>

#include "app/silo.hpp"
#include "base/mutant.hpp"
#include "base/probe.hpp"

namespace seaway::app {

void Silo::on_silo_lost(SiloId lost) {
  const Turn own(*this);
  now_ns_ = wiring_.engine->clock().now_ns();
  const std::string host = silo_text(lost);
  lose_callers(lost);
  if (!SEAWAY_MUTANT("actors outlive the host of their parent")) lose_owner(lost);
  calls_.for_each([&](Call& call) {
    const bool is_in_tree = std::find(call.tree.begin(), call.tree.end(), lost) != call.tree.end();
    if ((call.silo != lost && !is_in_tree) || call.is_resting) return;
    const Status status(StatusCode::kHostLost,
                        std::string(call.request_name) + " to " +
                            internal::member_name(call.mesh.get(), call.member.index) + ": " +
                            host + " was lost, and it is not known whether it was handled");
    SEAWAY_PROBE("a call was under way to a lost host");
    if (SEAWAY_MUTANT("a call to a lost host waits on")) return;
    if (!try_again(call)) close_call(call, status, 0);
  });
  // What it passed on was perhaps still under way. Twice does no harm.
  calls_.for_each([&](const Call& call) {
    SEAWAY_PROBE_IF(call.argument && call.argument_from == lost,
                    "an argument that was passed on is sent again");
    if (call.argument && call.argument_from == lost) send_argument(call, *call.argument);
  });
  for (auto& [id, route] : routes_) {
    for (std::uint32_t i = 0; i < route.places.size(); ++i) {
      if (route.places[i].silo == lost) recount_credit(route, i);
    }
  }
  lose_reductions(lost);
  std::vector<std::pair<MemberName, std::uint32_t>> dead;
  for (auto& [id, owned] : owned_) {
    std::erase_if(owned.watches, [lost](const Watch& watch) { return watch.silo == lost; });
    // One that waits for its name has asked nobody to start anything.
    if (owned.spawned && owned.starting == 0) continue;
    for (std::uint32_t i = 0; i < owned.places.size(); ++i) {
      const OwnedMesh::Place& place = owned.places[i];
      if (place.silo == lost && !place.is_done) dead.push_back({{id, i}, place.incarnation});
    }
  }
  if (lost == kHub) fail_unnamed();
  for (const auto& [member, incarnation] : dead) {
    on_death(member, incarnation, {StatusCode::kHostLost, host + " was lost"});
  }
  turn();
}

/// Meshes whose names the hub was to register: nobody answers any more.
void Silo::fail_unnamed() {
  std::vector<std::uint64_t> waiting;
  for (const auto& [id, owned] : owned_) {
    if (owned.spawned && owned.starting == 0 && !owned.name.empty()) waiting.push_back(id);
  }
  for (const std::uint64_t id : waiting) {
    Envelope answer;
    answer.kind = Kind::kPublished;
    answer.member = {id, 0};
    answer.status = no_hub(owned_.at(id).name);
    on_published(answer);
  }
}

void Silo::on_silo_back(SiloId back) {
  const Turn own(*this);
  for (const auto& [id, owned] : owned_) {
    for (std::uint32_t i = 0; i < owned.places.size(); ++i) {
      const OwnedMesh::Place& place = owned.places[i];
      if (place.is_done || place.silo == silo_of_host(owned.mesh->hosts[i])) continue;
      Envelope moved;
      SEAWAY_PROBE("a host that is back hears who has moved");
      moved.kind = Kind::kMoved;
      moved.member = {id, i};
      moved.number = place.silo;
      post(back, std::move(moved));
    }
  }
  turn();
}

/// What was asked from there is wanted by nobody; an argument from there never comes.
void Silo::lose_callers(SiloId lost) {
  for (std::size_t i = 0; i < incoming_[lost].size(); ++i) {
    Delivery* const delivery = incoming_[lost][i];  // Anew each time: it may grow or go.
    if (!delivery) continue;
    Envelope cancel;
    cancel.kind = Kind::kCancel;
    cancel.from = lost;
    cancel.call = delivery->call;
    const std::uint64_t ticket = delivery->ticket;
    on_cancel(cancel);
    SEAWAY_PROBE_IF(delivery->ticket == ticket, "a handler goes on for a lost caller");
    if (delivery->ticket == ticket) delivery->call = 0;
  }
  incoming_.reset(lost);
  if (lost > wiring_.network->hosts()) seen_.reset(lost);  // A client never comes back.
  std::erase_if(early_arguments_, [this, lost](const auto& early) {
    if (early.first.first != lost) return false;
    wheel_.remove(*early.second);
    return true;
  });
}

/// Members whose parent lived there end, as a member's meshes do with it; and their names.
void Silo::lose_owner(SiloId lost) {
  std::vector<std::uint64_t> orphans;
  for (const auto& [id, local] : local_meshes_) {
    if (local.mesh->owner_silo == lost) orphans.push_back(id);
  }
  std::sort(orphans.begin(), orphans.end());
  const std::string host = silo_text(lost);
  for (const std::uint64_t mesh : orphans) {
    for (std::uint32_t i = 0; i < local_meshes_.at(mesh).members.size(); ++i) {
      const std::shared_ptr<Member> member = local_meshes_.at(mesh).members[i];
      SEAWAY_PROBE_IF(member, "members end with the host of their parent");
      if (member) end_member(*member, actor_lost("its parent's " + host + " was lost"));
    }
    local_meshes_.erase(mesh);
    last_local_ = nullptr;
  }
  std::erase_if(names_, [lost](const auto& name) { return name.second->owner_silo == lost; });
  std::erase_if(moved_, [lost](const auto& moved) { return moved.first.mesh >> 40 == lost; });
}

/// A part of the tree is gone: who is above it hears of it, and who is below is asked by nobody.
void Silo::lose_reductions(SiloId lost) {
  std::vector<std::pair<SiloId, std::uint64_t>> ids;
  for (const auto& [id, node] : nodes_) ids.push_back(id);
  for (const auto& id : ids) {
    const auto found = nodes_.find(id);
    if (found == nodes_.end()) continue;
    ReductionNode& node = *found->second;
    if (!node.is_known) continue;
    if (node.from == lost || (!node.is_root && node.parent == lost)) {
      give_up_node(node);
      continue;
    }
    place_partial(node, lost,
                  Status(StatusCode::kHostLost,
                         silo_text(lost) + " was lost, and what its members would have answered"));
  }
}

/// Sends to a host that was lost are never acknowledged: only calls still have their places.
void Silo::recount_credit(Route& route, std::uint32_t index) {
  Route::Place& place = route.places[index];
  route.in_flight -= place.in_flight;
  place.in_flight = 0;
  const MemberName member{route.mesh->id, index};
  calls_.for_each([&](const Call& call) {
    if (call.has_credit && call.member == member) ++place.in_flight;
  });
  route.in_flight += place.in_flight;
}

/// To another host of the mesh, the one with the fewest members, but to none that ends as well
/// while there are others; false when there is none.
bool Silo::move_member(OwnedMesh& owned, std::uint32_t index) {
  std::map<SiloId, std::uint32_t> loads;
  for (const OwnedMesh::Place& place : owned.places) {
    if (wiring_.network->is_up(place.silo)) ++loads[place.silo];
  }
  if (loads.empty()) {
    for (std::uint32_t host = 0; host < wiring_.network->hosts(); ++host) {
      if (wiring_.network->is_up(silo_of_host(host))) loads[silo_of_host(host)] = 0;
    }
  }
  const auto ends_too = [this, lost = owned.places[index].silo](const auto& load) {
    return wiring_.network->ends_with(load.first, lost);
  };
  if (!std::all_of(loads.begin(), loads.end(), ends_too)) std::erase_if(loads, ends_too);
  if (loads.empty()) return false;
  const auto least = std::min_element(
      loads.begin(), loads.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  owned.places[index].silo = least->first;
  owned.has_moved = true;
  Envelope moved;
  moved.kind = Kind::kMoved;
  moved.member = {owned.mesh->id, index};
  moved.number = least->first;
  wiring_.network->for_each_up([&](SiloId silo) {
    if (SEAWAY_MUTANT("nobody is told where a member is now")) return;
    post(silo, Envelope(moved));
  });
  return true;
}

}  // namespace seaway::app
