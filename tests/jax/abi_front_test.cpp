// src/pjrt/abi_front.hpp says of the plugins' interface what the header of a plugin's package says.
//
// Compiled by `./dev test jax` alone, which fetches that header: see docs/jax.md.

#include "pjrt/abi_front.hpp"

#include <gtest/gtest.h>
#include <pjrt_c_api.h>

#include <cstddef>

#include "jax/abi_comparison.hpp"

namespace seaway::pjrt::abi {
namespace {

static_assert(kMinorOffered == PJRT_API_MINOR && kMajor == PJRT_API_MAJOR);
static_assert(offsetof(Api, calls) + sizeof(void*) * kCallsOffered == PJRT_Api_STRUCT_SIZE);

SAME_CALL(PluginAttributes, PJRT_Plugin_Attributes);
SAME_SIZE(PluginAttributes, PJRT_Plugin_Attributes_Args);
SAME_FIELD(PluginAttributes, attributes, PJRT_Plugin_Attributes_Args, attributes);
SAME_FIELD(PluginAttributes, count, PJRT_Plugin_Attributes_Args, num_attributes);

SAME_CALL(ClientProcessIndex, PJRT_Client_ProcessIndex);
SAME_SIZE(ClientProcessIndex, PJRT_Client_ProcessIndex_Args);
SAME_FIELD(ClientProcessIndex, client, PJRT_Client_ProcessIndex_Args, client);
SAME_FIELD(ClientProcessIndex, index, PJRT_Client_ProcessIndex_Args, process_index);

SAME_CALL(ClientDevices, PJRT_Client_Devices);
SAME_SIZE(ClientDevices, PJRT_Client_Devices_Args);
SAME_FIELD(ClientDevices, client, PJRT_Client_Devices_Args, client);
SAME_FIELD(ClientDevices, devices, PJRT_Client_Devices_Args, devices);
SAME_FIELD(ClientDevices, count, PJRT_Client_Devices_Args, num_devices);

SAME_CALL(ClientLookupDevice, PJRT_Client_LookupDevice);
SAME_SIZE(ClientLookupDevice, PJRT_Client_LookupDevice_Args);
SAME_FIELD(ClientLookupDevice, client, PJRT_Client_LookupDevice_Args, client);
SAME_FIELD(ClientLookupDevice, id, PJRT_Client_LookupDevice_Args, id);
SAME_FIELD(ClientLookupDevice, device, PJRT_Client_LookupDevice_Args, device);

SAME_CALL(ClientLookupAddressableDevice, PJRT_Client_LookupAddressableDevice);
SAME_SIZE(ClientLookupAddressableDevice, PJRT_Client_LookupAddressableDevice_Args);
SAME_FIELD(ClientLookupAddressableDevice, client, PJRT_Client_LookupAddressableDevice_Args, client);
SAME_FIELD(ClientLookupAddressableDevice, id, PJRT_Client_LookupAddressableDevice_Args,
           local_hardware_id);
SAME_FIELD(ClientLookupAddressableDevice, device, PJRT_Client_LookupAddressableDevice_Args,
           addressable_device);

SAME_CALL(ClientAddressableMemories, PJRT_Client_AddressableMemories);
SAME_SIZE(ClientAddressableMemories, PJRT_Client_AddressableMemories_Args);
SAME_FIELD(ClientAddressableMemories, client, PJRT_Client_AddressableMemories_Args, client);
SAME_FIELD(ClientAddressableMemories, memories, PJRT_Client_AddressableMemories_Args,
           addressable_memories);
SAME_FIELD(ClientAddressableMemories, count, PJRT_Client_AddressableMemories_Args,
           num_addressable_memories);

SAME_CALL(ClientDefaultDeviceAssignment, PJRT_Client_DefaultDeviceAssignment);
SAME_SIZE(ClientDefaultDeviceAssignment, PJRT_Client_DefaultDeviceAssignment_Args);
SAME_FIELD(ClientDefaultDeviceAssignment, client, PJRT_Client_DefaultDeviceAssignment_Args, client);
SAME_FIELD(ClientDefaultDeviceAssignment, replicas, PJRT_Client_DefaultDeviceAssignment_Args,
           num_replicas);
SAME_FIELD(ClientDefaultDeviceAssignment, partitions, PJRT_Client_DefaultDeviceAssignment_Args,
           num_partitions);
SAME_FIELD(ClientDefaultDeviceAssignment, size, PJRT_Client_DefaultDeviceAssignment_Args,
           default_assignment_size);
SAME_FIELD(ClientDefaultDeviceAssignment, assignment, PJRT_Client_DefaultDeviceAssignment_Args,
           default_assignment);

SAME_CALL(ClientTopologyDescription, PJRT_Client_TopologyDescription);
SAME_SIZE(ClientTopologyDescription, PJRT_Client_TopologyDescription_Args);
SAME_FIELD(ClientTopologyDescription, client, PJRT_Client_TopologyDescription_Args, client);
SAME_FIELD(ClientTopologyDescription, topology, PJRT_Client_TopologyDescription_Args, topology);

SAME_CALL(DeviceDescriptionProcessIndex, PJRT_DeviceDescription_ProcessIndex);
SAME_SIZE(DeviceDescriptionProcessIndex, PJRT_DeviceDescription_ProcessIndex_Args);
SAME_FIELD(DeviceDescriptionProcessIndex, description, PJRT_DeviceDescription_ProcessIndex_Args,
           device_description);
SAME_FIELD(DeviceDescriptionProcessIndex, index, PJRT_DeviceDescription_ProcessIndex_Args,
           process_index);

SAME_CALL(DeviceDescriptionAttributes, PJRT_DeviceDescription_Attributes);
SAME_SIZE(DeviceDescriptionAttributes, PJRT_DeviceDescription_Attributes_Args);
SAME_FIELD(DeviceDescriptionAttributes, description, PJRT_DeviceDescription_Attributes_Args,
           device_description);
SAME_FIELD(DeviceDescriptionAttributes, count, PJRT_DeviceDescription_Attributes_Args,
           num_attributes);
SAME_FIELD(DeviceDescriptionAttributes, attributes, PJRT_DeviceDescription_Attributes_Args,
           attributes);

SAME_CALL(DeviceDescriptionDebugString, PJRT_DeviceDescription_DebugString);
SAME_SIZE(DeviceDescriptionDebugString, PJRT_DeviceDescription_DebugString_Args);
SAME_FIELD(DeviceDescriptionDebugString, description, PJRT_DeviceDescription_DebugString_Args,
           device_description);
SAME_FIELD(DeviceDescriptionDebugString, text, PJRT_DeviceDescription_DebugString_Args,
           debug_string);
SAME_FIELD(DeviceDescriptionDebugString, text_size, PJRT_DeviceDescription_DebugString_Args,
           debug_string_size);

SAME_CALL(DeviceDescriptionToString, PJRT_DeviceDescription_ToString);
SAME_SIZE(DeviceDescriptionToString, PJRT_DeviceDescription_ToString_Args);
SAME_FIELD(DeviceDescriptionToString, description, PJRT_DeviceDescription_ToString_Args,
           device_description);
SAME_FIELD(DeviceDescriptionToString, text, PJRT_DeviceDescription_ToString_Args, to_string);
SAME_FIELD(DeviceDescriptionToString, text_size, PJRT_DeviceDescription_ToString_Args,
           to_string_size);

SAME_CALL(DeviceIsAddressable, PJRT_Device_IsAddressable);
SAME_SIZE(DeviceIsAddressable, PJRT_Device_IsAddressable_Args);
SAME_FIELD(DeviceIsAddressable, device, PJRT_Device_IsAddressable_Args, device);
SAME_FIELD(DeviceIsAddressable, is_addressable, PJRT_Device_IsAddressable_Args, is_addressable);

SAME_CALL(DeviceLocalHardwareId, PJRT_Device_LocalHardwareId);
SAME_SIZE(DeviceLocalHardwareId, PJRT_Device_LocalHardwareId_Args);
SAME_FIELD(DeviceLocalHardwareId, device, PJRT_Device_LocalHardwareId_Args, device);
SAME_FIELD(DeviceLocalHardwareId, id, PJRT_Device_LocalHardwareId_Args, local_hardware_id);

SAME_CALL(DeviceAddressableMemories, PJRT_Device_AddressableMemories);
SAME_SIZE(DeviceAddressableMemories, PJRT_Device_AddressableMemories_Args);
SAME_FIELD(DeviceAddressableMemories, device, PJRT_Device_AddressableMemories_Args, device);
SAME_FIELD(DeviceAddressableMemories, memories, PJRT_Device_AddressableMemories_Args, memories);
SAME_FIELD(DeviceAddressableMemories, count, PJRT_Device_AddressableMemories_Args, num_memories);

SAME_CALL(MemoryId, PJRT_Memory_Id);
SAME_SIZE(MemoryId, PJRT_Memory_Id_Args);
SAME_FIELD(MemoryId, memory, PJRT_Memory_Id_Args, memory);
SAME_FIELD(MemoryId, id, PJRT_Memory_Id_Args, id);

SAME_CALL(MemoryKind, PJRT_Memory_Kind);
SAME_SIZE(MemoryKind, PJRT_Memory_Kind_Args);
SAME_FIELD(MemoryKind, memory, PJRT_Memory_Kind_Args, memory);
SAME_FIELD(MemoryKind, kind, PJRT_Memory_Kind_Args, kind);
SAME_FIELD(MemoryKind, kind_size, PJRT_Memory_Kind_Args, kind_size);

SAME_CALL(MemoryDebugString, PJRT_Memory_DebugString);
SAME_SIZE(MemoryDebugString, PJRT_Memory_DebugString_Args);
SAME_FIELD(MemoryDebugString, memory, PJRT_Memory_DebugString_Args, memory);
SAME_FIELD(MemoryDebugString, text, PJRT_Memory_DebugString_Args, debug_string);
SAME_FIELD(MemoryDebugString, text_size, PJRT_Memory_DebugString_Args, debug_string_size);

SAME_CALL(MemoryToString, PJRT_Memory_ToString);
SAME_SIZE(MemoryToString, PJRT_Memory_ToString_Args);
SAME_FIELD(MemoryToString, memory, PJRT_Memory_ToString_Args, memory);
SAME_FIELD(MemoryToString, text, PJRT_Memory_ToString_Args, to_string);
SAME_FIELD(MemoryToString, text_size, PJRT_Memory_ToString_Args, to_string_size);

SAME_CALL(MemoryAddressableByDevices, PJRT_Memory_AddressableByDevices);
SAME_SIZE(MemoryAddressableByDevices, PJRT_Memory_AddressableByDevices_Args);
SAME_FIELD(MemoryAddressableByDevices, memory, PJRT_Memory_AddressableByDevices_Args, memory);
SAME_FIELD(MemoryAddressableByDevices, devices, PJRT_Memory_AddressableByDevices_Args, devices);
SAME_FIELD(MemoryAddressableByDevices, count, PJRT_Memory_AddressableByDevices_Args, num_devices);

SAME_CALL(MemoryKindId, PJRT_Memory_Kind_Id);
SAME_SIZE(MemoryKindId, PJRT_Memory_Kind_Id_Args);
SAME_FIELD(MemoryKindId, memory, PJRT_Memory_Kind_Id_Args, memory);
SAME_FIELD(MemoryKindId, id, PJRT_Memory_Kind_Id_Args, kind_id);

SAME_CALL(ExecutableName, PJRT_Executable_Name);
SAME_SIZE(ExecutableName, PJRT_Executable_Name_Args);
SAME_FIELD(ExecutableName, executable, PJRT_Executable_Name_Args, executable);
SAME_FIELD(ExecutableName, name, PJRT_Executable_Name_Args, executable_name);
SAME_FIELD(ExecutableName, name_size, PJRT_Executable_Name_Args, executable_name_size);

SAME_CALL(ExecutableNumReplicas, PJRT_Executable_NumReplicas);
SAME_SIZE(ExecutableNumReplicas, PJRT_Executable_NumReplicas_Args);
SAME_FIELD(ExecutableNumReplicas, executable, PJRT_Executable_NumReplicas_Args, executable);
SAME_FIELD(ExecutableNumReplicas, count, PJRT_Executable_NumReplicas_Args, num_replicas);

SAME_CALL(ExecutableNumPartitions, PJRT_Executable_NumPartitions);
SAME_SIZE(ExecutableNumPartitions, PJRT_Executable_NumPartitions_Args);
SAME_FIELD(ExecutableNumPartitions, executable, PJRT_Executable_NumPartitions_Args, executable);
SAME_FIELD(ExecutableNumPartitions, count, PJRT_Executable_NumPartitions_Args, num_partitions);

SAME_CALL(ExecutableSizeOfGeneratedCode, PJRT_Executable_SizeOfGeneratedCodeInBytes);
SAME_SIZE(ExecutableSizeOfGeneratedCode, PJRT_Executable_SizeOfGeneratedCodeInBytes_Args);
SAME_FIELD(ExecutableSizeOfGeneratedCode, executable,
           PJRT_Executable_SizeOfGeneratedCodeInBytes_Args, executable);
SAME_FIELD(ExecutableSizeOfGeneratedCode, bytes, PJRT_Executable_SizeOfGeneratedCodeInBytes_Args,
           size_in_bytes);

SAME_CALL(ExecutableOutputMemoryKinds, PJRT_Executable_OutputMemoryKinds);
SAME_SIZE(ExecutableOutputMemoryKinds, PJRT_Executable_OutputMemoryKinds_Args);
SAME_FIELD(ExecutableOutputMemoryKinds, executable, PJRT_Executable_OutputMemoryKinds_Args,
           executable);
SAME_FIELD(ExecutableOutputMemoryKinds, count, PJRT_Executable_OutputMemoryKinds_Args, num_outputs);
SAME_FIELD(ExecutableOutputMemoryKinds, kinds, PJRT_Executable_OutputMemoryKinds_Args,
           memory_kinds);
SAME_FIELD(ExecutableOutputMemoryKinds, kind_sizes, PJRT_Executable_OutputMemoryKinds_Args,
           memory_kind_sizes);

SAME_CALL(ExecutableFingerprint, PJRT_Executable_Fingerprint);
SAME_SIZE(ExecutableFingerprint, PJRT_Executable_Fingerprint_Args);
SAME_FIELD(ExecutableFingerprint, executable, PJRT_Executable_Fingerprint_Args, executable);
SAME_FIELD(ExecutableFingerprint, fingerprint, PJRT_Executable_Fingerprint_Args,
           executable_fingerprint);
SAME_FIELD(ExecutableFingerprint, fingerprint_size, PJRT_Executable_Fingerprint_Args,
           executable_fingerprint_size);

SAME_CALL(LoadedExecutableAddressableDevices, PJRT_LoadedExecutable_AddressableDevices);
SAME_SIZE(LoadedExecutableAddressableDevices, PJRT_LoadedExecutable_AddressableDevices_Args);
SAME_FIELD(LoadedExecutableAddressableDevices, executable,
           PJRT_LoadedExecutable_AddressableDevices_Args, executable);
SAME_FIELD(LoadedExecutableAddressableDevices, devices,
           PJRT_LoadedExecutable_AddressableDevices_Args, addressable_devices);
SAME_FIELD(LoadedExecutableAddressableDevices, count, PJRT_LoadedExecutable_AddressableDevices_Args,
           num_addressable_devices);

SAME_CALL(LoadedExecutableDelete, PJRT_LoadedExecutable_Delete);
SAME_SIZE(LoadedExecutableDelete, PJRT_LoadedExecutable_Delete_Args);
SAME_FIELD(LoadedExecutableDelete, executable, PJRT_LoadedExecutable_Delete_Args, executable);

SAME_CALL(LoadedExecutableIsDeleted, PJRT_LoadedExecutable_IsDeleted);
SAME_SIZE(LoadedExecutableIsDeleted, PJRT_LoadedExecutable_IsDeleted_Args);
SAME_FIELD(LoadedExecutableIsDeleted, executable, PJRT_LoadedExecutable_IsDeleted_Args, executable);
SAME_FIELD(LoadedExecutableIsDeleted, is_deleted, PJRT_LoadedExecutable_IsDeleted_Args, is_deleted);

SAME_CALL(LoadedExecutableGetDeviceAssignment, PJRT_LoadedExecutable_GetDeviceAssignment);
SAME_SIZE(LoadedExecutableGetDeviceAssignment, PJRT_LoadedExecutable_GetDeviceAssignment_Args);
SAME_FIELD(LoadedExecutableGetDeviceAssignment, executable,
           PJRT_LoadedExecutable_GetDeviceAssignment_Args, executable);
SAME_FIELD(LoadedExecutableGetDeviceAssignment, bytes,
           PJRT_LoadedExecutable_GetDeviceAssignment_Args, serialized_bytes);
SAME_FIELD(LoadedExecutableGetDeviceAssignment, bytes_size,
           PJRT_LoadedExecutable_GetDeviceAssignment_Args, serialized_bytes_size);
SAME_FIELD(LoadedExecutableGetDeviceAssignment, owner,
           PJRT_LoadedExecutable_GetDeviceAssignment_Args, serialized_device_assignment);
SAME_FIELD(LoadedExecutableGetDeviceAssignment, delete_owner,
           PJRT_LoadedExecutable_GetDeviceAssignment_Args, serialized_device_assignment_deleter);

SAME_CALL(BufferUnpaddedDimensions, PJRT_Buffer_UnpaddedDimensions);
SAME_SIZE(BufferUnpaddedDimensions, PJRT_Buffer_UnpaddedDimensions_Args);
SAME_FIELD(BufferUnpaddedDimensions, buffer, PJRT_Buffer_UnpaddedDimensions_Args, buffer);
SAME_FIELD(BufferUnpaddedDimensions, sizes, PJRT_Buffer_UnpaddedDimensions_Args, unpadded_dims);
SAME_FIELD(BufferUnpaddedDimensions, rank, PJRT_Buffer_UnpaddedDimensions_Args, num_dims);

SAME_CALL(BufferDynamicDimensionIndices, PJRT_Buffer_DynamicDimensionIndices);
SAME_SIZE(BufferDynamicDimensionIndices, PJRT_Buffer_DynamicDimensionIndices_Args);
SAME_FIELD(BufferDynamicDimensionIndices, buffer, PJRT_Buffer_DynamicDimensionIndices_Args, buffer);
SAME_FIELD(BufferDynamicDimensionIndices, indices, PJRT_Buffer_DynamicDimensionIndices_Args,
           dynamic_dim_indices);
SAME_FIELD(BufferDynamicDimensionIndices, count, PJRT_Buffer_DynamicDimensionIndices_Args,
           num_dynamic_dims);

SAME_CALL(BufferGetMemoryLayout, PJRT_Buffer_GetMemoryLayout);
SAME_SIZE(BufferGetMemoryLayout, PJRT_Buffer_GetMemoryLayout_Args);
SAME_FIELD(BufferGetMemoryLayout, buffer, PJRT_Buffer_GetMemoryLayout_Args, buffer);
SAME_FIELD(BufferGetMemoryLayout, layout, PJRT_Buffer_GetMemoryLayout_Args, layout);

SAME_CALL(BufferDevice, PJRT_Buffer_Device);
SAME_SIZE(BufferDevice, PJRT_Buffer_Device_Args);
SAME_FIELD(BufferDevice, buffer, PJRT_Buffer_Device_Args, buffer);
SAME_FIELD(BufferDevice, device, PJRT_Buffer_Device_Args, device);

SAME_CALL(BufferMemory, PJRT_Buffer_Memory);
SAME_SIZE(BufferMemory, PJRT_Buffer_Memory_Args);
SAME_FIELD(BufferMemory, buffer, PJRT_Buffer_Memory_Args, buffer);
SAME_FIELD(BufferMemory, memory, PJRT_Buffer_Memory_Args, memory);

SAME_CALL(BufferCopyToDevice, PJRT_Buffer_CopyToDevice);
SAME_SIZE(BufferCopyToDevice, PJRT_Buffer_CopyToDevice_Args);
SAME_FIELD(BufferCopyToDevice, buffer, PJRT_Buffer_CopyToDevice_Args, buffer);
SAME_FIELD(BufferCopyToDevice, device, PJRT_Buffer_CopyToDevice_Args, dst_device);
SAME_FIELD(BufferCopyToDevice, copy, PJRT_Buffer_CopyToDevice_Args, dst_buffer);

SAME_CALL(BufferCopyToMemory, PJRT_Buffer_CopyToMemory);
SAME_SIZE(BufferCopyToMemory, PJRT_Buffer_CopyToMemory_Args);
SAME_FIELD(BufferCopyToMemory, buffer, PJRT_Buffer_CopyToMemory_Args, buffer);
SAME_FIELD(BufferCopyToMemory, memory, PJRT_Buffer_CopyToMemory_Args, dst_memory);
SAME_FIELD(BufferCopyToMemory, copy, PJRT_Buffer_CopyToMemory_Args, dst_buffer);

SAME_CALL(TopologyPlatformName, PJRT_TopologyDescription_PlatformName);
SAME_SIZE(TopologyPlatformName, PJRT_TopologyDescription_PlatformName_Args);
SAME_FIELD(TopologyPlatformName, topology, PJRT_TopologyDescription_PlatformName_Args, topology);
SAME_FIELD(TopologyPlatformName, name, PJRT_TopologyDescription_PlatformName_Args, platform_name);
SAME_FIELD(TopologyPlatformName, name_size, PJRT_TopologyDescription_PlatformName_Args,
           platform_name_size);

SAME_CALL(TopologyPlatformVersion, PJRT_TopologyDescription_PlatformVersion);
SAME_SIZE(TopologyPlatformVersion, PJRT_TopologyDescription_PlatformVersion_Args);
SAME_FIELD(TopologyPlatformVersion, topology, PJRT_TopologyDescription_PlatformVersion_Args,
           topology);
SAME_FIELD(TopologyPlatformVersion, version, PJRT_TopologyDescription_PlatformVersion_Args,
           platform_version);
SAME_FIELD(TopologyPlatformVersion, version_size, PJRT_TopologyDescription_PlatformVersion_Args,
           platform_version_size);

SAME_CALL(TopologyDeviceDescriptions, PJRT_TopologyDescription_GetDeviceDescriptions);
SAME_SIZE(TopologyDeviceDescriptions, PJRT_TopologyDescription_GetDeviceDescriptions_Args);
SAME_FIELD(TopologyDeviceDescriptions, topology,
           PJRT_TopologyDescription_GetDeviceDescriptions_Args, topology);
SAME_FIELD(TopologyDeviceDescriptions, descriptions,
           PJRT_TopologyDescription_GetDeviceDescriptions_Args, descriptions);
SAME_FIELD(TopologyDeviceDescriptions, count, PJRT_TopologyDescription_GetDeviceDescriptions_Args,
           num_descriptions);

SAME_CALL(TopologyAttributes, PJRT_TopologyDescription_Attributes);
SAME_SIZE(TopologyAttributes, PJRT_TopologyDescription_Attributes_Args);
SAME_FIELD(TopologyAttributes, topology, PJRT_TopologyDescription_Attributes_Args, topology);
SAME_FIELD(TopologyAttributes, attributes, PJRT_TopologyDescription_Attributes_Args, attributes);
SAME_FIELD(TopologyAttributes, count, PJRT_TopologyDescription_Attributes_Args, num_attributes);

SAME_CALL(ExecuteContextCreate, PJRT_ExecuteContext_Create);
SAME_SIZE(ExecuteContextCreate, PJRT_ExecuteContext_Create_Args);
SAME_FIELD(ExecuteContextCreate, context, PJRT_ExecuteContext_Create_Args, context);

SAME_CALL(ExecuteContextDestroy, PJRT_ExecuteContext_Destroy);
SAME_SIZE(ExecuteContextDestroy, PJRT_ExecuteContext_Destroy_Args);
SAME_FIELD(ExecuteContextDestroy, context, PJRT_ExecuteContext_Destroy_Args, context);

SAME_SIZE(TiledLayout, PJRT_Buffer_MemoryLayout_Tiled);
SAME_FIELD(TiledLayout, minor_to_major, PJRT_Buffer_MemoryLayout_Tiled, minor_to_major);
SAME_FIELD(TiledLayout, minor_to_major_size, PJRT_Buffer_MemoryLayout_Tiled, minor_to_major_size);
SAME_FIELD(TiledLayout, tile_sizes, PJRT_Buffer_MemoryLayout_Tiled, tile_dims);
SAME_FIELD(TiledLayout, tile_ranks, PJRT_Buffer_MemoryLayout_Tiled, tile_dim_sizes);
SAME_FIELD(TiledLayout, tiles, PJRT_Buffer_MemoryLayout_Tiled, num_tiles);
SAME_SIZE(StridedLayout, PJRT_Buffer_MemoryLayout_Strides);
SAME_FIELD(StridedLayout, byte_strides, PJRT_Buffer_MemoryLayout_Strides, byte_strides);
SAME_FIELD(StridedLayout, byte_strides_count, PJRT_Buffer_MemoryLayout_Strides, num_byte_strides);
SAME_SIZE(MemoryLayout, PJRT_Buffer_MemoryLayout);
SAME_FIELD(MemoryLayout, tiled, PJRT_Buffer_MemoryLayout, tiled);
SAME_FIELD(MemoryLayout, strided, PJRT_Buffer_MemoryLayout, strides);
SAME_FIELD(MemoryLayout, type, PJRT_Buffer_MemoryLayout, type);
SAME_NUMBER(LayoutType::kTiled, PJRT_Buffer_MemoryLayout_Type_Tiled);
SAME_NUMBER(LayoutType::kStrides, PJRT_Buffer_MemoryLayout_Type_Strides);

TEST(PjrtFrontAbi, IsWhatTheHeaderOfAPluginSays) {
  // What is above has been compiled.
  EXPECT_EQ(std::size_t{PJRT_API_MINOR}, std::size_t{kMinorOffered});
}

}  // namespace
}  // namespace seaway::pjrt::abi
