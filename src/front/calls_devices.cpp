// What devices and memories say of themselves. All of it is known here: nobody is asked.

#include "front/calls.hpp"

namespace seaway::front {
namespace {

Status description_id(abi::DeviceDescriptionId& args) {
  args.id = of(args.description)->id;
  return {};
}

Status description_process_index(abi::DeviceDescriptionProcessIndex& args) {
  args.index = 0;
  return {};
}

Status description_attributes(abi::DeviceDescriptionAttributes& args) {
  const auto& attributes = of(args.description)->attributes;
  args.attributes = attributes.data();
  args.count = attributes.size();
  return {};
}

Status description_kind(abi::DeviceDescriptionKind& args) {
  args.kind = kDeviceKind.data();
  args.kind_size = kDeviceKind.size();
  return {};
}

Status description_debug_string(abi::DeviceDescriptionDebugString& args) {
  args.text = of(args.description)->text.data();
  args.text_size = of(args.description)->text.size();
  return {};
}

Status description_to_string(abi::DeviceDescriptionToString& args) {
  args.text = of(args.description)->text.data();
  args.text_size = of(args.description)->text.size();
  return {};
}

Status device_get_description(abi::DeviceGetDescription& args) {
  args.description = reinterpret_cast<abi::DeviceDescription*>(args.device);
  return {};
}

Status device_is_addressable(abi::DeviceIsAddressable& args) {
  args.is_addressable = true;
  return {};
}

Status device_local_hardware_id(abi::DeviceLocalHardwareId& args) {
  args.id = of(args.device)->id;
  return {};
}

Status device_addressable_memories(abi::DeviceAddressableMemories& args) {
  args.memories = &of(args.device)->memory_handle;
  args.count = 1;
  return {};
}

Status device_default_memory(abi::DeviceDefaultMemory& args) {
  args.memory = of(args.device)->memory_handle;
  return {};
}

Status memory_id(abi::MemoryId& args) {
  args.id = of(args.memory)->device->id;
  return {};
}

Status memory_kind(abi::MemoryKind& args) {
  args.kind = kMemoryKind.data();
  args.kind_size = kMemoryKind.size();
  return {};
}

Status memory_kind_id(abi::MemoryKindId& args) {
  args.id = 0;
  return {};
}

Status memory_debug_string(abi::MemoryDebugString& args) {
  args.text = of(args.memory)->text.data();
  args.text_size = of(args.memory)->text.size();
  return {};
}

Status memory_to_string(abi::MemoryToString& args) {
  args.text = of(args.memory)->text.data();
  args.text_size = of(args.memory)->text.size();
  return {};
}

Status memory_addressable_by_devices(abi::MemoryAddressableByDevices& args) {
  args.devices = &of(args.memory)->device_handle;
  args.count = 1;
  return {};
}

}  // namespace

void offer_devices(Table& table) {
  table.offer<description_id>();
  table.offer<description_process_index>();
  table.offer<description_attributes>();
  table.offer<description_kind>();
  table.offer<description_debug_string>();
  table.offer<description_to_string>();
  table.offer<device_get_description>();
  table.offer<device_is_addressable>();
  table.offer<device_local_hardware_id>();
  table.offer<device_addressable_memories>();
  table.offer<device_default_memory>();
  table.offer<memory_id>();
  table.offer<memory_kind>();
  table.offer<memory_kind_id>();
  table.offer<memory_debug_string>();
  table.offer<memory_to_string>();
  table.offer<memory_addressable_by_devices>();
}

}  // namespace seaway::front
