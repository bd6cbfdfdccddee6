// Arrays: one count for each logical array, whatever its shards; names, uploads, reads, ends.

#include <algorithm>

#include "base/check.hpp"
#include "controller/records.hpp"

namespace seaway::controller {
namespace {

std::uint64_t shard_bytes(const ArraySpec& spec) {
  return (spec.sharding.shard_type(spec.type).bytes() + 63) / 64 * 64;
}

}  // namespace

std::uint64_t ControllerCore::device_bytes(const ArraySpec& spec) {
  return shard_bytes(spec) * static_cast<std::uint64_t>(spec.sharding.mesh().device_count());
}

ControllerCore::Array* ControllerCore::find_array(ArrayId id) {
  const auto found = arrays_.find(id);
  return found == arrays_.end() ? nullptr : &found->second;
}

void ControllerCore::drop_reference(ArrayId id) {
  const auto found = arrays_.find(id);
  SEAWAY_CHECK(found != arrays_.end() && found->second.references > 0, id);
  if (--found->second.references == 0) remove_array(id, found->second);
}

void ControllerCore::keep(Tenant& tenant, IslandId island, std::uint64_t bytes) {
  kept_bytes_[island] += bytes;
  tenant.kept_bytes[island] += bytes;
}

void ControllerCore::give_back(Tenant& tenant, IslandId island, std::uint64_t bytes) {
  SEAWAY_CHECK(tenant.kept_bytes[island] >= bytes, tenant.id, island, bytes);
  kept_bytes_[island] -= bytes;
  tenant.kept_bytes[island] -= bytes;
}

std::vector<ArrayId> ControllerCore::arrays_on(SliceId slice) const {
  std::vector<ArrayId> found;
  for (const auto& [id, array] : arrays_) {
    if (array.is_counted && array.spec->sharding.mesh().slice() == slice) found.push_back(id);
  }
  std::sort(found.begin(), found.end());
  return found;
}

void ControllerCore::remove_array(ArrayId id, Array& array) {
  if (array.is_counted) {
    give_back(*tenants_[array.tenant], array.island, array.kept_bytes);
    // Of a donated array too: a run that never started, or that does not read it there, took
    // nothing. The scheduler knows, and ignores the second free of one that is gone.
    outbox_.islands[array.island].frees.push_back(array.physical);
  }
  --tenants_[array.tenant]->arrays;
  --clients_.find(client_of(id))->second->arrays;
  delete array.failure;
  arrays_.erase(id);
}

void ControllerCore::release(ClientId client, ArrayId id) {
  Array* array = find_array(id);
  if (!array || client_of(id) != client || !array->has_handle) return;
  array->has_handle = false;
  drop_reference(id);
}

void ControllerCore::define_spec(ClientId client, std::uint64_t id, ArraySpec spec,
                                 Frame definition) {
  const auto slice = slices_.find(spec.sharding.mesh().slice());
  if (client_of(id) != client || slice == slices_.end() || slice->second->client != client) return;
  specs_[id] = std::move(spec);
  for (ControllerOutbox::Island& island : outbox_.islands) island.definitions.push_back(definition);
}

void ControllerCore::put(ClientId client_id, ArrayId id, std::uint64_t spec_id) {
  const auto client = clients_.find(client_id);
  if (client == clients_.end() || client->second->is_gone || client_of(id) != client_id) return;
  const auto spec = specs_.find(spec_id);
  Status failure;
  if (spec == specs_.end()) {
    failure = invalid_argument("array " + std::to_string(sequence_of(id)) +
                               " is put with a sharding over a slice that is not this client's");
  }
  const auto slice =
      spec == specs_.end() ? slices_.end() : slices_.find(spec->second.sharding.mesh().slice());
  if (failure.ok() && slice->second->is_released) {
    failure = invalid_argument("array " + std::to_string(sequence_of(id)) +
                               " is put on a slice that was released; acquire another one");
  }
  Tenant& tenant = *client->second->tenant;
  std::uint64_t bytes = 0;
  program::Binding place;
  if (failure.ok()) {
    bytes = device_bytes(spec->second);
    // While a slice moves, what comes new goes where it will be.
    place = slice->second->moves_in_flight > 0 ? slice->second->target : slice->second->binding;
    if (tenant.kept_bytes[place.island] + bytes > quota(tenant, place.island)) {
      failure = resource_exhausted(
          "array " + to_string(spec->second) + " needs " + std::to_string(bytes) +
          " bytes; live arrays of tenant " + tenant.name + " already keep " +
          std::to_string(tenant.kept_bytes[place.island]) + " of the " +
          std::to_string(quota(tenant, place.island)) + " bytes that it may keep on island " +
          std::to_string(place.island) +
          "; drop handles of arrays that are no longer needed, or raise host_memory");
    }
  }
  if (spec == specs_.end()) {
    outbox_.client(client_id).resolved.push_back({id, std::move(failure)});
    return;
  }
  // A refused one is remembered until its handle goes: runs that name it fail with its reason.
  Array& array = arrays_[id];
  array.tenant = static_cast<std::uint16_t>(client->second->tenant->id);
  array.state = failure.ok() ? Array::State::kReady : Array::State::kFailed;
  array.is_stamped = true;
  array.physical = id;
  array.spec = &spec->second;
  array.island = static_cast<std::uint16_t>(place.island);
  ++tenant.arrays;
  ++client->second->arrays;
  if (!failure.ok()) {
    array.failure = new Status(failure);
    outbox_.client(client_id).resolved.push_back({id, std::move(failure)});
    return;
  }
  keep(tenant, place.island, bytes);
  array.is_counted = true;
  array.kept_bytes = bytes;
  outbox_.islands[place.island].puts.push_back(
      {id, spec_id, array.tenant, shard_bytes(spec->second), place.devices});
  outbox_.client(client_id).resolved.push_back({id, {}});
}

void ControllerCore::fetch(ClientId client, ArrayId id, std::uint64_t request) {
  Array* array = find_array(id);
  Status failure;
  if (!array || client_of(id) != client) {
    failure = invalid_argument("array " + std::to_string(sequence_of(id)) + " does not exist");
  } else if (array->is_donated) {
    failure = invalid_argument("array " + std::to_string(sequence_of(id)) +
                               " was donated to a run; read that run's output instead");
  } else if (array->state == Array::State::kFailed) {
    failure = *array->failure;
  }
  if (!failure.ok()) {
    outbox_.client(client).fetched.push_back({request, std::move(failure)});
    return;
  }
  // Of a run that spans islands the value counts only once all of it has finished.
  Run* run = array->state == Array::State::kPending ? run_of(array->run) : nullptr;
  const bool is_single = run && run->is_started && run->program->plans.size() == 1 &&
                         run->program->plans[0].size() == 1;
  if (run && !is_single) {
    run->fetches.push_back({id, client, request});
    return;
  }
  forward_fetch({id, client, request});
}

void ControllerCore::forward_fetch(const ControllerOutbox::Fetch& fetch) {
  const Array& array = *find_array(fetch.array);
  if (array.state == Array::State::kFailed) {
    outbox_.client(fetch.client).fetched.push_back({fetch.request, *array.failure});
    return;
  }
  outbox_.islands[array.island].fetches.push_back({array.physical, fetch.client, fetch.request});
}

}  // namespace seaway::controller
