// ArrayDirectory: the controller's view of all arrays: who owns each, who still needs it.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "seaway/status.hpp"
#include "store/id_table.hpp"

namespace seaway::store {

enum class LogicalState : std::uint8_t { kPending, kReady, kFailed };

/// One logical array, all shards together. Read freely; changed by ArrayDirectory alone.
struct DirectoryRecord {
  ArrayId id = 0;
  std::uint64_t bytes = 0;  // Of all shards; counts against the tenant.
  ClientId owner = 0;       // 0 when its owner is gone and only runs hold it.
  TenantId tenant = 0;
  std::uint32_t handles = 0;  // Handles of the owner.
  std::uint32_t runs = 0;     // Runs in flight that read or make it.
  std::uint32_t spec = 0;     // Index of its ArraySpec, kept by the owner of the directory.
  LogicalState state = LogicalState::kPending;
};

/// One reference count for each logical array, whatever its shards. An array dies, and leaves the
/// directory, when it has neither handles nor runs; whoever gave up the last one is told. At most
/// 80 bytes an array. Not thread-safe. Methods for runs stop the process when a count would fall
/// below 0; what clients ask for is refused with a status.
class ArrayDirectory {
 public:
  struct Limits {
    std::size_t arrays_max = 4'000'000;
    std::uint64_t tenant_bytes_max = ~std::uint64_t{0};
  };
  struct NewArray {
    ClientId owner = 0;
    TenantId tenant = 0;
    std::uint64_t bytes = 0;
    std::uint32_t spec = 0;
  };

  explicit ArrayDirectory(Limits limits) : limits_(limits) {}

  /// A pending array with one handle.
  /// Errors: kInvalidArgument if the id is taken; kResourceExhausted if the tenant's quota or the
  /// table is full.
  Status add(ArrayId id, const NewArray& array);
  const DirectoryRecord* find(ArrayId id) const { return records_.find(id); }
  /// The array, if `client` has a handle of it.
  /// Errors: kInvalidArgument if it is unknown or its handles are given up; kPermissionDenied if it
  /// is another client's.
  Result<const DirectoryRecord*> require(ArrayId id, ClientId client) const;
  /// Pending becomes `state`; a failed array stays failed.
  void set_state(ArrayId id, LogicalState state);

  /// One more handle of the owner. Errors: as require().
  Status retain(ArrayId id, ClientId client);
  /// One handle fewer; true if the array died. Errors: as require().
  Result<bool> release(ArrayId id, ClientId client);
  /// A run begins or ends to need it; end_run returns true if the array died.
  void begin_run(ArrayId id);
  [[nodiscard]] bool end_run(ArrayId id);
  /// The client is gone: all its handles are given up. Returns what died, by rising id; arrays that
  /// runs hold die with their last run. Visits all arrays: clients leave rarely.
  std::vector<ArrayId> release_owner(ClientId client);

  std::size_t size() const { return records_.size(); }
  std::uint64_t tenant_bytes(TenantId tenant) const;
  /// Calls visit(const DirectoryRecord&) in the order in which arrays were added.
  template <class Visit>
  void for_each(Visit&& visit) const {
    records_.for_each(visit);
  }
  std::size_t memory_bytes() const { return records_.memory_bytes(); }

 private:
  DirectoryRecord& get(ArrayId id);
  bool erase_if_dead(const DirectoryRecord& record);

  Limits limits_;
  IdTable<DirectoryRecord> records_;
  std::map<TenantId, std::uint64_t> tenant_bytes_;
};

}  // namespace seaway::store
