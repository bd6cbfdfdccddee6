// Opening a plugin for a process: clients, budgets, the cache.

#include "pjrt/plugin_devices.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "base/one_core.hpp"
#include "base/real_disk.hpp"
#include "pjrt/pjrt_backend.hpp"

namespace seaway::pjrt {
namespace {

Status check_directory(const std::string& path) {
  struct stat found = {};
  const std::string name = "directory " + path + " of compiled programs";
  if (stat(path.c_str(), &found) != 0) return not_found(name + " does not exist: make it");
  if (!S_ISDIR(found.st_mode)) return invalid_argument(name + " is a file");
  if (found.st_uid == geteuid() && (found.st_mode & (S_IWGRP | S_IWOTH)) == 0) return {};
  return {StatusCode::kPermissionDenied,
          name + " can be written by others, and what is there is run: chmod 700 it, as its owner"};
}

/// Plugins whose devices are the host's cores make as many threads as there are cores. Null: there
/// is only one, or the plugin makes no second client of the same devices.
std::shared_ptr<Client> make_narrow(const Client& wide) {
  std::shared_ptr<Client> narrow;
  const auto devices = static_cast<std::uint32_t>(wide.devices().size());
  run_on_one_core([&] {
    if (auto client = Client::make(wide.plugin(), devices); client.ok()) narrow = *client;
  });
  const bool is_alike = narrow && std::ranges::equal(narrow->devices(), wide.devices(), {},
                                                     &PluginDevice::id, &PluginDevice::id);
  return is_alike ? narrow : nullptr;
}

}  // namespace

struct PluginDevices::State {
  std::unique_ptr<RealDisk> disk;
  std::shared_ptr<ExecutableCache> cache;
  std::vector<Target> targets;  // Of each island.
  std::size_t made = 0;
};

PluginDevices::PluginDevices(std::unique_ptr<State> state) : state_(std::move(state)) {}
PluginDevices::~PluginDevices() = default;

Result<std::unique_ptr<PluginDevices>> PluginDevices::open(PluginDevicesOptions options) {
  auto state = std::make_unique<State>();
  if (!options.cache_directory.empty()) {
    if (Status status = check_directory(options.cache_directory); !status.ok()) return status;
    state->disk = std::make_unique<RealDisk>(options.cache_directory);
    state->cache = std::make_shared<ExecutableCache>(*state->disk, options.writer);
  }
  auto plugin = Plugin::load(options.plugin);
  if (!plugin.ok()) return plugin.status();
  for (std::uint32_t island = 0; island < options.islands; ++island) {
    auto client = Client::make(*plugin, options.devices);
    if (!client.ok()) return client.status();
    const InputWay way = (*client)->shares_host_memory() ? InputWay::kLent : InputWay::kPromised;
    state->targets.push_back({std::move(*client),
                              std::make_shared<Ledger>(options.devices, options.device_memory),
                              state->cache, way});
    Target& target = state->targets.back();
    if (way == InputWay::kLent) target.narrow = make_narrow(*target.client);
  }
  return std::unique_ptr<PluginDevices>(new PluginDevices(std::move(state)));
}

std::unique_ptr<device::Backend> PluginDevices::make(actor::Engine& engine,
                                                     function::TbbParallelism& arena,
                                                     std::function<void()> on_progress) {
  SEAWAY_CHECK(state_->made < state_->targets.size(), state_->made, state_->targets.size());
  return std::make_unique<PjrtBackend>(engine, arena, std::move(on_progress),
                                       state_->targets[state_->made++]);
}

}  // namespace seaway::pjrt
