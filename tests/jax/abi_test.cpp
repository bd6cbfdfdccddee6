// src/pjrt/abi.hpp says of the plugins' interface what the header of a plugin's package says.
//
// Compiled by `./dev test jax` alone, which fetches that header: see docs/jax.md.

#include "pjrt/abi.hpp"

#include <gtest/gtest.h>
#include <pjrt_c_api.h>

#include <cstddef>

#include "jax/abi_comparison.hpp"

namespace seaway::pjrt::abi {
namespace {

static_assert(offsetof(Head, struct_size) == offsetof(PJRT_Extension_Base, struct_size));
static_assert(offsetof(Head, extensions) == offsetof(PJRT_Api, extension_start));
static_assert(offsetof(Api, version) == offsetof(PJRT_Api, pjrt_api_version));
static_assert(kMajor == PJRT_API_MAJOR && kMinorMin <= PJRT_API_MINOR);

SAME_SIZE(Version, PJRT_Api_Version);
SAME_FIELD(Version, major, PJRT_Api_Version, major_version);
SAME_FIELD(Version, minor, PJRT_Api_Version, minor_version);

SAME_CALL(ErrorDestroy, PJRT_Error_Destroy);
SAME_SIZE(ErrorDestroy, PJRT_Error_Destroy_Args);
SAME_FIELD(ErrorDestroy, error, PJRT_Error_Destroy_Args, error);

SAME_CALL(ErrorMessage, PJRT_Error_Message);
SAME_SIZE(ErrorMessage, PJRT_Error_Message_Args);
SAME_FIELD(ErrorMessage, error, PJRT_Error_Message_Args, error);
SAME_FIELD(ErrorMessage, message, PJRT_Error_Message_Args, message);
SAME_FIELD(ErrorMessage, message_size, PJRT_Error_Message_Args, message_size);

SAME_CALL(ErrorGetCode, PJRT_Error_GetCode);
SAME_SIZE(ErrorGetCode, PJRT_Error_GetCode_Args);
SAME_FIELD(ErrorGetCode, error, PJRT_Error_GetCode_Args, error);
SAME_FIELD(ErrorGetCode, code, PJRT_Error_GetCode_Args, code);

SAME_CALL(PluginInitialize, PJRT_Plugin_Initialize);
SAME_SIZE(PluginInitialize, PJRT_Plugin_Initialize_Args);

SAME_CALL(EventDestroy, PJRT_Event_Destroy);
SAME_SIZE(EventDestroy, PJRT_Event_Destroy_Args);
SAME_FIELD(EventDestroy, event, PJRT_Event_Destroy_Args, event);

SAME_CALL(EventIsReady, PJRT_Event_IsReady);
SAME_SIZE(EventIsReady, PJRT_Event_IsReady_Args);
SAME_FIELD(EventIsReady, event, PJRT_Event_IsReady_Args, event);
SAME_FIELD(EventIsReady, is_ready, PJRT_Event_IsReady_Args, is_ready);

SAME_CALL(EventError, PJRT_Event_Error);
SAME_SIZE(EventError, PJRT_Event_Error_Args);
SAME_FIELD(EventError, event, PJRT_Event_Error_Args, event);

SAME_CALL(EventAwait, PJRT_Event_Await);
SAME_SIZE(EventAwait, PJRT_Event_Await_Args);
SAME_FIELD(EventAwait, event, PJRT_Event_Await_Args, event);

SAME_CALL(EventOnReady, PJRT_Event_OnReady);
SAME_SIZE(EventOnReady, PJRT_Event_OnReady_Args);
SAME_FIELD(EventOnReady, event, PJRT_Event_OnReady_Args, event);
SAME_FIELD(EventOnReady, callback, PJRT_Event_OnReady_Args, callback);
SAME_FIELD(EventOnReady, user, PJRT_Event_OnReady_Args, user_arg);

SAME_SIZE(Option, PJRT_NamedValue);
SAME_FIELD(Option, name, PJRT_NamedValue, name);
SAME_FIELD(Option, name_size, PJRT_NamedValue, name_size);
SAME_FIELD(Option, type, PJRT_NamedValue, type);
SAME_FIELD(Option, text, PJRT_NamedValue, string_value);
SAME_FIELD(Option, number, PJRT_NamedValue, int64_value);
SAME_FIELD(Option, numbers, PJRT_NamedValue, int64_array_value);
SAME_FIELD(Option, real, PJRT_NamedValue, float_value);
SAME_FIELD(Option, flag, PJRT_NamedValue, bool_value);
SAME_FIELD(Option, value_size, PJRT_NamedValue, value_size);

SAME_CALL(ClientCreate, PJRT_Client_Create);
SAME_SIZE(ClientCreate, PJRT_Client_Create_Args);
SAME_FIELD(ClientCreate, options, PJRT_Client_Create_Args, create_options);
SAME_FIELD(ClientCreate, options_count, PJRT_Client_Create_Args, num_options);
SAME_FIELD(ClientCreate, get_key, PJRT_Client_Create_Args, kv_get_callback);
SAME_FIELD(ClientCreate, get_key_user, PJRT_Client_Create_Args, kv_get_user_arg);
SAME_FIELD(ClientCreate, put_key, PJRT_Client_Create_Args, kv_put_callback);
SAME_FIELD(ClientCreate, put_key_user, PJRT_Client_Create_Args, kv_put_user_arg);
SAME_FIELD(ClientCreate, client, PJRT_Client_Create_Args, client);
SAME_FIELD(ClientCreate, try_get_key, PJRT_Client_Create_Args, kv_try_get_callback);
SAME_FIELD(ClientCreate, try_get_key_user, PJRT_Client_Create_Args, kv_try_get_user_arg);

SAME_CALL(ClientDestroy, PJRT_Client_Destroy);
SAME_SIZE(ClientDestroy, PJRT_Client_Destroy_Args);
SAME_FIELD(ClientDestroy, client, PJRT_Client_Destroy_Args, client);

SAME_CALL(ClientPlatformName, PJRT_Client_PlatformName);
SAME_SIZE(ClientPlatformName, PJRT_Client_PlatformName_Args);
SAME_FIELD(ClientPlatformName, client, PJRT_Client_PlatformName_Args, client);
SAME_FIELD(ClientPlatformName, name, PJRT_Client_PlatformName_Args, platform_name);
SAME_FIELD(ClientPlatformName, name_size, PJRT_Client_PlatformName_Args, platform_name_size);

SAME_CALL(ClientPlatformVersion, PJRT_Client_PlatformVersion);
SAME_SIZE(ClientPlatformVersion, PJRT_Client_PlatformVersion_Args);
SAME_FIELD(ClientPlatformVersion, client, PJRT_Client_PlatformVersion_Args, client);
SAME_FIELD(ClientPlatformVersion, version, PJRT_Client_PlatformVersion_Args, platform_version);
SAME_FIELD(ClientPlatformVersion, version_size, PJRT_Client_PlatformVersion_Args,
           platform_version_size);

SAME_CALL(ClientAddressableDevices, PJRT_Client_AddressableDevices);
SAME_SIZE(ClientAddressableDevices, PJRT_Client_AddressableDevices_Args);
SAME_FIELD(ClientAddressableDevices, client, PJRT_Client_AddressableDevices_Args, client);
SAME_FIELD(ClientAddressableDevices, devices, PJRT_Client_AddressableDevices_Args,
           addressable_devices);
SAME_FIELD(ClientAddressableDevices, devices_count, PJRT_Client_AddressableDevices_Args,
           num_addressable_devices);

SAME_SIZE(Program, PJRT_Program);
SAME_FIELD(Program, code, PJRT_Program, code);
SAME_FIELD(Program, code_size, PJRT_Program, code_size);
SAME_FIELD(Program, format, PJRT_Program, format);
SAME_FIELD(Program, format_size, PJRT_Program, format_size);

SAME_CALL(ClientCompile, PJRT_Client_Compile);
SAME_SIZE(ClientCompile, PJRT_Client_Compile_Args);
SAME_FIELD(ClientCompile, client, PJRT_Client_Compile_Args, client);
SAME_FIELD(ClientCompile, program, PJRT_Client_Compile_Args, program);
SAME_FIELD(ClientCompile, options, PJRT_Client_Compile_Args, compile_options);
SAME_FIELD(ClientCompile, options_size, PJRT_Client_Compile_Args, compile_options_size);
SAME_FIELD(ClientCompile, executable, PJRT_Client_Compile_Args, executable);

SAME_CALL(ClientBufferFromHostBuffer, PJRT_Client_BufferFromHostBuffer);
SAME_SIZE(ClientBufferFromHostBuffer, PJRT_Client_BufferFromHostBuffer_Args);
SAME_FIELD(ClientBufferFromHostBuffer, client, PJRT_Client_BufferFromHostBuffer_Args, client);
SAME_FIELD(ClientBufferFromHostBuffer, data, PJRT_Client_BufferFromHostBuffer_Args, data);
SAME_FIELD(ClientBufferFromHostBuffer, type, PJRT_Client_BufferFromHostBuffer_Args, type);
SAME_FIELD(ClientBufferFromHostBuffer, sizes, PJRT_Client_BufferFromHostBuffer_Args, dims);
SAME_FIELD(ClientBufferFromHostBuffer, rank, PJRT_Client_BufferFromHostBuffer_Args, num_dims);
SAME_FIELD(ClientBufferFromHostBuffer, byte_strides, PJRT_Client_BufferFromHostBuffer_Args,
           byte_strides);
SAME_FIELD(ClientBufferFromHostBuffer, byte_strides_count, PJRT_Client_BufferFromHostBuffer_Args,
           num_byte_strides);
SAME_FIELD(ClientBufferFromHostBuffer, semantics, PJRT_Client_BufferFromHostBuffer_Args,
           host_buffer_semantics);
SAME_FIELD(ClientBufferFromHostBuffer, device, PJRT_Client_BufferFromHostBuffer_Args, device);
SAME_FIELD(ClientBufferFromHostBuffer, memory, PJRT_Client_BufferFromHostBuffer_Args, memory);
SAME_FIELD(ClientBufferFromHostBuffer, device_layout, PJRT_Client_BufferFromHostBuffer_Args,
           device_layout);
SAME_FIELD(ClientBufferFromHostBuffer, done_with_host, PJRT_Client_BufferFromHostBuffer_Args,
           done_with_host_buffer);
SAME_FIELD(ClientBufferFromHostBuffer, buffer, PJRT_Client_BufferFromHostBuffer_Args, buffer);

SAME_CALL(DeviceDescriptionId, PJRT_DeviceDescription_Id);
SAME_SIZE(DeviceDescriptionId, PJRT_DeviceDescription_Id_Args);
SAME_FIELD(DeviceDescriptionId, description, PJRT_DeviceDescription_Id_Args, device_description);
SAME_FIELD(DeviceDescriptionId, id, PJRT_DeviceDescription_Id_Args, id);

SAME_CALL(DeviceDescriptionKind, PJRT_DeviceDescription_Kind);
SAME_SIZE(DeviceDescriptionKind, PJRT_DeviceDescription_Kind_Args);
SAME_FIELD(DeviceDescriptionKind, description, PJRT_DeviceDescription_Kind_Args,
           device_description);
SAME_FIELD(DeviceDescriptionKind, kind, PJRT_DeviceDescription_Kind_Args, device_kind);
SAME_FIELD(DeviceDescriptionKind, kind_size, PJRT_DeviceDescription_Kind_Args, device_kind_size);

SAME_CALL(DeviceGetDescription, PJRT_Device_GetDescription);
SAME_SIZE(DeviceGetDescription, PJRT_Device_GetDescription_Args);
SAME_FIELD(DeviceGetDescription, device, PJRT_Device_GetDescription_Args, device);
SAME_FIELD(DeviceGetDescription, description, PJRT_Device_GetDescription_Args, device_description);

SAME_CALL(DeviceDefaultMemory, PJRT_Device_DefaultMemory);
SAME_SIZE(DeviceDefaultMemory, PJRT_Device_DefaultMemory_Args);
SAME_FIELD(DeviceDefaultMemory, device, PJRT_Device_DefaultMemory_Args, device);
SAME_FIELD(DeviceDefaultMemory, memory, PJRT_Device_DefaultMemory_Args, memory);

SAME_CALL(ExecutableDestroy, PJRT_Executable_Destroy);
SAME_SIZE(ExecutableDestroy, PJRT_Executable_Destroy_Args);
SAME_FIELD(ExecutableDestroy, executable, PJRT_Executable_Destroy_Args, executable);

SAME_CALL(ExecutableNumOutputs, PJRT_Executable_NumOutputs);
SAME_SIZE(ExecutableNumOutputs, PJRT_Executable_NumOutputs_Args);
SAME_FIELD(ExecutableNumOutputs, executable, PJRT_Executable_NumOutputs_Args, executable);
SAME_FIELD(ExecutableNumOutputs, count, PJRT_Executable_NumOutputs_Args, num_outputs);

SAME_CALL(ExecutableOutputElementTypes, PJRT_Executable_OutputElementTypes);
SAME_SIZE(ExecutableOutputElementTypes, PJRT_Executable_OutputElementTypes_Args);
SAME_FIELD(ExecutableOutputElementTypes, executable, PJRT_Executable_OutputElementTypes_Args,
           executable);
SAME_FIELD(ExecutableOutputElementTypes, types, PJRT_Executable_OutputElementTypes_Args,
           output_types);
SAME_FIELD(ExecutableOutputElementTypes, count, PJRT_Executable_OutputElementTypes_Args,
           num_output_types);

SAME_CALL(ExecutableOutputDimensions, PJRT_Executable_OutputDimensions);
SAME_SIZE(ExecutableOutputDimensions, PJRT_Executable_OutputDimensions_Args);
SAME_FIELD(ExecutableOutputDimensions, executable, PJRT_Executable_OutputDimensions_Args,
           executable);
SAME_FIELD(ExecutableOutputDimensions, count, PJRT_Executable_OutputDimensions_Args, num_outputs);
SAME_FIELD(ExecutableOutputDimensions, sizes, PJRT_Executable_OutputDimensions_Args, dims);
SAME_FIELD(ExecutableOutputDimensions, ranks, PJRT_Executable_OutputDimensions_Args, dim_sizes);

SAME_CALL(ExecutableGetCompiledMemoryStats, PJRT_Executable_GetCompiledMemoryStats);
SAME_SIZE(ExecutableGetCompiledMemoryStats, PJRT_Executable_GetCompiledMemoryStats_Args);
SAME_FIELD(ExecutableGetCompiledMemoryStats, executable,
           PJRT_Executable_GetCompiledMemoryStats_Args, executable);
SAME_FIELD(ExecutableGetCompiledMemoryStats, code_bytes,
           PJRT_Executable_GetCompiledMemoryStats_Args, generated_code_size_in_bytes);
SAME_FIELD(ExecutableGetCompiledMemoryStats, argument_bytes,
           PJRT_Executable_GetCompiledMemoryStats_Args, argument_size_in_bytes);
SAME_FIELD(ExecutableGetCompiledMemoryStats, output_bytes,
           PJRT_Executable_GetCompiledMemoryStats_Args, output_size_in_bytes);
SAME_FIELD(ExecutableGetCompiledMemoryStats, alias_bytes,
           PJRT_Executable_GetCompiledMemoryStats_Args, alias_size_in_bytes);
SAME_FIELD(ExecutableGetCompiledMemoryStats, temporary_bytes,
           PJRT_Executable_GetCompiledMemoryStats_Args, temp_size_in_bytes);
SAME_FIELD(ExecutableGetCompiledMemoryStats, host_code_bytes,
           PJRT_Executable_GetCompiledMemoryStats_Args, host_generated_code_size_in_bytes);
SAME_FIELD(ExecutableGetCompiledMemoryStats, host_argument_bytes,
           PJRT_Executable_GetCompiledMemoryStats_Args, host_argument_size_in_bytes);
SAME_FIELD(ExecutableGetCompiledMemoryStats, host_output_bytes,
           PJRT_Executable_GetCompiledMemoryStats_Args, host_output_size_in_bytes);
SAME_FIELD(ExecutableGetCompiledMemoryStats, host_alias_bytes,
           PJRT_Executable_GetCompiledMemoryStats_Args, host_alias_size_in_bytes);
SAME_FIELD(ExecutableGetCompiledMemoryStats, host_temporary_bytes,
           PJRT_Executable_GetCompiledMemoryStats_Args, host_temp_size_in_bytes);
SAME_FIELD(ExecutableGetCompiledMemoryStats, peak_bytes,
           PJRT_Executable_GetCompiledMemoryStats_Args, peak_memory_in_bytes);

SAME_CALL(ExecutableOptimizedProgram, PJRT_Executable_OptimizedProgram);
SAME_SIZE(ExecutableOptimizedProgram, PJRT_Executable_OptimizedProgram_Args);
SAME_FIELD(ExecutableOptimizedProgram, executable, PJRT_Executable_OptimizedProgram_Args,
           executable);
SAME_FIELD(ExecutableOptimizedProgram, program, PJRT_Executable_OptimizedProgram_Args, program);

SAME_CALL(ExecutableSerialize, PJRT_Executable_Serialize);
SAME_SIZE(ExecutableSerialize, PJRT_Executable_Serialize_Args);
SAME_FIELD(ExecutableSerialize, executable, PJRT_Executable_Serialize_Args, executable);
SAME_FIELD(ExecutableSerialize, bytes, PJRT_Executable_Serialize_Args, serialized_bytes);
SAME_FIELD(ExecutableSerialize, bytes_size, PJRT_Executable_Serialize_Args, serialized_bytes_size);
SAME_FIELD(ExecutableSerialize, owner, PJRT_Executable_Serialize_Args, serialized_executable);
SAME_FIELD(ExecutableSerialize, delete_owner, PJRT_Executable_Serialize_Args,
           serialized_executable_deleter);

SAME_CALL(ExecutableDeserializeAndLoad, PJRT_Executable_DeserializeAndLoad);
SAME_SIZE(ExecutableDeserializeAndLoad, PJRT_Executable_DeserializeAndLoad_Args);
SAME_FIELD(ExecutableDeserializeAndLoad, client, PJRT_Executable_DeserializeAndLoad_Args, client);
SAME_FIELD(ExecutableDeserializeAndLoad, bytes, PJRT_Executable_DeserializeAndLoad_Args,
           serialized_executable);
SAME_FIELD(ExecutableDeserializeAndLoad, bytes_size, PJRT_Executable_DeserializeAndLoad_Args,
           serialized_executable_size);
SAME_FIELD(ExecutableDeserializeAndLoad, executable, PJRT_Executable_DeserializeAndLoad_Args,
           loaded_executable);
SAME_FIELD(ExecutableDeserializeAndLoad, options, PJRT_Executable_DeserializeAndLoad_Args,
           overridden_serialized_compile_options);
SAME_FIELD(ExecutableDeserializeAndLoad, options_size, PJRT_Executable_DeserializeAndLoad_Args,
           overridden_serialized_compile_options_size);

SAME_CALL(LoadedExecutableDestroy, PJRT_LoadedExecutable_Destroy);
SAME_SIZE(LoadedExecutableDestroy, PJRT_LoadedExecutable_Destroy_Args);
SAME_FIELD(LoadedExecutableDestroy, executable, PJRT_LoadedExecutable_Destroy_Args, executable);

SAME_CALL(LoadedExecutableGetExecutable, PJRT_LoadedExecutable_GetExecutable);
SAME_SIZE(LoadedExecutableGetExecutable, PJRT_LoadedExecutable_GetExecutable_Args);
SAME_FIELD(LoadedExecutableGetExecutable, loaded, PJRT_LoadedExecutable_GetExecutable_Args,
           loaded_executable);
SAME_FIELD(LoadedExecutableGetExecutable, executable, PJRT_LoadedExecutable_GetExecutable_Args,
           executable);

SAME_SIZE(ExecuteOptions, PJRT_ExecuteOptions);
SAME_FIELD(ExecuteOptions, send_callbacks, PJRT_ExecuteOptions, send_callbacks);
SAME_FIELD(ExecuteOptions, receive_callbacks, PJRT_ExecuteOptions, recv_callbacks);
SAME_FIELD(ExecuteOptions, sends, PJRT_ExecuteOptions, num_send_ops);
SAME_FIELD(ExecuteOptions, receives, PJRT_ExecuteOptions, num_recv_ops);
SAME_FIELD(ExecuteOptions, launch_id, PJRT_ExecuteOptions, launch_id);
SAME_FIELD(ExecuteOptions, not_donated, PJRT_ExecuteOptions, non_donatable_input_indices);
SAME_FIELD(ExecuteOptions, not_donated_count, PJRT_ExecuteOptions, num_non_donatable_input_indices);
SAME_FIELD(ExecuteOptions, context, PJRT_ExecuteOptions, context);
SAME_FIELD(ExecuteOptions, call_location, PJRT_ExecuteOptions, call_location);
SAME_FIELD(ExecuteOptions, tasks, PJRT_ExecuteOptions, num_tasks);
SAME_FIELD(ExecuteOptions, task_ids, PJRT_ExecuteOptions, task_ids);
SAME_FIELD(ExecuteOptions, incarnation_ids, PJRT_ExecuteOptions, incarnation_ids);

SAME_CALL(LoadedExecutableExecute, PJRT_LoadedExecutable_Execute);
SAME_SIZE(LoadedExecutableExecute, PJRT_LoadedExecutable_Execute_Args);
SAME_FIELD(LoadedExecutableExecute, executable, PJRT_LoadedExecutable_Execute_Args, executable);
SAME_FIELD(LoadedExecutableExecute, options, PJRT_LoadedExecutable_Execute_Args, options);
SAME_FIELD(LoadedExecutableExecute, arguments, PJRT_LoadedExecutable_Execute_Args, argument_lists);
SAME_FIELD(LoadedExecutableExecute, devices, PJRT_LoadedExecutable_Execute_Args, num_devices);
SAME_FIELD(LoadedExecutableExecute, arguments_count, PJRT_LoadedExecutable_Execute_Args, num_args);
SAME_FIELD(LoadedExecutableExecute, outputs, PJRT_LoadedExecutable_Execute_Args, output_lists);
SAME_FIELD(LoadedExecutableExecute, complete_events, PJRT_LoadedExecutable_Execute_Args,
           device_complete_events);
SAME_FIELD(LoadedExecutableExecute, execute_device, PJRT_LoadedExecutable_Execute_Args,
           execute_device);

SAME_CALL(BufferDestroy, PJRT_Buffer_Destroy);
SAME_SIZE(BufferDestroy, PJRT_Buffer_Destroy_Args);
SAME_FIELD(BufferDestroy, buffer, PJRT_Buffer_Destroy_Args, buffer);

SAME_CALL(BufferElementType, PJRT_Buffer_ElementType);
SAME_SIZE(BufferElementType, PJRT_Buffer_ElementType_Args);
SAME_FIELD(BufferElementType, buffer, PJRT_Buffer_ElementType_Args, buffer);
SAME_FIELD(BufferElementType, type, PJRT_Buffer_ElementType_Args, type);

SAME_CALL(BufferDimensions, PJRT_Buffer_Dimensions);
SAME_SIZE(BufferDimensions, PJRT_Buffer_Dimensions_Args);
SAME_FIELD(BufferDimensions, buffer, PJRT_Buffer_Dimensions_Args, buffer);
SAME_FIELD(BufferDimensions, sizes, PJRT_Buffer_Dimensions_Args, dims);
SAME_FIELD(BufferDimensions, rank, PJRT_Buffer_Dimensions_Args, num_dims);

SAME_CALL(BufferOnDeviceSizeInBytes, PJRT_Buffer_OnDeviceSizeInBytes);
SAME_SIZE(BufferOnDeviceSizeInBytes, PJRT_Buffer_OnDeviceSizeInBytes_Args);
SAME_FIELD(BufferOnDeviceSizeInBytes, buffer, PJRT_Buffer_OnDeviceSizeInBytes_Args, buffer);
SAME_FIELD(BufferOnDeviceSizeInBytes, bytes, PJRT_Buffer_OnDeviceSizeInBytes_Args,
           on_device_size_in_bytes);

SAME_CALL(BufferDelete, PJRT_Buffer_Delete);
SAME_SIZE(BufferDelete, PJRT_Buffer_Delete_Args);
SAME_FIELD(BufferDelete, buffer, PJRT_Buffer_Delete_Args, buffer);

SAME_CALL(BufferIsDeleted, PJRT_Buffer_IsDeleted);
SAME_SIZE(BufferIsDeleted, PJRT_Buffer_IsDeleted_Args);
SAME_FIELD(BufferIsDeleted, buffer, PJRT_Buffer_IsDeleted_Args, buffer);
SAME_FIELD(BufferIsDeleted, is_deleted, PJRT_Buffer_IsDeleted_Args, is_deleted);

SAME_CALL(BufferIsOnCpu, PJRT_Buffer_IsOnCpu);
SAME_SIZE(BufferIsOnCpu, PJRT_Buffer_IsOnCpu_Args);
SAME_FIELD(BufferIsOnCpu, buffer, PJRT_Buffer_IsOnCpu_Args, buffer);
SAME_FIELD(BufferIsOnCpu, is_on_cpu, PJRT_Buffer_IsOnCpu_Args, is_on_cpu);

SAME_CALL(BufferReadyEvent, PJRT_Buffer_ReadyEvent);
SAME_SIZE(BufferReadyEvent, PJRT_Buffer_ReadyEvent_Args);
SAME_FIELD(BufferReadyEvent, buffer, PJRT_Buffer_ReadyEvent_Args, buffer);
SAME_FIELD(BufferReadyEvent, event, PJRT_Buffer_ReadyEvent_Args, event);

SAME_CALL(BufferIncreaseExternalReferenceCount, PJRT_Buffer_IncreaseExternalReferenceCount);
SAME_SIZE(BufferIncreaseExternalReferenceCount, PJRT_Buffer_IncreaseExternalReferenceCount_Args);
SAME_FIELD(BufferIncreaseExternalReferenceCount, buffer,
           PJRT_Buffer_IncreaseExternalReferenceCount_Args, buffer);

SAME_CALL(BufferDecreaseExternalReferenceCount, PJRT_Buffer_DecreaseExternalReferenceCount);
SAME_SIZE(BufferDecreaseExternalReferenceCount, PJRT_Buffer_DecreaseExternalReferenceCount_Args);
SAME_FIELD(BufferDecreaseExternalReferenceCount, buffer,
           PJRT_Buffer_DecreaseExternalReferenceCount_Args, buffer);

SAME_CALL(BufferOpaqueDeviceMemoryDataPointer, PJRT_Buffer_OpaqueDeviceMemoryDataPointer);
SAME_SIZE(BufferOpaqueDeviceMemoryDataPointer, PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args);
SAME_FIELD(BufferOpaqueDeviceMemoryDataPointer, buffer,
           PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args, buffer);
SAME_FIELD(BufferOpaqueDeviceMemoryDataPointer, pointer,
           PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args, device_memory_ptr);

SAME_CALL(BufferToHostBuffer, PJRT_Buffer_ToHostBuffer);
SAME_SIZE(BufferToHostBuffer, PJRT_Buffer_ToHostBuffer_Args);
SAME_FIELD(BufferToHostBuffer, buffer, PJRT_Buffer_ToHostBuffer_Args, src);
SAME_FIELD(BufferToHostBuffer, layout, PJRT_Buffer_ToHostBuffer_Args, host_layout);
SAME_FIELD(BufferToHostBuffer, target, PJRT_Buffer_ToHostBuffer_Args, dst);
SAME_FIELD(BufferToHostBuffer, target_size, PJRT_Buffer_ToHostBuffer_Args, dst_size);
SAME_FIELD(BufferToHostBuffer, event, PJRT_Buffer_ToHostBuffer_Args, event);

SAME_SIZE(ShapeSpec, PJRT_ShapeSpec);
SAME_FIELD(ShapeSpec, sizes, PJRT_ShapeSpec, dims);
SAME_FIELD(ShapeSpec, rank, PJRT_ShapeSpec, num_dims);
SAME_FIELD(ShapeSpec, type, PJRT_ShapeSpec, element_type);

SAME_CALL(ClientCreateBuffersForAsyncHostToDevice, PJRT_Client_CreateBuffersForAsyncHostToDevice);
SAME_SIZE(ClientCreateBuffersForAsyncHostToDevice,
          PJRT_Client_CreateBuffersForAsyncHostToDevice_Args);
SAME_FIELD(ClientCreateBuffersForAsyncHostToDevice, client,
           PJRT_Client_CreateBuffersForAsyncHostToDevice_Args, client);
SAME_FIELD(ClientCreateBuffersForAsyncHostToDevice, specs,
           PJRT_Client_CreateBuffersForAsyncHostToDevice_Args, shape_specs);
SAME_FIELD(ClientCreateBuffersForAsyncHostToDevice, specs_count,
           PJRT_Client_CreateBuffersForAsyncHostToDevice_Args, num_shape_specs);
SAME_FIELD(ClientCreateBuffersForAsyncHostToDevice, layouts,
           PJRT_Client_CreateBuffersForAsyncHostToDevice_Args, device_layouts);
SAME_FIELD(ClientCreateBuffersForAsyncHostToDevice, layouts_count,
           PJRT_Client_CreateBuffersForAsyncHostToDevice_Args, num_device_layouts);
SAME_FIELD(ClientCreateBuffersForAsyncHostToDevice, memory,
           PJRT_Client_CreateBuffersForAsyncHostToDevice_Args, memory);
SAME_FIELD(ClientCreateBuffersForAsyncHostToDevice, transfers,
           PJRT_Client_CreateBuffersForAsyncHostToDevice_Args, transfer_manager);

SAME_CALL(TransfersDestroy, PJRT_AsyncHostToDeviceTransferManager_Destroy);
SAME_SIZE(TransfersDestroy, PJRT_AsyncHostToDeviceTransferManager_Destroy_Args);
SAME_FIELD(TransfersDestroy, transfers, PJRT_AsyncHostToDeviceTransferManager_Destroy_Args,
           transfer_manager);

SAME_CALL(TransfersTransferData, PJRT_AsyncHostToDeviceTransferManager_TransferData);
SAME_SIZE(TransfersTransferData, PJRT_AsyncHostToDeviceTransferManager_TransferData_Args);
SAME_FIELD(TransfersTransferData, transfers,
           PJRT_AsyncHostToDeviceTransferManager_TransferData_Args, transfer_manager);
SAME_FIELD(TransfersTransferData, index, PJRT_AsyncHostToDeviceTransferManager_TransferData_Args,
           buffer_index);
SAME_FIELD(TransfersTransferData, data, PJRT_AsyncHostToDeviceTransferManager_TransferData_Args,
           data);
SAME_FIELD(TransfersTransferData, offset, PJRT_AsyncHostToDeviceTransferManager_TransferData_Args,
           offset);
SAME_FIELD(TransfersTransferData, size, PJRT_AsyncHostToDeviceTransferManager_TransferData_Args,
           transfer_size);
SAME_FIELD(TransfersTransferData, is_last, PJRT_AsyncHostToDeviceTransferManager_TransferData_Args,
           is_last_transfer);
SAME_FIELD(TransfersTransferData, done, PJRT_AsyncHostToDeviceTransferManager_TransferData_Args,
           done_with_h2d_transfer);

SAME_CALL(TransfersRetrieveBuffer, PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer);
SAME_SIZE(TransfersRetrieveBuffer, PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer_Args);
SAME_FIELD(TransfersRetrieveBuffer, transfers,
           PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer_Args, transfer_manager);
SAME_FIELD(TransfersRetrieveBuffer, index,
           PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer_Args, buffer_index);
SAME_FIELD(TransfersRetrieveBuffer, buffer,
           PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer_Args, buffer_out);

SAME_CALL(TransfersSetBufferError, PJRT_AsyncHostToDeviceTransferManager_SetBufferError);
SAME_SIZE(TransfersSetBufferError, PJRT_AsyncHostToDeviceTransferManager_SetBufferError_Args);
SAME_FIELD(TransfersSetBufferError, transfers,
           PJRT_AsyncHostToDeviceTransferManager_SetBufferError_Args, transfer_manager);
SAME_FIELD(TransfersSetBufferError, index,
           PJRT_AsyncHostToDeviceTransferManager_SetBufferError_Args, buffer_index);
SAME_FIELD(TransfersSetBufferError, code, PJRT_AsyncHostToDeviceTransferManager_SetBufferError_Args,
           error_code);
SAME_FIELD(TransfersSetBufferError, message,
           PJRT_AsyncHostToDeviceTransferManager_SetBufferError_Args, error_message);
SAME_FIELD(TransfersSetBufferError, message_size,
           PJRT_AsyncHostToDeviceTransferManager_SetBufferError_Args, error_message_size);

SAME_NUMBER(ErrorCode::kOk, PJRT_Error_Code_OK);
SAME_NUMBER(ErrorCode::kCancelled, PJRT_Error_Code_CANCELLED);
SAME_NUMBER(ErrorCode::kUnknown, PJRT_Error_Code_UNKNOWN);
SAME_NUMBER(ErrorCode::kInvalidArgument, PJRT_Error_Code_INVALID_ARGUMENT);
SAME_NUMBER(ErrorCode::kDeadlineExceeded, PJRT_Error_Code_DEADLINE_EXCEEDED);
SAME_NUMBER(ErrorCode::kNotFound, PJRT_Error_Code_NOT_FOUND);
SAME_NUMBER(ErrorCode::kAlreadyExists, PJRT_Error_Code_ALREADY_EXISTS);
SAME_NUMBER(ErrorCode::kPermissionDenied, PJRT_Error_Code_PERMISSION_DENIED);
SAME_NUMBER(ErrorCode::kResourceExhausted, PJRT_Error_Code_RESOURCE_EXHAUSTED);
SAME_NUMBER(ErrorCode::kFailedPrecondition, PJRT_Error_Code_FAILED_PRECONDITION);
SAME_NUMBER(ErrorCode::kAborted, PJRT_Error_Code_ABORTED);
SAME_NUMBER(ErrorCode::kOutOfRange, PJRT_Error_Code_OUT_OF_RANGE);
SAME_NUMBER(ErrorCode::kUnimplemented, PJRT_Error_Code_UNIMPLEMENTED);
SAME_NUMBER(ErrorCode::kInternal, PJRT_Error_Code_INTERNAL);
SAME_NUMBER(ErrorCode::kUnavailable, PJRT_Error_Code_UNAVAILABLE);
SAME_NUMBER(ErrorCode::kDataLoss, PJRT_Error_Code_DATA_LOSS);
SAME_NUMBER(ErrorCode::kUnauthenticated, PJRT_Error_Code_UNAUTHENTICATED);
SAME_NUMBER(ElementType::kInvalid, PJRT_Buffer_Type_INVALID);
SAME_NUMBER(ElementType::kPred, PJRT_Buffer_Type_PRED);
SAME_NUMBER(ElementType::kS8, PJRT_Buffer_Type_S8);
SAME_NUMBER(ElementType::kS16, PJRT_Buffer_Type_S16);
SAME_NUMBER(ElementType::kS32, PJRT_Buffer_Type_S32);
SAME_NUMBER(ElementType::kS64, PJRT_Buffer_Type_S64);
SAME_NUMBER(ElementType::kU8, PJRT_Buffer_Type_U8);
SAME_NUMBER(ElementType::kU16, PJRT_Buffer_Type_U16);
SAME_NUMBER(ElementType::kU32, PJRT_Buffer_Type_U32);
SAME_NUMBER(ElementType::kU64, PJRT_Buffer_Type_U64);
SAME_NUMBER(ElementType::kF16, PJRT_Buffer_Type_F16);
SAME_NUMBER(ElementType::kF32, PJRT_Buffer_Type_F32);
SAME_NUMBER(ElementType::kF64, PJRT_Buffer_Type_F64);
SAME_NUMBER(ElementType::kBf16, PJRT_Buffer_Type_BF16);
SAME_NUMBER(ElementType::kC64, PJRT_Buffer_Type_C64);
SAME_NUMBER(ElementType::kC128, PJRT_Buffer_Type_C128);
SAME_NUMBER(OptionType::kString, PJRT_NamedValue_kString);
SAME_NUMBER(OptionType::kInt64, PJRT_NamedValue_kInt64);
SAME_NUMBER(OptionType::kInt64List, PJRT_NamedValue_kInt64List);
SAME_NUMBER(OptionType::kFloat, PJRT_NamedValue_kFloat);
SAME_NUMBER(OptionType::kBool, PJRT_NamedValue_kBool);
SAME_NUMBER(HostBufferSemantics::kImmutableOnlyDuringCall,
            PJRT_HostBufferSemantics_kImmutableOnlyDuringCall);
SAME_NUMBER(HostBufferSemantics::kImmutableUntilTransferCompletes,
            PJRT_HostBufferSemantics_kImmutableUntilTransferCompletes);
SAME_NUMBER(HostBufferSemantics::kImmutableZeroCopy, PJRT_HostBufferSemantics_kImmutableZeroCopy);
SAME_NUMBER(HostBufferSemantics::kMutableZeroCopy, PJRT_HostBufferSemantics_kMutableZeroCopy);

TEST(PjrtAbi, IsWhatTheHeaderOfAPluginSays) {
  // What is above has been compiled.
  EXPECT_GE(std::size_t{PJRT_Api_STRUCT_SIZE}, sizeof(Api));
}

}  // namespace
}  // namespace seaway::pjrt::abi
