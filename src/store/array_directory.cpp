// Reference counts of logical arrays, their owners and their tenants' quotas.

#include "store/array_directory.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace seaway::store {

Status ArrayDirectory::add(ArrayId id, const NewArray& array) {
  const std::string name = "array " + std::to_string(id);
  if (records_.find(id)) return invalid_argument(name + " exists already: ids are used once");
  if (records_.size() >= limits_.arrays_max) {
    return resource_exhausted(name + " refused: " + std::to_string(records_.size()) + " of " +
                              std::to_string(limits_.arrays_max) +
                              " arrays exist; drop handles that are not needed, or raise "
                              "ArrayDirectory::Limits::arrays_max");
  }
  const std::uint64_t used = tenant_bytes(array.tenant);
  if (array.bytes > limits_.tenant_bytes_max - std::min(used, limits_.tenant_bytes_max)) {
    return resource_exhausted(name + " refused: " + std::to_string(array.bytes) +
                              " bytes wanted, and tenant " + std::to_string(array.tenant) +
                              " keeps " + std::to_string(used) + " of " +
                              std::to_string(limits_.tenant_bytes_max) +
                              "; drop handles that are not needed, or raise "
                              "ArrayDirectory::Limits::tenant_bytes_max");
  }
  records_.insert({.id = id,
                   .bytes = array.bytes,
                   .owner = array.owner,
                   .tenant = array.tenant,
                   .handles = 1,
                   .runs = 0,
                   .spec = array.spec,
                   .state = LogicalState::kPending});
  tenant_bytes_[array.tenant] += array.bytes;
  return {};
}

Result<const DirectoryRecord*> ArrayDirectory::require(ArrayId id, ClientId client) const {
  const DirectoryRecord* record = records_.find(id);
  if (!record || (record->handles == 0 && client_of(id) == client)) {
    return invalid_argument("array " + std::to_string(id) +
                            " is unknown: it was released, or never made in this cluster");
  }
  if (record->owner != client) {
    return Status(StatusCode::kPermissionDenied, "array " + std::to_string(id) +
                                                     " belongs to another client than " +
                                                     std::to_string(client));
  }
  return record;
}

DirectoryRecord& ArrayDirectory::get(ArrayId id) {
  DirectoryRecord* record = records_.find(id);
  SEAWAY_CHECK(record != nullptr, id);
  return *record;
}

void ArrayDirectory::set_state(ArrayId id, LogicalState state) {
  DirectoryRecord& record = get(id);
  if (record.state != LogicalState::kFailed) record.state = state;
}

Status ArrayDirectory::retain(ArrayId id, ClientId client) {
  if (const auto found = require(id, client); !found.ok()) return found.status();
  ++get(id).handles;
  return {};
}

Result<bool> ArrayDirectory::release(ArrayId id, ClientId client) {
  if (const auto found = require(id, client); !found.ok()) return found.status();
  DirectoryRecord& record = get(id);
  --record.handles;
  return erase_if_dead(record);
}

void ArrayDirectory::begin_run(ArrayId id) { ++get(id).runs; }

bool ArrayDirectory::end_run(ArrayId id) {
  DirectoryRecord& record = get(id);
  SEAWAY_CHECK(record.runs > 0, id);
  --record.runs;
  return erase_if_dead(record);
}

std::vector<ArrayId> ArrayDirectory::release_owner(ClientId client) {
  std::vector<ArrayId> owned, dead;
  records_.for_each([&](const DirectoryRecord& record) {
    if (record.owner == client) owned.push_back(record.id);
  });
  std::sort(owned.begin(), owned.end());
  for (const ArrayId id : owned) {
    DirectoryRecord& record = get(id);
    record.handles = 0;
    record.owner = 0;
    if (erase_if_dead(record)) dead.push_back(id);
  }
  return dead;
}

std::uint64_t ArrayDirectory::tenant_bytes(TenantId tenant) const {
  const auto found = tenant_bytes_.find(tenant);
  return found == tenant_bytes_.end() ? 0 : found->second;
}

bool ArrayDirectory::erase_if_dead(const DirectoryRecord& record) {
  if (record.handles > 0 || record.runs > 0) return false;
  const auto tenant = tenant_bytes_.find(record.tenant);
  SEAWAY_CHECK(tenant != tenant_bytes_.end() && tenant->second >= record.bytes, record.id);
  tenant->second -= record.bytes;
  records_.erase(record.id);
  return true;
}

}  // namespace seaway::store
