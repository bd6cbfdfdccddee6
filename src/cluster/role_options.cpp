// Options of a cluster, dealt to its roles.

#include "cluster/role_options.hpp"

#include "resources/slice_binder.hpp"

namespace seaway::cluster {

controller::ControllerOptions controller_options(const EmbeddedOptions& options) {
  controller::ControllerOptions controller;
  controller.islands = options.islands;
  controller.devices = options.devices;
  controller.device_bytes = options.device_memory;
  controller.kept_bytes_max = options.host_memory;
  controller.limits.runs_in_flight_max = options.runs_in_flight;
  controller.limits.runs_shared_in_flight = options.runs_shared_in_flight;
  controller.limits.definitions_max = options.definitions;
  controller.limits.restarts_max = options.restarts;
  return controller;
}

island::CoreOptions scheduler_options(const EmbeddedOptions& options) {
  island::CoreOptions core;
  core.devices = options.devices;
  core.memory_bytes = options.device_memory;
  core.spill_bytes = options.host_memory;
  core.send_room_bytes = options.send_memory;
  core.policy = options.policy;
  return core;
}

/// One host serves an island: both have the same number.
device::HostCore::Options host_options(const EmbeddedOptions& options, IslandId island) {
  device::HostCore::Options host;
  host.host = island;
  host.island = island;
  host.devices = options.devices;
  host.device_bytes = options.device_memory;
  host.gang_timeout_min_ns = options.gang_timeout_ns;
  host.integrity = options.integrity;
  host.exchange = options.exchange;
  host.spill_memory_bytes = options.spill_memory;
  host.spill_file_bytes = options.host_memory;  // As the scheduler has it.
  return host;
}

std::unique_ptr<program::SliceBinder> make_binder(const EmbeddedOptions& options) {
  resources::ResourceCore resources({});
  for (IslandId island = 0; island < options.islands; ++island) {
    resources.add_island(std::vector<resources::DeviceInfo>(
        options.devices, {options.device_kind, options.device_memory}));
  }
  return std::make_unique<resources::ResourceBinder>(std::move(resources));
}

}  // namespace seaway::cluster
