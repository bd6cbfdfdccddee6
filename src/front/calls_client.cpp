// The client of a framework's process, and what it describes itself by.

#include <algorithm>

#include "front/calls.hpp"
#include "front/settings.hpp"

namespace seaway::front {
namespace {

constexpr std::string_view kPlatform = "seaway";

Status plugin_initialize(abi::PluginInitialize&) { return {}; }

Status plugin_attributes(abi::PluginAttributes& args) {
  args.attributes = nullptr;
  args.count = 0;
  return {};
}

Status client_create(abi::ClientCreate& args) {
  std::map<std::string, std::string> options;
  for (std::size_t i = 0; i < args.options_count; ++i) {
    const abi::Option& option = args.options[i];
    const std::string name(option.name, option.name_size);
    if (option.type == abi::OptionType::kString) {
      options[name] = std::string(option.text, option.value_size);
    } else if (option.type == abi::OptionType::kInt64) {
      options[name] = std::to_string(option.number);
    } else {
      return invalid_argument("option \"" + name + "\" is neither a text nor a whole number");
    }
  }
  const auto settings = read_settings(options, look_up_environment);
  if (!settings.ok()) return settings.status();
  auto client = FrontClient::make(*settings);
  if (!client.ok()) return client.status();
  args.client = reinterpret_cast<abi::Client*>(client->release());
  return {};
}

Status client_destroy(abi::ClientDestroy& args) {
  delete of(args.client);
  return {};
}

Status client_platform_name(abi::ClientPlatformName& args) {
  args.name = kPlatform.data();
  args.name_size = kPlatform.size();
  return {};
}

Status client_platform_version(abi::ClientPlatformVersion& args) {
  const std::string& text = of(args.client)->version_text();
  args.version = text.data();
  args.version_size = text.size();
  return {};
}

Status client_process_index(abi::ClientProcessIndex& args) {
  args.index = 0;
  return {};
}

Status client_devices(abi::ClientDevices& args) {
  const auto& devices = of(args.client)->devices().devices();
  args.devices = devices.data();
  args.count = devices.size();
  return {};
}

Status client_addressable_devices(abi::ClientAddressableDevices& args) {
  const auto& devices = of(args.client)->devices().devices();
  args.devices = devices.data();
  args.devices_count = devices.size();
  return {};
}

Status client_addressable_memories(abi::ClientAddressableMemories& args) {
  const auto& memories = of(args.client)->devices().memories();
  args.memories = memories.data();
  args.count = memories.size();
  return {};
}

template <class Args>
Status look_up(Args& args) {
  FrontDevice* const device = of(args.client)->devices().find(args.id);
  if (device == nullptr) {
    return not_found("there is no device " + std::to_string(args.id) + "; the cluster has " +
                     std::to_string(of(args.client)->devices().size()));
  }
  args.device = reinterpret_cast<abi::Device*>(device);
  return {};
}
Status client_lookup_device(abi::ClientLookupDevice& args) { return look_up(args); }
Status client_lookup_addressable_device(abi::ClientLookupAddressableDevice& args) {
  return look_up(args);
}

Status client_default_device_assignment(abi::ClientDefaultDeviceAssignment& args) {
  const auto shards = static_cast<std::size_t>(args.replicas) *
                      static_cast<std::size_t>(std::max(1, args.partitions));
  if (shards > of(args.client)->devices().size() || args.size < shards) {
    return invalid_argument("a program of " + std::to_string(args.replicas) + " replicas of " +
                            std::to_string(args.partitions) + " partitions has no place on " +
                            std::to_string(of(args.client)->devices().size()) + " devices");
  }
  for (std::size_t shard = 0; shard < shards; ++shard) {
    args.assignment[shard] = static_cast<int>(shard);
  }
  return {};
}

// The topology is the client itself.

Status client_topology(abi::ClientTopologyDescription& args) {
  args.topology = reinterpret_cast<abi::TopologyDescription*>(args.client);
  return {};
}

FrontClient& client_of(const abi::TopologyDescription* topology) {
  return *reinterpret_cast<FrontClient*>(const_cast<abi::TopologyDescription*>(topology));
}

Status topology_platform_name(abi::TopologyPlatformName& args) {
  args.name = kPlatform.data();
  args.name_size = kPlatform.size();
  return {};
}

Status topology_platform_version(abi::TopologyPlatformVersion& args) {
  const std::string& text = client_of(args.topology).version_text();
  args.version = text.data();
  args.version_size = text.size();
  return {};
}

Status topology_device_descriptions(abi::TopologyDeviceDescriptions& args) {
  const auto& descriptions = client_of(args.topology).devices().descriptions();
  args.descriptions = descriptions.data();
  args.count = descriptions.size();
  return {};
}

Status topology_attributes(abi::TopologyAttributes& args) {
  args.attributes = nullptr;
  args.count = 0;
  return {};
}

}  // namespace

void offer_client(Table& table) {
  table.offer<plugin_initialize>();
  table.offer<plugin_attributes>();
  table.offer<client_create>();
  table.offer<client_destroy>();
  table.offer<client_platform_name>();
  table.offer<client_platform_version>();
  table.offer<client_process_index>();
  table.offer<client_devices>();
  table.offer<client_addressable_devices>();
  table.offer<client_addressable_memories>();
  table.offer<client_lookup_device>();
  table.offer<client_lookup_addressable_device>();
  table.offer<client_default_device_assignment>();
  table.offer<client_topology>();
  table.offer<topology_platform_name>();
  table.offer<topology_platform_version>();
  table.offer<topology_device_descriptions>();
  table.offer<topology_attributes>();
}

}  // namespace seaway::front
