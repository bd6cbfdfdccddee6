// PluginDevices: from a path to the backends of a process.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "actor/engine.hpp"
#include "device/backend.hpp"
#include "function/tbb_parallelism.hpp"
#include "seaway/status.hpp"

namespace seaway::pjrt {

struct PluginDevicesOptions {
  std::string plugin;               // Its whole path.
  std::uint32_t islands = 1;        // Of this process: each has devices of its own.
  std::uint32_t devices = 1;        // Of each island.
  std::uint64_t device_memory = 0;  // Bytes, of each device.
  std::string cache_directory;      // Of compiled programs; empty: they are not kept.
  std::string writer;               // A word that no other process which writes there now has.
};

/// The devices of a plugin, for all islands of a process. Outlives its backends.
class PluginDevices {
 public:
  /// Loads the plugin and makes its devices. Errors: those of Plugin::load() and Client::make();
  /// kInvalidArgument, kNotFound and kPermissionDenied about the directory, which others may not be
  /// able to write to: what is kept there is run.
  static Result<std::unique_ptr<PluginDevices>> open(PluginDevicesOptions options);
  ~PluginDevices();

  /// The backend of the next island; at most as many as there are islands.
  std::unique_ptr<device::Backend> make(actor::Engine& engine, function::TbbParallelism& arena,
                                        std::function<void()> on_progress);

 private:
  struct State;
  explicit PluginDevices(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace seaway::pjrt
