// Names of meshes, which the hub keeps for each tenant.

#include <algorithm>
#include <utility>

#include "app/mesh_request.hpp"
#include "app/silo.hpp"
#include "base/limits.hpp"

namespace seaway::app {

Status Silo::no_hub(const std::string& name) {
  return {StatusCode::kHostLost, "name \"" + name +
                                     "\": the controller, which keeps the names, was lost; connect "
                                     "again"};
}

void Silo::on_publish(const Envelope& envelope) {
  Envelope answer;
  answer.kind = Kind::kPublished;
  answer.member = envelope.member;
  const std::pair key(envelope.tenant, envelope.parcel->name);
  const auto found = names_.find(key);
  if (found == names_.end() && names_.size() >= wiring_.limits.names_max) {
    answer.status = resource_exhausted("registry: name \"" + envelope.parcel->name +
                                       "\" refused: " + std::to_string(names_.size()) + " of " +
                                       std::to_string(wiring_.limits.names_max) +
                                       " names are in use; stop actors that have one");
  } else if (found == names_.end()) {
    names_.emplace(key, envelope.parcel->mesh);
  } else {
    answer.status =
        invalid_argument("the name \"" + envelope.parcel->name + "\" is taken by " +
                         found->second->type->name + "; choose another one, or stop those actors");
  }
  post(envelope.from, std::move(answer));
}

void Silo::on_unpublish(const Envelope& envelope) {
  const auto found = names_.find({envelope.tenant, envelope.parcel->name});
  if (found != names_.end() && found->second->id == envelope.member.mesh) names_.erase(found);
}

void Silo::find(Member* caller, std::uint32_t client, const std::string& name,
                std::shared_ptr<Spawned> found) {
  Status status = limits::check_name(name, "name of a mesh of actors");
  if (status.ok()) status = check_room("find");
  if (status.ok() && !wiring_.network->is_up(kHub)) status = no_hub(name);
  if (!status.ok()) {
    found->complete(std::move(status));
    return;
  }
  Call& call = begin_call(caller, client, std::make_shared<MeshRequest>(std::move(found)), "find",
                          kHub, due_ns({}));
  wheel_.add(call, call.deadline_ns);
  Envelope envelope;
  envelope.kind = Kind::kFind;
  envelope.tenant = tenant_of(caller, client);
  envelope.call = call.id;
  envelope.parcel = std::make_shared<Parcel>();
  envelope.parcel->name = name;
  post(kHub, std::move(envelope));
}

void Silo::on_find(const Envelope& envelope) {
  Envelope answer;
  answer.kind = Kind::kFound;
  answer.call = envelope.call;
  const auto found = names_.find({envelope.tenant, envelope.parcel->name});
  if (found == names_.end()) {
    const auto known = std::count_if(names_.begin(), names_.end(), [&envelope](const auto& entry) {
      return entry.first.first == envelope.tenant;
    });
    answer.status = not_found("no actors are named \"" + envelope.parcel->name + "\"; " +
                              std::to_string(known) + " names are known");
  } else {
    answer.parcel = std::make_shared<Parcel>();
    answer.parcel->mesh = found->second;
  }
  post(envelope.from, std::move(answer));
}

}  // namespace seaway::app
