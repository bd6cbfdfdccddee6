// Choosing devices by load, and what to say when there are none.

#include "resources/resource_core.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "base/check.hpp"

namespace seaway::resources {
namespace {

std::string name_of(SliceId slice) { return "slice " + std::to_string(slice); }

std::string count_of(std::size_t count, const char* noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

bool contains(const program::Binding* binding, IslandId island, DeviceId device) {
  return binding && binding->island == island &&
         std::find(binding->devices.begin(), binding->devices.end(), device) !=
             binding->devices.end();
}

}  // namespace

IslandId ResourceCore::add_island(std::vector<DeviceInfo> devices) {
  const std::size_t count = devices.size();
  islands_.push_back(
      {std::move(devices), std::vector<std::uint32_t>(count, 0), std::vector<bool>(count, false)});
  return static_cast<IslandId>(islands_.size() - 1);
}

Result<BoundSlice> ResourceCore::acquire(const SliceRequest& request) {
  if (Status status = check(request); !status.ok()) return status;
  Result<Candidate> chosen = choose(request, nullptr, [](IslandId) { return true; });
  if (!chosen.ok()) return chosen.status();
  add_load(chosen->binding);
  ++slices_of_tenant_[request.tenant];
  const auto added = slices_.emplace(
      request.slice, BoundSlice{request, std::move(chosen->binding), /*generation=*/1});
  return added.first->second;
}

Result<BoundSlice> ResourceCore::rebind(SliceId slice, ClientId client,
                                        const program::IslandFilter& may_go) {
  const Result<BoundSlice*> found = held(slice, client);
  if (!found.ok()) return found.status();
  BoundSlice& bound = **found;
  // Its own load is no reason to move, nor to stay.
  remove_load(bound.binding);
  Result<Candidate> chosen = choose(bound.request, &bound.binding, may_go);
  if (!chosen.ok()) {
    // Where it is now is always possible, unless something of it is lost.
    SEAWAY_CHECK(chosen.status().code() == StatusCode::kDeviceLost, chosen.status().to_string());
    add_load(bound.binding);
    return chosen.status();
  }
  bound.binding = std::move(chosen->binding);
  ++bound.generation;
  add_load(bound.binding);
  return bound;
}

Status ResourceCore::release(SliceId slice, ClientId client) {
  if (const auto found = held(slice, client); !found.ok()) return found.status();
  erase(slice);
  return {};
}

std::vector<SliceId> ResourceCore::release_owner(ClientId client) {
  std::vector<SliceId> owned;
  for (const auto& [slice, bound] : slices_) {
    if (bound.request.client == client) owned.push_back(slice);
  }
  for (const SliceId slice : owned) erase(slice);
  return owned;
}

bool ResourceCore::lose(IslandId island, DeviceId device) {
  SEAWAY_CHECK(device < devices(island).size(), island, device);
  if (islands_[island].is_lost[device]) return false;
  islands_[island].is_lost[device] = true;
  return true;
}

void ResourceCore::find_again(IslandId island, DeviceId device) {
  SEAWAY_CHECK(device < devices(island).size(), island, device);
  islands_[island].is_lost[device] = false;
}

const BoundSlice* ResourceCore::find(SliceId slice) const {
  const auto found = slices_.find(slice);
  return found == slices_.end() ? nullptr : &found->second;
}

const std::vector<DeviceInfo>& ResourceCore::devices(IslandId island) const {
  SEAWAY_CHECK(island < islands_.size(), island, islands_.size());
  return islands_[island].devices;
}

std::uint32_t ResourceCore::load(IslandId island, DeviceId device) const {
  SEAWAY_CHECK(device < devices(island).size(), device);
  return islands_[island].load[device];
}

Status ResourceCore::check(const SliceRequest& request) const {
  const std::string name = name_of(request.slice);
  if (client_of(request.slice) != request.client) {
    return {StatusCode::kPermissionDenied, name + " refused: its id belongs to client " +
                                               std::to_string(client_of(request.slice)) +
                                               ", and client " + std::to_string(request.client) +
                                               " asks"};
  }
  if (slices_.contains(request.slice)) {
    return invalid_argument(name + " exists already: ids are used once");
  }
  if (Status status = check_mesh(request); !status.ok()) return status;
  if (Status status = check_kind_and_island(request); !status.ok()) return status;
  const auto tenant = slices_of_tenant_.find(request.tenant);
  const std::size_t held = tenant == slices_of_tenant_.end() ? 0 : tenant->second;
  if (held >= limits_.slices_per_tenant_max) {
    return resource_exhausted(name + " refused: tenant " + std::to_string(request.tenant) +
                              " holds " + std::to_string(held) + " of " +
                              std::to_string(limits_.slices_per_tenant_max) +
                              " slices; release one, or raise "
                              "ResourceCore::Limits::slices_per_tenant_max");
  }
  return {};
}

Status ResourceCore::check_mesh(const SliceRequest& request) const {
  const std::string name = name_of(request.slice);
  if (request.devices <= 0) {
    return invalid_argument(name + " refused: " + std::to_string(request.devices) +
                            " devices wanted; ask for at least 1");
  }
  if (request.mesh.empty()) return {};
  std::set<std::string> axes;
  std::string text;
  std::int64_t product = 1;
  bool is_too_large = false;
  for (const auto& [axis, size] : request.mesh) {
    if (axis.empty() || size <= 0) {
      return invalid_argument(name + " refused: mesh axis \"" + axis + "\" has size " +
                              std::to_string(size) + "; an axis has a name and a size above 0");
    }
    if (!axes.insert(axis).second) {
      return invalid_argument(name + " refused: mesh axis \"" + axis +
                              "\" is there twice; give each axis a name of its own");
    }
    is_too_large |= __builtin_mul_overflow(product, size, &product);
    text += (text.empty() ? "mesh(" : ", ") + axis + "=" + std::to_string(size);
  }
  if (is_too_large || product != request.devices) {
    return invalid_argument(name + " refused: " + text + ") has " +
                            (is_too_large ? "over 2^63" : std::to_string(product)) +
                            " devices, but " + std::to_string(request.devices) +
                            " are wanted; make the product of the axes equal to the count");
  }
  return {};
}

Status ResourceCore::check_kind_and_island(const SliceRequest& request) const {
  const std::string name = name_of(request.slice);
  if (request.island && *request.island >= islands_.size()) {
    return invalid_argument(name + " refused: there is no island " +
                            std::to_string(*request.island) + "; this cluster has " +
                            count_of(islands_.size(), "island") + ", numbered from 0");
  }
  if (request.kind.empty()) return {};
  std::map<std::string, std::size_t> kinds;
  for (const Island& island : islands_) {
    for (const DeviceInfo& device : island.devices) ++kinds[device.kind];
  }
  if (kinds.contains(request.kind)) return {};
  std::string known;
  for (const auto& [kind, count] : kinds) {
    known += (known.empty() ? "" : ", ") + kind + " (" + std::to_string(count) + ")";
  }
  return invalid_argument(name + " refused: no device is of kind \"" + request.kind +
                          "\"; this cluster has: " + (known.empty() ? "none" : known));
}

Result<ResourceCore::Candidate> ResourceCore::choose(const SliceRequest& request,
                                                     const program::Binding* present,
                                                     const program::IslandFilter& may_go) const {
  std::optional<Candidate> best;
  const auto badness = [](const Candidate& candidate) {
    return std::tie(candidate.reused, candidate.highest_load, candidate.total_load,
                    candidate.island_load);
  };
  for (IslandId island = 0; island < islands_.size(); ++island) {
    if (request.island && *request.island != island) continue;
    if (!(present && present->island == island) && !may_go(island)) continue;
    std::set<std::string> kinds;
    for (const DeviceInfo& device : islands_[island].devices) kinds.insert(device.kind);
    for (const std::string& kind : kinds) {
      if (!request.kind.empty() && request.kind != kind) continue;
      std::optional<Candidate> candidate = choose_on(island, request, kind, present);
      if (candidate && (!best || badness(*candidate) < badness(*best))) {
        best = std::move(candidate);
      }
    }
  }
  if (!best) return would_fit(request) ? too_many_lost(request) : no_island_holds(request);
  return *std::move(best);
}

std::optional<ResourceCore::Candidate> ResourceCore::choose_on(
    IslandId island, const SliceRequest& request, const std::string& kind,
    const program::Binding* present) const {
  const Island& on = islands_[island];
  const auto count = static_cast<std::size_t>(request.devices);
  std::vector<DeviceId> fitting;
  for (DeviceId device = 0; device < on.devices.size(); ++device) {
    if (on.devices[device].kind == kind && !on.is_lost[device]) fitting.push_back(device);
  }
  if (fitting.size() < count) return std::nullopt;
  if (request.placement == Placement::kSpread) {
    std::stable_sort(fitting.begin(), fitting.end(), [&](DeviceId a, DeviceId b) {
      return std::pair(contains(present, island, a), on.load[a]) <
             std::pair(contains(present, island, b), on.load[b]);
    });
    fitting.resize(count);
    std::sort(fitting.begin(), fitting.end());
    return weigh(island, std::move(fitting), present);
  }
  std::optional<Candidate> best;
  for (std::size_t first = 0; first + count <= fitting.size(); ++first) {
    if (fitting[first + count - 1] - fitting[first] != count - 1) continue;
    const auto begin = fitting.begin() + static_cast<std::ptrdiff_t>(first);
    Candidate candidate = weigh(
        island, std::vector<DeviceId>(begin, begin + static_cast<std::ptrdiff_t>(count)), present);
    if (!best || std::tie(candidate.reused, candidate.highest_load, candidate.total_load) <
                     std::tie(best->reused, best->highest_load, best->total_load)) {
      best = std::move(candidate);
    }
  }
  return best;
}

ResourceCore::Candidate ResourceCore::weigh(IslandId island, std::vector<DeviceId> devices,
                                            const program::Binding* present) const {
  const Island& on = islands_[island];
  Candidate candidate;
  for (const DeviceId device : devices) {
    candidate.reused += contains(present, island, device);
    candidate.highest_load = std::max<std::uint64_t>(candidate.highest_load, on.load[device]);
    candidate.total_load += on.load[device];
  }
  for (const std::uint32_t load : on.load) candidate.island_load += load;
  candidate.island_load = (candidate.island_load << 16) / on.load.size();
  candidate.binding = {island, std::move(devices)};
  return candidate;
}

/// Whether it would fit if no device were lost.
bool ResourceCore::would_fit(const SliceRequest& request) const {
  ResourceCore whole(limits_);
  for (const Island& island : islands_) whole.add_island(island.devices);
  for (IslandId island = 0; island < islands_.size(); ++island) {
    if (request.island && *request.island != island) continue;
    for (const DeviceInfo& device : islands_[island].devices) {
      if (!request.kind.empty() && request.kind != device.kind) continue;
      if (whole.choose_on(island, request, device.kind, nullptr)) return true;
    }
  }
  return false;
}

/// Why nothing fits that would have: the devices that could be asked for and are lost.
Status ResourceCore::too_many_lost(const SliceRequest& request) const {
  constexpr std::size_t kNamesMax = 4;
  std::size_t total = 0, lost = 0;
  std::string names;
  for (IslandId island = 0; island < islands_.size(); ++island) {
    if (request.island && *request.island != island) continue;
    for (DeviceId device = 0; device < islands_[island].devices.size(); ++device) {
      if (!request.kind.empty() && request.kind != islands_[island].devices[device].kind) continue;
      ++total;
      if (!islands_[island].is_lost[device]) continue;
      if (++lost > kNamesMax) continue;
      names += (names.empty() ? "" : ", ") + std::string("device ") + std::to_string(device) +
               " of island " + std::to_string(island);
    }
  }
  if (lost > kNamesMax) names += " and " + std::to_string(lost - kNamesMax) + " more";
  return {StatusCode::kDeviceLost,
          name_of(request.slice) +
              " refused: " + count_of(static_cast<std::size_t>(request.devices), "device") +
              (request.kind.empty() ? "" : " of kind \"" + request.kind + "\"") + " wanted" +
              (request.placement == Placement::kContiguous ? ", side by side" : "") + ", but of " +
              std::to_string(total) + " there " + std::to_string(lost) +
              (lost == 1 ? " is lost: " : " are lost: ") + names +
              (lost == total ? "; start an island that has some" : "; ask for fewer") +
              (request.island ? ", or leave the island open" : "")};
}

/// Why nothing fits: the numbers of what was asked for against what there is.
Status ResourceCore::no_island_holds(const SliceRequest& request) const {
  std::size_t total = 0, largest = 0, longest_run = 0;
  for (IslandId island = 0; island < islands_.size(); ++island) {
    if (request.island && *request.island != island) continue;
    std::map<std::string, std::size_t> of_kind;
    std::size_t run = 0;
    const std::string* last_kind = nullptr;
    for (const DeviceInfo& device : islands_[island].devices) {
      run = last_kind && *last_kind == device.kind ? run + 1 : 1;
      last_kind = &device.kind;
      if (!request.kind.empty() && device.kind != request.kind) continue;
      ++total;
      largest = std::max(largest, ++of_kind[device.kind]);
      longest_run = std::max(longest_run, run);
    }
  }
  const std::string wanted =
      name_of(request.slice) +
      " refused: " + count_of(static_cast<std::size_t>(request.devices), "device") +
      (request.kind.empty() ? "" : " of kind \"" + request.kind + "\"") + " wanted, ";
  if (static_cast<std::size_t>(request.devices) <= largest) {
    return invalid_argument(wanted + "side by side, but the longest row has " +
                            std::to_string(longest_run) + "; spread it instead, or ask for fewer");
  }
  const std::string at_most = largest > 0 ? "ask for at most " + std::to_string(largest)
                                          : std::string("start an island that has some");
  if (request.island) {
    return invalid_argument(wanted + "but island " + std::to_string(*request.island) + " has " +
                            std::to_string(largest) + " of one kind; " + at_most +
                            ", or leave the island open");
  }
  return invalid_argument(wanted + "but the largest island has " + std::to_string(largest) +
                          " of one kind (" + count_of(islands_.size(), "island") + ", " +
                          count_of(total, "device") +
                          " in all), and a slice over several islands is not possible yet; " +
                          at_most + ", or join several slices by the edges of a program");
}

Result<BoundSlice*> ResourceCore::held(SliceId slice, ClientId client) {
  const auto found = slices_.find(slice);
  if (found == slices_.end()) {
    return invalid_argument(name_of(slice) + " is not held: it was released, or never acquired");
  }
  if (found->second.request.client != client) {
    return Status(StatusCode::kPermissionDenied,
                  name_of(slice) + " is held by another client than " + std::to_string(client));
  }
  return &found->second;
}

void ResourceCore::add_load(const program::Binding& binding) {
  for (const DeviceId device : binding.devices) ++islands_[binding.island].load[device];
}

void ResourceCore::remove_load(const program::Binding& binding) {
  for (const DeviceId device : binding.devices) {
    std::uint32_t& load = islands_[binding.island].load[device];
    SEAWAY_CHECK(load > 0, binding.island, device);
    --load;
  }
}

void ResourceCore::erase(SliceId slice) {
  const auto found = slices_.find(slice);
  SEAWAY_CHECK(found != slices_.end(), slice);
  remove_load(found->second.binding);
  const auto tenant = slices_of_tenant_.find(found->second.request.tenant);
  if (--tenant->second == 0) slices_of_tenant_.erase(tenant);
  slices_.erase(found);
}

std::string ResourceCore::to_string() const {
  std::string text;
  for (IslandId island = 0; island < islands_.size(); ++island) {
    text += "island " + std::to_string(island) + ": " +
            count_of(islands_[island].devices.size(), "device") + ", load";
    for (DeviceId device = 0; device < islands_[island].devices.size(); ++device) {
      text += " " + std::to_string(islands_[island].load[device]);
      if (islands_[island].is_lost[device]) text += " (lost)";
    }
    text += '\n';
  }
  for (const auto& [slice, bound] : slices_) {
    text += name_of(slice) + " of client " + std::to_string(bound.request.client) + ": island " +
            std::to_string(bound.binding.island) + ", devices";
    for (const DeviceId device : bound.binding.devices) text += " " + std::to_string(device);
    text += ", generation " + std::to_string(bound.generation) + '\n';
  }
  return text;
}

}  // namespace seaway::resources
