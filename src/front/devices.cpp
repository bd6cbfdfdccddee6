// Numbers and names of devices.

#include "front/devices.hpp"

namespace seaway::front {
namespace {

pjrt::abi::Option number_named(std::string_view name, std::int64_t number) {
  pjrt::abi::Option option;
  option.head.struct_size = pjrt::abi::size_of<pjrt::abi::Option>();
  option.name = name.data();
  option.name_size = name.size();
  option.type = pjrt::abi::OptionType::kInt64;
  option.number = number;
  return option;
}

}  // namespace

DeviceTable::DeviceTable(FrontClient* client, const std::vector<Mesh>& meshes) {
  for (std::uint32_t island = 0; island < meshes.size(); ++island) {
    for (std::uint32_t index = 0; index < meshes[island].device_count(); ++index) {
      auto device = std::make_unique<FrontDevice>();
      device->client = client;
      device->id = static_cast<int>(devices_.size());
      device->island = island;
      device->index = index;
      device->mesh = meshes[island].device(index);
      const std::string id = std::to_string(device->id);
      device->text = "SeawayDevice(id=" + id + ", island=" + std::to_string(island) +
                     ", index=" + std::to_string(index) + ")";
      device->memory.text = "SeawayMemory(device=" + id + ")";
      device->memory.device = device.get();
      device->attributes = {number_named("island", island), number_named("index", index)};
      auto* const handle = reinterpret_cast<pjrt::abi::Device*>(device.get());
      device->memory.device_handle = handle;
      device->memory_handle = reinterpret_cast<pjrt::abi::Memory*>(&device->memory);
      device_handles_.push_back(handle);
      memory_handles_.push_back(device->memory_handle);
      description_handles_.push_back(reinterpret_cast<pjrt::abi::DeviceDescription*>(device.get()));
      devices_.push_back(std::move(device));
    }
  }
}

FrontDevice* DeviceTable::find(std::int64_t id) const {
  const bool is_known = id >= 0 && static_cast<std::size_t>(id) < devices_.size();
  return is_known ? devices_[static_cast<std::size_t>(id)].get() : nullptr;
}

}  // namespace seaway::front
