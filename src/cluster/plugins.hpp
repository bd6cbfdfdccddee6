// The plugin whose devices a cluster has, where it has them of one.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "cluster/embedded.hpp"
#include "device/cpu_backend.hpp"
#include "pjrt/plugin_devices.hpp"

namespace seaway::cluster {

/// Makes `target`; null for the built-in devices. `islands`: how many of them are in this process.
/// Errors: those of PluginDevices::open(), with the option in front.
Status open_plugin(const EmbeddedOptions& options, std::uint32_t islands,
                   std::unique_ptr<pjrt::PluginDevices>& target);

/// The backend of the next island: of `plugin`, or, if that is null, the built-in one.
std::unique_ptr<device::Backend> make_backend(pjrt::PluginDevices* plugin, actor::Engine& engine,
                                              function::TbbParallelism& arena,
                                              std::function<void()> on_progress,
                                              device::Compiler compiler);

}  // namespace seaway::cluster
