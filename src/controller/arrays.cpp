// Arrays: one count for each logical array, whatever its shards; names, reads, ends.

#include <algorithm>

#include "base/check.hpp"
#include "base/mutant.hpp"
#include "controller/records.hpp"

namespace seaway::controller {

std::uint64_t ControllerCore::device_bytes(const ArraySpec& spec) {
  const std::uint64_t shard_bytes = (spec.sharding.shard_type(spec.type).bytes() + 63) / 64 * 64;
  return shard_bytes * static_cast<std::uint64_t>(spec.sharding.mesh().device_count());
}

ControllerCore::Array* ControllerCore::find_array(ArrayId id) {
  const auto found = arrays_.find(id);
  return found == arrays_.end() ? nullptr : &found->second;
}

void ControllerCore::drop_reference(ArrayId id, Array& array) {
  SEAWAY_CHECK(array.references > 0, id);
  if (--array.references == 0) remove_array(id, array);
}

ControllerCore::Client& ControllerCore::owner(ArrayId array) {
  return *clients_.find(client_of(array))->second;
}

void ControllerCore::keep(Client& client, IslandId island, std::uint64_t bytes) {
  kept_bytes_[island] += bytes;
  client.tenant->kept_bytes[island] += bytes;
  client.kept_bytes[island] += bytes;
}

void ControllerCore::give_back(Client& client, IslandId island, std::uint64_t bytes) {
  SEAWAY_CHECK(client.kept_bytes[island] >= bytes, client.id, island, bytes);
  kept_bytes_[island] -= bytes;
  client.tenant->kept_bytes[island] -= bytes;
  client.kept_bytes[island] -= bytes;
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
  Client& client = owner(id);
  if (array.is_waiting) {
    fail(take_put(client, find_put(client, id)),
         cancelled("array " + std::to_string(sequence_of(id)) +
                   " was dropped before there was room for it"));
  }
  if (array.is_counted) {
    give_back(client, array.island, array.kept_bytes);
    // Of a donated array too: a run that never started, or that does not read it there, took
    // nothing. The scheduler knows, and ignores the second free of one that is gone.
    if (!array.is_freed && !SEAWAY_MUTANT("an array that goes stays on its island"))
      outbox_.islands[array.island].frees.push_back(array.physical);
  }
  --tenants_[array.tenant]->arrays;
  --client.arrays;
  delete array.failure;
  unuse(*array.source);
  arrays_.erase(id);
}

/// Somebody waits for a value that is passed on only when the run that makes it has its outcome.
bool ControllerCore::is_fetch_held(ArrayId id, const Array& array) {
  if (array.state != Array::State::kPending) return false;
  const Run* maker = run_of(array.run);
  return maker && std::any_of(maker->fetches.begin(), maker->fetches.end(),
                              [id](const auto& fetch) { return fetch.array == id; });
}

/// Nobody will name the array on its island again, though runs that read it may be unfinished: its
/// room ends behind them, without waiting for word of their end. The record stays for them.
void ControllerCore::free_early(ArrayId id, Array& array) {
  // A donated one the island takes by itself.
  if (array.is_freed || array.is_donated || !array.is_counted || !array.is_stamped) return;
  const bool is_read = array.open_readers > 0 && !SEAWAY_MUTANT("an array goes before its readers");
  if (array.has_handle || is_read || is_fetch_held(id, array)) return;
  array.is_freed = true;
  outbox_.islands[array.island].frees.push_back(array.physical);
}

void ControllerCore::release(ClientId client, ArrayId id) {
  Array* array = find_array(id);
  if (!array && client_of(id) == client) {
    if (const auto found = clients_.find(client); found != clients_.end()) {
      found->second->refused_puts.erase(id);
    }
  }
  if (!array || client_of(id) != client || !array->has_handle) return;
  array->has_handle = false;
  free_early(id, *array);
  drop_reference(id, *array);
}

/// A client hears of its actors' arrays from them, and names none that it has let go: one that was
/// never heard of here is of an actor that was lost before it had said how the array is made.
Status ControllerCore::unknown_array(std::string what, ArrayId id) const {
  what += "array " + std::to_string(sequence_of(id));
  if (const auto owner = clients_.find(client_of(id)); owner != clients_.end()) {
    const auto refused = owner->second->refused_puts.find(id);
    if (refused != owner->second->refused_puts.end()) {
      return {refused->second.code(), what + " was refused: " + refused->second.message()};
    }
  }
  if (!is_of_delegate(id)) return invalid_argument(std::move(what) + " does not exist");
  return input_lost(std::move(what) +
                    " is lost: the session of the actors on its host ended before it had said how "
                    "the array is made; make it again");
}

void ControllerCore::fetch(ClientId client, ArrayId id, std::uint64_t request, FetchHow how) {
  Array* array = find_array(id);
  Status failure;
  if (!array || client_of(id) != client) {
    failure = unknown_array("", id);
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
  if (array->is_waiting) {
    // Whoever asked for the value gets it, though the handle goes in the meantime.
    ++array->references;
    find_put(owner(id), id)->fetches.push_back({id, client, request, how.streams});
    return;
  }
  // Of a run that spans islands the value counts only once all of it has finished.
  Run* run = array->state == Array::State::kPending ? run_of(array->run) : nullptr;
  const bool is_single = run && run->is_started && run->reruns == 0 && !run->is_returning &&
                         run->program->plans.size() == 1 && run->program->plans[0].size() == 1;
  if (run && (!is_single || how.again)) {
    run->fetches.push_back({id, client, request, how.streams});
    return;
  }
  forward_fetch({id, client, request, how.streams});
}

void ControllerCore::forward_fetch(const ControllerOutbox::Fetch& fetch) {
  const Array& array = *find_array(fetch.array);
  if (array.state == Array::State::kFailed) {
    outbox_.client(fetch.client).fetched.push_back({fetch.request, *array.failure});
    return;
  }
  if (!members_.empty()) {
    members_[array.island].fetches[fetch.client][fetch.request] = fetch.array;
  }
  outbox_.islands[array.island].fetches.push_back(
      {array.physical, fetch.client, fetch.request, fetch.streams});
}

}  // namespace seaway::controller
