// Uploads: where they go, and what becomes of them when there is no room.

#include <algorithm>
#include <set>

#include "base/check.hpp"
#include "base/probe.hpp"
#include "controller/records.hpp"

namespace seaway::controller {

Status ControllerCore::define_spec(ClientId client, std::uint64_t id, ArraySpec spec,
                                   Frame definition) {
  const auto slice = slices_.find(spec.sharding.mesh().slice());
  // Arrays that exist refer to what was said first.
  if (client_of(id) != client || specs_.contains(id)) {
    return invalid_argument("spec " + std::to_string(sequence_of(id)) +
                            " is not this client's to name; ids are used once");
  }
  if (slice == slices_.end() || slice->second->client != client) {
    return invalid_argument("spec " + std::to_string(sequence_of(id)) +
                            " is over a slice that is not this client's, or was released");
  }
  if (Status status = spec.sharding.validate(spec.type); !status.ok()) return status;
  const Mesh& mesh = spec.sharding.mesh();
  const std::size_t devices = slice->second->binding.devices.size();
  if (!mesh.fits(static_cast<std::int64_t>(devices))) {
    return invalid_argument("spec " + std::to_string(sequence_of(id)) + " is over " +
                            std::to_string(mesh.device_count()) + " devices; its slice has " +
                            std::to_string(devices));
  }
  if (Status status = count_definition(client, id); !status.ok()) return status;
  clients_.at(client)->is_known_to_hosts = true;
  auto record = std::make_unique<Spec>();
  record->id = id;
  record->slices = name_slices(client, {spec.sharding.mesh().slice()});
  record->spec = std::move(spec);
  if (!members_.empty()) record->definition = definition;
  specs_[id] = std::move(record);
  for (IslandId island = 0; island < options_.islands; ++island) {
    if (has_host(island)) outbox_.islands[island].definitions.push_back(definition);
  }
  return {};
}

/// While a slice moves, what comes new goes where it will be.
const program::Binding& ControllerCore::place_of(const Slice& slice) {
  return slice.moves_in_flight > 0 ? slice.target : slice.binding;
}

bool ControllerCore::has_room(const Client& client, IslandId island, std::uint64_t bytes) const {
  const Tenant& tenant = *client.tenant;
  return tenant.kept_bytes[island] + bytes <= quota(tenant, island);
}

/// There would be room if all that the client itself keeps there were freed.
bool ControllerCore::may_get_room(const Client& client, IslandId island,
                                  std::uint64_t bytes) const {
  const Tenant& tenant = *client.tenant;
  return tenant.kept_bytes[island] - client.kept_bytes[island] + bytes <= quota(tenant, island);
}

Status ControllerCore::no_room(const Client& client, const WaitingPut& put, const ArraySpec& spec,
                               const std::string& why) const {
  const Tenant& tenant = *client.tenant;
  const IslandId island = place_of(*put.slice).island;
  return resource_exhausted(
      "array " + to_string(spec) + why + " needs " + std::to_string(device_bytes(spec)) +
      " bytes; " + quota_text(tenant, island) +
      "; drop handles of arrays that are no longer needed, or raise host_memory");
}

/// One line for people.
std::string ControllerCore::why_waiting(ArrayId id) {
  Client& client = owner(id);
  const WaitingPut& put = *find_put(client, id);
  return "array " + std::to_string(sequence_of(id)) +
         " waits for room: " + no_room(client, put, *find_array(id)->spec, "").message() + "\n";
}

void ControllerCore::put(ClientId client_id, ArrayId id, std::uint64_t spec_id) {
  if (!is_here(client_id) || client_of(id) != client_id) return;
  Client& client = owner(id);
  const auto spec = specs_.find(spec_id);
  if (spec == specs_.end() || spec->second->is_released || client_of(spec_id) != client_id) {
    const Status why = undefined(
        client_id, spec_id,
        invalid_argument("array " + std::to_string(sequence_of(id)) +
                         " is put with a sharding over a slice that is not this client's, or was "
                         "released"));
    if (client.refused_puts.size() < Client::kRefusedPutsMax) client.refused_puts[id] = why;
    outbox_.client(client_id).resolved.push_back({id, why});
    return;
  }
  const bool is_new = !arrays_.contains(id);
  if (!is_new || client.tenant->arrays >= options_.limits.arrays_max) {
    outbox_.client(client_id).resolved.push_back(
        {id, is_new ? no_arrays(client)
                    : invalid_argument("array " + std::to_string(sequence_of(id)) +
                                       " exists already; ids are used once")});
    return;
  }
  const WaitingPut put = {
      .array = id,
      .spec = spec_id,
      .slice = slices_.find(spec->second->spec.sharding.mesh().slice())->second.get(),
      .fetches = {}};
  Array& array = arrays_[id];
  array.tenant = static_cast<std::uint16_t>(client.tenant->id);
  array.physical = id;
  array.source = spec->second.get();
  ++array.source->uses;
  array.spec = &spec->second->spec;
  ++client.tenant->arrays;
  ++client.arrays;
  if (put.slice->is_released) {
    fail(put, invalid_argument("array " + std::to_string(sequence_of(id)) +
                               " is put on a slice that was released; acquire another one"));
    return;
  }
  const IslandId island = place_of(*put.slice).island;
  const std::uint64_t bytes = device_bytes(*array.spec);
  // Those that wait already come first.
  const bool is_next = std::none_of(
      client.puts.begin(), client.puts.end(),
      [island](const WaitingPut& other) { return place_of(*other.slice).island == island; });
  if (is_next && has_room(client, island, bytes)) {
    accept(put);
  } else if (client.waits_when_full && may_get_room(client, island, bytes)) {
    SEAWAY_PROBE("a put waits for room");
    array.is_waiting = true;
    client.puts.push_back(put);
    ++put.slice->puts_waiting;
    ++puts_waiting_;
  } else {
    SEAWAY_PROBE("a put is refused for lack of room");
    fail(put, no_room(client, put, *array.spec, ""));
  }
}

void ControllerCore::accept(const WaitingPut& put) {
  Array& array = *find_array(put.array);
  Client& client = owner(put.array);
  const program::Binding place =
      program::part_of(place_of(*put.slice), array.spec->sharding.mesh());
  if (!has_host(place.island)) {
    SEAWAY_PROBE("a put meets no host");
    const Status* const loss = loss_of(place);
    return fail(put, {StatusCode::kHostLost,
                      "array " + std::to_string(sequence_of(put.array)) + " is put where " +
                          (loss ? loss->message() : "no host is") +
                          "; put it again when the slice has been bound to other devices"});
  }
  array.is_counted = true;
  array.island = static_cast<std::uint16_t>(place.island);
  array.kept_bytes = device_bytes(*array.spec);
  keep(client, place.island, array.kept_bytes);
  outbox_.islands[place.island].puts.push_back(
      {put.array, put.spec, array.tenant, array.kept_bytes / place.devices.size(), place.devices});
  if (members_.empty()) {
    array.state = Array::State::kReady;
    array.is_stamped = true;
    outbox_.client(client.id).resolved.push_back({put.array, {}});
  } else {
    array.is_arriving = true;
    ++array.references;  // Until it is there: its handle may go before.
    ++put.slice->puts_arriving;
  }
  serve_fetches(put);
}

/// It is remembered until its handle goes: runs that name it fail with its reason.
void ControllerCore::fail(const WaitingPut& put, Status status) {
  Array& array = *find_array(put.array);
  array.state = Array::State::kFailed;
  array.is_stamped = true;
  array.failure = new Status(status);
  const Client& client = owner(put.array);
  if (!client.is_gone) {
    outbox_.client(client.id).resolved.push_back({put.array, std::move(status)});
  }
  serve_fetches(put);
}

void ControllerCore::serve_fetches(const WaitingPut& put) {
  for (const ControllerOutbox::Fetch& fetch : put.fetches) forward_fetch(fetch);
  Array& array = *find_array(put.array);
  for (std::size_t i = 0; i < put.fetches.size(); ++i) drop_reference(put.array, array);
}

std::deque<ControllerCore::WaitingPut>::iterator ControllerCore::find_put(Client& client,
                                                                          ArrayId array) {
  const auto found = std::find_if(client.puts.begin(), client.puts.end(),
                                  [array](const WaitingPut& put) { return put.array == array; });
  SEAWAY_CHECK(found != client.puts.end(), array);
  return found;
}

/// Ends a wait; what becomes of the put is up to the caller.
ControllerCore::WaitingPut ControllerCore::take_put(Client& client,
                                                    std::deque<WaitingPut>::iterator at) {
  WaitingPut put = std::move(*at);
  client.puts.erase(at);
  find_array(put.array)->is_waiting = false;
  --put.slice->puts_waiting;
  --puts_waiting_;
  return put;
}

/// Lets in what has room now: on each island in the order in which it came.
void ControllerCore::pump_puts(Client& client) {
  std::set<IslandId> full;
  for (std::size_t i = 0; i < client.puts.size();) {
    const WaitingPut& put = client.puts[i];
    const IslandId island = place_of(*put.slice).island;
    const std::uint64_t bytes = device_bytes(*find_array(put.array)->spec);
    if (full.contains(island) || !has_room(client, island, bytes)) {
      SEAWAY_PROBE("a put goes on waiting");
      full.insert(island);
      ++i;
      continue;
    }
    SEAWAY_PROBE("a put that waited gets room");
    accept(take_put(client, client.puts.begin() + static_cast<std::ptrdiff_t>(i)));
  }
}

}  // namespace seaway::controller
