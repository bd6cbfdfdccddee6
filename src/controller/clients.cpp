// Clients and tenants: who is there, what is known of them, and what is left when they go.

#include <algorithm>
#include <numeric>

#include "base/check.hpp"
#include "base/limits.hpp"
#include "base/mutant.hpp"
#include "controller/records.hpp"
#include "events/json_text.hpp"

namespace seaway::controller {

void ControllerCore::hello(ClientId client_id, const std::string& name, std::uint32_t weight,
                           std::uint64_t request, bool waits_when_full) {
  if (Status status = check_hello(client_id, name); !status.ok()) {
    return reply(client_id, request, std::move(status));
  }
  if (is_known_client_.size() <= client_id) is_known_client_.resize(client_id + 1, false);
  is_known_client_[client_id] = true;
  auto client = std::make_unique<Client>();
  client->id = client_id;
  client->kept_bytes.assign(options_.islands, 0);
  client->waits_when_full = waits_when_full;
  const auto same_name = [&name](const auto& tenant) { return tenant->name == name; };
  auto found = std::find_if(tenants_.begin(), tenants_.end(), same_name);
  if (found == tenants_.end()) {
    tenants_.push_back(std::make_unique<Tenant>());
    found = tenants_.end() - 1;
    (*found)->id = static_cast<TenantId>(tenants_.size() - 1);
    (*found)->name = name;
    if (const auto limit = tenant_limits_.find(name); limit != tenant_limits_.end()) {
      (*found)->limit_bytes = limit->second;
    }
    (*found)->kept_bytes.assign(options_.islands, 0);
    (*found)->shares.resize(options_.islands);
  }
  if (weight > 0) set_weight(**found, weight);
  client->tenant = found->get();
  (*found)->clients.push_back(client.get());
  clients_[client_id] = std::move(client);
  reply(client_id, request, {}, std::to_string(options_.limits.definitions_max));
}

Status ControllerCore::check_hello(ClientId client, const std::string& tenant) const {
  if (client < is_known_client_.size() && is_known_client_[client]) {
    return invalid_argument("client " + std::to_string(client) +
                            " has said hello before; connect anew, ids are used once");
  }
  if (Status status = limits::check_tenant(tenant); !status.ok()) return status;
  const bool is_new = std::none_of(tenants_.begin(), tenants_.end(),
                                   [&tenant](const auto& known) { return known->name == tenant; });
  if (is_new && tenants_.size() >= options_.limits.tenants_max) {
    return resource_exhausted(std::to_string(tenants_.size()) + " of " +
                              std::to_string(options_.limits.tenants_max) +
                              " tenants are known; use the name of one of them");
  }
  return {};
}

/// One more of a client that is here. A refused one is remembered for what names it; 0: nothing
/// can.
Status ControllerCore::count_definition(ClientId client_id, std::uint64_t id) {
  const auto found = clients_.find(client_id);
  if (found == clients_.end() || found->second->is_gone) {
    return cancelled("client " + std::to_string(client_id) + " is not here");
  }
  Client& client = *found->second;
  if (client.definitions < options_.limits.definitions_max) {
    ++client.definitions;
    return {};
  }
  if (id != 0 && client.refused.size() < options_.limits.definitions_max) client.refused.insert(id);
  return too_many_definitions(client);
}

Status ControllerCore::too_many_definitions(const Client& client) const {
  return resource_exhausted("client " + std::to_string(client.id) + " has " +
                            std::to_string(client.definitions) + " of " +
                            std::to_string(options_.limits.definitions_max) +
                            " live functions, programs, specs and slices; drop handles that are "
                            "no longer needed, or raise the cluster option definitions");
}

/// Why `client` names the definition `id` in vain: it was refused, or `otherwise`.
Status ControllerCore::undefined(ClientId client, std::uint64_t id, Status otherwise) const {
  const auto found = clients_.find(client);
  if (found == clients_.end()) return otherwise;
  const auto& refused = found->second->refused;
  const bool is_full = !refused.empty() && refused.size() == options_.limits.definitions_max;
  return refused.contains(id) || is_full ? too_many_definitions(*found->second) : otherwise;
}

void ControllerCore::limit_tenant(const std::string& name, std::uint64_t bytes) {
  if (bytes == 0) {
    tenant_limits_.erase(name);
  } else {
    tenant_limits_[name] = bytes;
  }
  for (const auto& tenant : tenants_) {
    if (tenant->name == name) tenant->limit_bytes = bytes;
  }
}

/// Schedulers take 1 for a tenant of which they have heard nothing, as Tenant does.
void ControllerCore::set_weight(Tenant& tenant, std::uint32_t weight) {
  if (tenant.weight == weight) return;
  tenant.weight = weight;
  for (ControllerOutbox::Island& island : outbox_.islands) {
    island.weights.push_back({tenant.id, weight});
  }
}

bool ControllerCore::is_here(ClientId client) const {
  const auto found = clients_.find(client);
  return found != clients_.end() && !found->second->is_gone;
}

void ControllerCore::goodbye(ClientId client) {
  leave(client, cancelled("client " + std::to_string(client) + " has gone"));
}

/// `why`: what its runs and puts end with.
void ControllerCore::leave(ClientId client_id, const Status& why) {
  const auto found = clients_.find(client_id);
  if (found == clients_.end()) return;
  Client& client = *found->second;
  if (client.is_gone) return;
  client.is_gone = true;
  departing_.push_back(client_id);
  const std::vector<Run*> unfinished(client.runs.begin(), client.runs.end());
  for (Run* run : unfinished) {
    if (run) cancel(*run, why);
  }
  while (!client.puts.empty()) {
    fail(take_put(client, client.puts.begin()), why);
  }
  std::vector<ArrayId> owned;
  for (const auto& [id, array] : arrays_) {
    if (client_of(id) == client_id) owned.push_back(id);
  }
  std::sort(owned.begin(), owned.end());  // The order of the table must not be seen.
  for (const ArrayId id : owned) release(client_id, id);
  for (const ArrayId id : owned) {
    Array* const array = find_array(id);
    if (!array || !array->is_arriving) continue;
    fail_array(id, *array, why);
  }
  for (const auto& [id, slice] : slices_) {
    if (slice->client == client_id && !slice->is_released &&
        !SEAWAY_MUTANT("slices of a client that goes stay"))
      close(*slice);
  }
}

/// Something of a client that is gone is still needed: a run that cannot be taken back, an array
/// that somebody else's run reads, or the devices of a slice; or a host still compiles for it.
bool ControllerCore::is_in_use(const Client& client) const {
  if (client.unfinished > 0 || client.arrays > 0) return true;
  const auto functions_end = functions_.lower_bound(make_id(client.id + 1, 0));
  if (std::any_of(functions_.lower_bound(make_id(client.id, 0)), functions_end,
                  [](const auto& entry) { return entry.second->hosts_awaited > 0; })) {
    return true;
  }
  const auto end = slices_.lower_bound(make_id(client.id + 1, 0));
  return std::any_of(slices_.lower_bound(make_id(client.id, 0)), end,
                     [](const auto& entry) { return !entry.second->is_gone; });
}

void ControllerCore::forget_clients() {
  std::erase_if(departing_, [this](ClientId id) {
    Client& client = *clients_.find(id)->second;
    if (is_in_use(client)) return false;
    forget(client);
    return true;
  });
}

/// Lets all records of `client` go. Their ids begin with its own, which nobody is given again.
void ControllerCore::forget(Client& client) {
  const ClientId id = client.id;
  const auto erase = [id](auto& records, const auto& before) {
    const auto begin = records.lower_bound(make_id(id, 0));
    const auto end = records.lower_bound(make_id(id + 1, 0));
    for (auto it = begin; it != end; ++it) before(it->first, it->second);
    records.erase(begin, end);
  };
  erase(programs_, [this](ProgramId program, const auto& record) {
    forget_plans(*record);
    keep_name(program, record->graph.name);  // A copy: it may be lowered just now.
  });
  erase(functions_, [this](FunctionId function, const auto& record) {
    keep_name(function, std::move(record->info.name));
  });
  erase(slices_, [](SliceId, const auto&) {});
  erase(specs_, [](std::uint64_t, const auto&) {});
  if (client.is_known_to_hosts) {
    for (ControllerOutbox::Island& island : outbox_.islands) island.forgotten_clients.push_back(id);
  }
  std::erase(client.tenant->clients, &client);
  outbox_.clients.erase(id);
  clients_.erase(id);
}

void ControllerCore::keep_name(std::uint64_t id, std::string name) {
  if (old_name_order_.size() >= options_.limits.old_names_max) {
    old_names_.erase(old_name_order_.front());
    old_name_order_.pop_front();
  }
  old_names_[id] = std::move(name);
  old_name_order_.push_back(id);
}

std::string ControllerCore::old_name(std::uint64_t id) const {
  const auto found = old_names_.find(id);
  return found == old_names_.end() ? "" : found->second;
}

std::string ControllerCore::function_name(FunctionId id) const {
  const auto found = functions_.find(id);
  return found == functions_.end() ? old_name(id) : found->second->info.name;
}

std::string ControllerCore::program_name(ProgramId id) const {
  const auto found = programs_.find(id);
  return found == programs_.end() ? old_name(id) : found->second->graph.name;
}

std::string ControllerCore::tenant_name(TenantId id) const {
  return id < tenants_.size() ? tenants_[id]->name : "";
}

std::uint64_t ControllerCore::kept_bytes() const {
  return std::accumulate(kept_bytes_.begin(), kept_bytes_.end(), std::uint64_t{0});
}

std::string ControllerCore::figures() const {
  std::string text = "\"runs_unfinished\":" + std::to_string(runs_unfinished_) +
                     ",\"runs_in_flight\":" + std::to_string(runs_in_flight_) +
                     ",\"clients\":" + std::to_string(clients_.size()) +
                     ",\"arrays\":" + std::to_string(arrays_.size()) +
                     ",\"kept_bytes\":" + std::to_string(kept_bytes()) +
                     ",\"programs\":" + std::to_string(programs_.size()) +
                     ",\"functions\":" + std::to_string(functions_.size()) +
                     ",\"specs\":" + std::to_string(specs_.size()) +
                     ",\"stamps\":" + std::to_string(last_stamp_) + ",\"tenants\":[";
  for (const auto& tenant : tenants_) {
    if (tenant->id > 0) text += ",";
    text += "{\"name\":" + events::quoted(tenant->name) +
            ",\"weight\":" + std::to_string(tenant->weight) +
            ",\"arrays\":" + std::to_string(tenant->arrays) +
            ",\"queued\":" + std::to_string(tenant->runs_queued) +
            ",\"in_flight\":" + std::to_string(tenant->runs_in_flight) + "}";
  }
  return text + "]";
}

std::string ControllerCore::islands_text() const {
  std::string text = "[";
  for (IslandId island = 0; island < options_.islands; ++island) {
    std::size_t slices = 0, lost = 0;
    for (const auto& [id, slice] : slices_) {
      slices += slice->binding.island == island && !slice->is_gone;
    }
    for (const auto& [device, why] : lost_devices_) lost += device.first == island;
    const bool has_failed = !members_.empty() && members_[island].failed_until_ns != 0;
    const auto truth = [](bool is_so) { return is_so ? "true" : "false"; };
    text += (island > 0 ? ",{\"island\":" : "{\"island\":") + std::to_string(island) +
            ",\"host\":" + truth(has_host(island)) +
            ",\"scheduler\":" + truth(has_scheduler(island)) + ",\"failed\":" + truth(has_failed) +
            ",\"draining\":" + truth(is_draining(island)) + left_text(island) +
            ",\"devices\":" + std::to_string(options_.devices) +
            ",\"lost_devices\":" + std::to_string(lost) + ",\"slices\":" + std::to_string(slices) +
            ",\"kept_bytes\":" + std::to_string(kept_bytes_[island]) +
            ",\"kept_bytes_max\":" + std::to_string(options_.kept_bytes_max) + "}";
  }
  return text + "]";
}

std::vector<RunId> ControllerCore::unfinished_runs(std::size_t most) const {
  std::vector<RunId> runs;
  const auto add = [&runs, most](const Run& run) {
    const bool is_new = std::find(runs.begin(), runs.end(), run.id) == runs.end();
    if (run.id != 0 && is_new && runs.size() < most) runs.push_back(run.id);
  };
  for (Stamp stamp = oldest_stamp_; stamp <= last_stamp_ && runs.size() < most; ++stamp) {
    const Run* const run = by_stamp_[stamp % by_stamp_.size()];
    if (run) add(*run);
  }
  for (const auto& [id, client] : clients_) {
    for (const Run* run : client->queue) {
      if (runs.size() >= most) return runs;
      add(*run);
    }
  }
  return runs;
}

void ControllerCore::stats(ClientId client, std::uint64_t request) {
  reply(client, request, {}, "{" + figures() + "}");
}

void ControllerCore::drain(ClientId client_id, std::uint64_t request) {
  const auto found = clients_.find(client_id);
  if (found == clients_.end()) return;
  if (found->second->unfinished == 0) {
    reply(client_id, request, {});
  } else {
    found->second->drains.push_back(request);
  }
}

}  // namespace seaway::controller
