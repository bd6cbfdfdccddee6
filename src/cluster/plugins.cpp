// Opening the plugin that an option names.

#include "cluster/plugins.hpp"

#include <unistd.h>

#include <string>
#include <utility>

namespace seaway::cluster {

Status open_plugin(const EmbeddedOptions& options, std::uint32_t islands,
                   std::unique_ptr<pjrt::PluginDevices>& target) {
  target.reset();
  if (options.plugin.empty()) return {};
  auto opened = pjrt::PluginDevices::open({.plugin = options.plugin,
                                           .islands = islands,
                                           .devices = options.devices,
                                           .device_memory = options.device_memory,
                                           .cache_directory = options.executable_cache,
                                           .writer = std::to_string(getpid())});
  if (!opened.ok()) {
    return Status(opened.status().code(), "cluster option backend=pjrt:" + options.plugin + ": " +
                                              opened.status().message());
  }
  target = std::move(*opened);
  return {};
}

std::unique_ptr<device::Backend> make_backend(pjrt::PluginDevices* plugin, actor::Engine& engine,
                                              function::TbbParallelism& arena,
                                              std::function<void()> on_progress,
                                              device::Compiler compiler) {
  if (plugin) return plugin->make(engine, arena, std::move(on_progress));
  return std::make_unique<device::CpuBackend>(engine, arena, std::move(on_progress),
                                              std::move(compiler));
}

}  // namespace seaway::cluster
