// Programs: compiled once for all hosts, described from here, executed without waiting.

#include <algorithm>
#include <cstring>

#include "front/calls.hpp"
#include "pjrt/plugin.hpp"

namespace seaway::front {
namespace {

Status client_compile(abi::ClientCompile& args) {
  const abi::Program& program = *args.program;
  auto executable =
      of(args.client)
          ->compile({program.code, program.code_size}, {program.format, program.format_size},
                    std::string(args.options, args.options_size));
  if (!executable.ok()) return executable.status();
  auto loaded = std::make_unique<LoadedHandle>();
  for (FrontDevice* const device : (*executable)->devices()) {
    loaded->devices.push_back(device->memory.device_handle);
  }
  loaded->executable = std::move(*executable);
  args.executable = reinterpret_cast<abi::LoadedExecutable*>(loaded.release());
  return {};
}

Status loaded_destroy(abi::LoadedExecutableDestroy& args) {
  delete of(args.executable);
  return {};
}

Status loaded_get_executable(abi::LoadedExecutableGetExecutable& args) {
  auto handle = std::make_unique<ExecutableHandle>();
  handle->executable = of(args.loaded)->executable;
  for (const TensorType& type : handle->executable->outputs()) {
    handle->types.push_back(pjrt::element_type(type.dtype));
    handle->sizes.insert(handle->sizes.end(), type.shape.begin(), type.shape.end());
    handle->ranks.push_back(type.shape.size());
    handle->memory_kinds.push_back(kMemoryKind.data());
    handle->memory_kind_sizes.push_back(kMemoryKind.size());
  }
  args.executable = reinterpret_cast<abi::Executable*>(handle.release());
  return {};
}

Status loaded_addressable_devices(abi::LoadedExecutableAddressableDevices& args) {
  args.devices = of(args.executable)->devices.data();
  args.count = of(args.executable)->devices.size();
  return {};
}

Status loaded_delete(abi::LoadedExecutableDelete& args) {
  of(args.executable)->is_deleted = true;
  return {};
}

Status loaded_is_deleted(abi::LoadedExecutableIsDeleted& args) {
  args.is_deleted = of(args.executable)->is_deleted;
  return {};
}

Status loaded_get_device_assignment(abi::LoadedExecutableGetDeviceAssignment& args) {
  const FrontExecutable& executable = *of(args.executable)->executable;
  std::vector<int> ids;
  for (const FrontDevice* const device : executable.devices()) ids.push_back(device->id);
  auto* const bytes = new std::string(pjrt::device_assignment(executable.placing(), ids));
  args.bytes = bytes->data();
  args.bytes_size = bytes->size();
  args.owner = reinterpret_cast<abi::SerializedAssignment*>(bytes);
  args.delete_owner = [](abi::SerializedAssignment* owner) {
    delete reinterpret_cast<std::string*>(owner);
  };
  return {};
}

Status loaded_execute(abi::LoadedExecutableExecute& args) {
  LoadedHandle& loaded = *of(args.executable);
  if (loaded.is_deleted) {
    return invalid_argument("program " + loaded.executable->name() + " has been deleted");
  }
  const auto* const operands = reinterpret_cast<FrontBuffer* const* const*>(args.arguments);
  const abi::ExecuteOptions* const options = args.options;
  std::span<const std::int64_t> not_donated;
  if (options != nullptr) not_donated = {options->not_donated, options->not_donated_count};
  FrontDevice* const device = args.execute_device ? of(args.execute_device) : nullptr;
  auto execution = loaded.executable->execute({operands, args.devices}, args.arguments_count,
                                              not_donated, device);
  if (!execution.ok()) return execution.status();
  for (std::size_t s = 0; s < args.devices; ++s) {
    for (std::size_t i = 0; i < execution->outputs[s].size(); ++i) {
      args.outputs[s][i] = new_buffer(std::move(execution->outputs[s][i]));
    }
    if (args.complete_events == nullptr) continue;
    args.complete_events[s] = execution->recording
                                  ? new_event(execution->recording->done(), execution->recording)
                                  : new_event(execution->run.status());
  }
  return {};
}

Status executable_destroy(abi::ExecutableDestroy& args) {
  delete of(args.executable);
  return {};
}

Status executable_name(abi::ExecutableName& args) {
  const std::string& name = of(args.executable)->executable->name();
  args.name = name.data();
  args.name_size = name.size();
  return {};
}

Status executable_replicas(abi::ExecutableNumReplicas& args) {
  args.count = of(args.executable)->executable->placing().replicas;
  return {};
}

Status executable_partitions(abi::ExecutableNumPartitions& args) {
  args.count = of(args.executable)->executable->placing().partitions;
  return {};
}

Status executable_outputs(abi::ExecutableNumOutputs& args) {
  args.count = of(args.executable)->types.size();
  return {};
}

Status executable_code_bytes(abi::ExecutableSizeOfGeneratedCode& args) {
  args.bytes = -1;  // The hosts' to know.
  return {};
}

Status executable_memory_kinds(abi::ExecutableOutputMemoryKinds& args) {
  const ExecutableHandle& handle = *of(args.executable);
  args.count = handle.memory_kinds.size();
  args.kinds = handle.memory_kinds.data();
  args.kind_sizes = handle.memory_kind_sizes.data();
  return {};
}

Status executable_element_types(abi::ExecutableOutputElementTypes& args) {
  ExecutableHandle& handle = *of(args.executable);
  args.types = handle.types.data();
  args.count = handle.types.size();
  return {};
}

Status executable_dimensions(abi::ExecutableOutputDimensions& args) {
  const ExecutableHandle& handle = *of(args.executable);
  args.count = handle.ranks.size();
  args.sizes = handle.sizes.data();
  args.ranks = handle.ranks.data();
  return {};
}

Status executable_fingerprint(abi::ExecutableFingerprint& args) {
  const std::string& text = of(args.executable)->executable->fingerprint();
  args.fingerprint = text.data();
  args.fingerprint_size = text.size();
  return {};
}

Status executable_optimized_program(abi::ExecutableOptimizedProgram& args) {
  const FrontExecutable& executable = *of(args.executable)->executable;
  const std::string& bytes = executable.description();
  if (bytes.empty()) {
    return unimplemented("the compiled program " + executable.name() +
                         " is too large to be described");
  }
  abi::Program& program = *args.program;
  program.format = executable.description_format().data();
  program.format_size = executable.description_format().size();
  if (program.code == nullptr) {
    program.code_size = bytes.size();
    return {};
  }
  if (program.code_size < bytes.size()) {
    return invalid_argument("the compiled program has " + std::to_string(bytes.size()) +
                            " bytes, and there is room for " + std::to_string(program.code_size));
  }
  std::memcpy(program.code, bytes.data(), bytes.size());
  program.code_size = bytes.size();
  return {};
}

Status executable_memory_stats(abi::ExecutableGetCompiledMemoryStats& args) {
  const FrontExecutable& executable = *of(args.executable)->executable;
  const auto bytes_of = [](std::span<const TensorType> types) {
    std::int64_t bytes = 0;
    for (const TensorType& type : types) bytes += static_cast<std::int64_t>(type.bytes());
    return bytes;
  };
  args.code_bytes = args.alias_bytes = args.temporary_bytes = 0;
  args.host_code_bytes = args.host_argument_bytes = args.host_output_bytes = 0;
  args.host_alias_bytes = args.host_temporary_bytes = 0;
  args.argument_bytes = bytes_of(executable.parameters());
  args.output_bytes = bytes_of(executable.outputs());
  args.peak_bytes = args.argument_bytes + args.output_bytes;
  return {};
}

Status context_create(abi::ExecuteContextCreate& args) {
  args.context = reinterpret_cast<abi::ExecuteContext*>(new char);
  return {};
}

Status context_destroy(abi::ExecuteContextDestroy& args) {
  delete reinterpret_cast<char*>(args.context);
  return {};
}

}  // namespace

void offer_executables(Table& table) {
  table.offer<client_compile>();
  table.offer<loaded_destroy>();
  table.offer<loaded_get_executable>();
  table.offer<loaded_addressable_devices>();
  table.offer<loaded_delete>();
  table.offer<loaded_is_deleted>();
  table.offer<loaded_get_device_assignment>();
  table.offer<loaded_execute>();
  table.offer<executable_destroy>();
  table.offer<executable_name>();
  table.offer<executable_replicas>();
  table.offer<executable_partitions>();
  table.offer<executable_outputs>();
  table.offer<executable_code_bytes>();
  table.offer<executable_memory_kinds>();
  table.offer<executable_element_types>();
  table.offer<executable_dimensions>();
  table.offer<executable_fingerprint>();
  table.offer<executable_optimized_program>();
  table.offer<executable_memory_stats>();
  table.offer<context_create>();
  table.offer<context_destroy>();
}

}  // namespace seaway::front
