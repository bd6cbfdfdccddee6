// ResourceCore: which physical devices stand behind each slice.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "program/lowering.hpp"
#include "program/slice_binder.hpp"
#include "seaway/sharding.hpp"
#include "seaway/status.hpp"

namespace seaway::resources {

struct DeviceInfo {
  std::string kind;  // "cpu", "sim", ...
  std::uint64_t memory_bytes = 0;
};

enum class Placement : std::uint8_t {
  kSpread,      // The least loaded devices, wherever they are on the island.
  kContiguous,  // Neighbours: devices d, d + 1, ... of one island.
};

/// What a client asks for: constraints, never device numbers.
struct SliceRequest {
  SliceId slice = 0;  // Chosen by the client, which is in its upper bits.
  ClientId client = 0;
  TenantId tenant = 0;
  std::int64_t devices = 0;
  std::vector<MeshAxis> mesh = {};      // Empty: not checked against `devices`.
  std::string kind = {};                // Empty: any, but all of one kind.
  std::optional<IslandId> island = {};  // Empty: any.
  Placement placement = Placement::kSpread;
};

/// A slice's devices now: virtual device i is binding.devices[i], by rising number. Programs that
/// were lowered for an earlier generation have to be lowered again.
struct BoundSlice {
  SliceRequest request;
  program::Binding binding;
  std::uint32_t generation = 0;  // 1 at first, then one more at each rebind.
};

/// Slices share devices: a device's load is the number of slices on it. Deterministic: ties go to
/// the lower island and device. A copyable value. Errors leave everything as it was.
class ResourceCore {
 public:
  struct Limits {
    std::size_t slices_per_tenant_max = 1024;
  };

  explicit ResourceCore(Limits limits) : limits_(limits) {}

  /// Islands are numbered in the order in which they are added.
  IslandId add_island(std::vector<DeviceInfo> devices);

  /// Binds a new slice to the least loaded devices that satisfy `request`.
  /// Errors: kInvalidArgument if the request is wrong in itself or names a kind or island that does
  /// not exist; kResourceExhausted if no island can hold it, or at the tenant's limit; kDeviceLost
  /// if only lost devices keep it from fitting; kPermissionDenied if the id belongs to another
  /// client.
  Result<BoundSlice> acquire(const SliceRequest& request);
  /// Binds it anew, to devices other than its present ones as far as there are such; it may move to
  /// another island unless its request names one, or `may_go` says no to it.
  /// Errors: kInvalidArgument if it is not held; kPermissionDenied if another client holds it;
  /// kDeviceLost if it lies on a lost device and no others can take its place.
  Result<BoundSlice> rebind(
      SliceId slice, ClientId client,
      const program::IslandFilter& may_go = [](IslandId) { return true; });
  /// Errors: as rebind().
  Status release(SliceId slice, ClientId client);
  /// The client is gone: releases its slices and returns them, by rising id.
  std::vector<SliceId> release_owner(ClientId client);

  /// `device` is in no new binding any more. False, and nothing happens, if it is lost already.
  bool lose(IslandId island, DeviceId device);
  /// It may be in new bindings again; nothing happens if it is not lost.
  void find_again(IslandId island, DeviceId device);

  /// Null if it is not held. Valid until the next call that changes anything.
  const BoundSlice* find(SliceId slice) const;
  std::size_t slices() const { return slices_.size(); }
  std::size_t islands() const { return islands_.size(); }
  const std::vector<DeviceInfo>& devices(IslandId island) const;
  /// Slices on one device.
  std::uint32_t load(IslandId island, DeviceId device) const;

  /// One line for each island and slice.
  std::string to_string() const;

 private:
  struct Island {
    std::vector<DeviceInfo> devices;
    std::vector<std::uint32_t> load;  // Per device.
    std::vector<bool> is_lost;        // Per device.
  };
  /// A possible binding, and how bad it is: less is better, in this order.
  struct Candidate {
    std::uint64_t reused = 0;        // Devices that the slice has now.
    std::uint64_t highest_load = 0;  // On its devices.
    std::uint64_t total_load = 0;    // Of its devices.
    std::uint64_t island_load = 0;   // Of all devices of its island, over their number, in 1/2^16.
    program::Binding binding;
  };

  Status check(const SliceRequest& request) const;
  Status check_mesh(const SliceRequest& request) const;
  Status check_kind_and_island(const SliceRequest& request) const;
  bool would_fit(const SliceRequest& request) const;
  Status too_many_lost(const SliceRequest& request) const;
  Result<Candidate> choose(const SliceRequest& request, const program::Binding* present,
                           const program::IslandFilter& may_go) const;
  std::optional<Candidate> choose_on(IslandId island, const SliceRequest& request,
                                     const std::string& kind,
                                     const program::Binding* present) const;
  Candidate weigh(IslandId island, std::vector<DeviceId> devices,
                  const program::Binding* present) const;
  Status no_island_holds(const SliceRequest& request) const;
  Result<BoundSlice*> held(SliceId slice, ClientId client);
  void add_load(const program::Binding& binding);
  void remove_load(const program::Binding& binding);
  void erase(SliceId slice);

  Limits limits_;
  std::vector<Island> islands_;
  std::map<SliceId, BoundSlice> slices_;
  std::map<TenantId, std::size_t> slices_of_tenant_;
};

}  // namespace seaway::resources
