// ResourceBinder: the resource manager behind the interface that the controller is given.

#pragma once

#include <map>
#include <string>

#include "program/slice_binder.hpp"
#include "resources/resource_core.hpp"

namespace seaway::resources {

/// Owned by the wiring; control thread only.
class ResourceBinder final : public program::SliceBinder {
 public:
  explicit ResourceBinder(ResourceCore core) : core_(std::move(core)) {}

  Result<program::Binding> acquire(ClientId client, SliceId slice,
                                   const program::SliceRequest& request) override {
    if (request.contiguous && request.spread) {
      return invalid_argument("slice " + std::to_string(sequence_of(slice)) +
                              " refused: contiguous and spread exclude each other; ask for one");
    }
    SliceRequest wanted;
    wanted.slice = slice;
    wanted.client = client;
    wanted.devices = request.devices;
    wanted.mesh = request.axes;
    wanted.kind = request.kind;
    if (request.island >= 0) wanted.island = static_cast<IslandId>(request.island);
    wanted.placement = request.contiguous ? Placement::kContiguous : Placement::kSpread;
    auto bound = core_.acquire(wanted);
    if (!bound.ok()) return bound.status();
    return bound->binding;
  }
  Result<program::Binding> rebind(SliceId slice, const program::IslandFilter& may_go) override {
    auto bound = core_.rebind(slice, client_of(slice), may_go);
    if (!bound.ok()) return bound.status();
    return bound->binding;
  }
  Status release(SliceId slice) override { return core_.release(slice, client_of(slice)); }
  bool lose(IslandId island, DeviceId device) override { return core_.lose(island, device); }
  void find_again(IslandId island, DeviceId device) override { core_.find_again(island, device); }
  std::string to_string() const override { return core_.to_string(); }

 private:
  ResourceCore core_;
};

}  // namespace seaway::resources
