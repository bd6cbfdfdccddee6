// The fake plugin's table of functions.

#include "unit/pjrt/fake_plugin.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "pjrt/abi_front.hpp"
#include "unit/pjrt/fake_world.hpp"

namespace seaway::pjrt {
namespace {

template <class T, class Handle>
Handle* handle_of(T* object) {
  return reinterpret_cast<Handle*>(static_cast<FakeObject*>(object));
}

abi::Error* gone(FakeWorld& world) {
  return world.error(abi::ErrorCode::kInvalidArgument, "no such thing");
}

FakeError* error_of(FakeWorld& world, const abi::Error* error) {
  return world.find<FakeError>(error, FakeKind::kError, "an error");
}
FakeEvent* event_of(FakeWorld& world, const abi::Event* event) {
  return world.find<FakeEvent>(event, FakeKind::kEvent, "an event");
}
FakeBuffer* buffer_of(FakeWorld& world, const abi::Buffer* buffer) {
  return world.find<FakeBuffer>(buffer, FakeKind::kBuffer, "a buffer");
}
FakeClient* client_of(FakeWorld& world, const abi::Client* client) {
  return world.find<FakeClient>(client, FakeKind::kClient, "a client");
}
FakeExecutable* loaded_of(FakeWorld& world, const abi::LoadedExecutable* loaded) {
  return world.find<FakeExecutable>(loaded, FakeKind::kLoaded, "a loaded executable");
}
FakeExecutable* executable_of(FakeWorld& world, const abi::Executable* executable) {
  return world.find<FakeExecutable>(executable, FakeKind::kExecutable, "an executable");
}
FakeTransfers* transfers_of(FakeWorld& world, const abi::Transfers* transfers) {
  return world.find<FakeTransfers>(transfers, FakeKind::kTransfers, "a transfer manager");
}

abi::Event* new_event(FakeWorld& world, FakeSignalPtr signal) {
  return handle_of<FakeEvent, abi::Event>(world.make<FakeEvent>(std::move(signal)));
}
abi::Buffer* new_buffer(FakeWorld& world, std::shared_ptr<FakeData> data,
                        const abi::Client* client = nullptr) {
  return handle_of<FakeBuffer, abi::Buffer>(world.make<FakeBuffer>(std::move(data), client));
}
FakeSignalPtr done(FakeWorld& world) {
  auto signal = std::make_shared<FakeSignal>();
  world.set(signal);
  return signal;
}

// Errors fail for nobody.

void error_destroy(abi::ErrorDestroy* args) {
  std::lock_guard guard(fake_world().mutex_);
  if (FakeError* const error = error_of(fake_world(), args->error)) fake_world().destroy(error);
}
void error_message(abi::ErrorMessage* args) {
  std::lock_guard guard(fake_world().mutex_);
  if (const FakeError* const error = error_of(fake_world(), args->error)) {
    args->message = error->message.data();
    args->message_size = error->message.size();
  }
}
abi::Error* body(FakeWorld& world, abi::ErrorGetCode& args) {
  const FakeError* const error = error_of(world, args.error);
  if (error == nullptr) return gone(world);
  args.code = error->code;
  return nullptr;
}

abi::Error* body(FakeWorld&, abi::PluginInitialize&) { return nullptr; }

abi::Error* body(FakeWorld& world, abi::EventDestroy& args) {
  FakeEvent* const event = event_of(world, args.event);
  if (event == nullptr) return gone(world);
  if (!event->signal->is_ready) world.complain("an event ends before it has come");
  if (event->is_of_lent_memory && !event->is_awaited) {
    world.complain("nobody waits for memory that was lent");
  }
  world.destroy(event);
  return nullptr;
}

/// Blocks, and is therefore no body().
abi::Error* event_await(abi::EventAwait* args) {
  FakeWorld& world = fake_world();
  {
    std::lock_guard guard(world.mutex_);
    if (FakeEvent* const event = event_of(world, args->event)) event->is_awaited = true;
  }
  if (abi::Error* const error = world.enter(abi::EventAwait::kCall, args->head.struct_size,
                                            abi::size_of<abi::EventAwait>())) {
    return error;
  }
  std::unique_lock lock(world.mutex_);
  const FakeEvent* const event = event_of(world, args->event);
  if (event == nullptr) return gone(world);
  const FakeSignalPtr signal = event->signal;
  world.changed_.wait(lock, [&] { return signal->is_ready; });
  if (signal->code == abi::ErrorCode::kOk) return nullptr;
  return world.error(signal->code, signal->message);
}

abi::Error* body(FakeWorld& world, abi::ClientCreate& args) {
  std::int64_t devices = 1;
  for (std::size_t i = 0; i < args.options_count; ++i) {
    const abi::Option& option = args.options[i];
    if (std::string_view(option.name, option.name_size) != "cpu_device_count" ||
        option.type != abi::OptionType::kInt64) {
      return world.error(abi::ErrorCode::kInvalidArgument, "unknown option");
    }
    devices = option.number;
  }
  auto* const client = world.make<FakeClient>();
  for (int i = 0; i < devices; ++i) {
    client->devices.push_back(world.make<FakeDevice>(100 + i));  // Ids are no places.
  }
  args.client = handle_of<FakeClient, abi::Client>(client);
  return nullptr;
}

abi::Error* body(FakeWorld& world, abi::ClientDestroy& args) {
  FakeClient* const client = client_of(world, args.client);
  if (client == nullptr) return gone(world);
  world.destroy(client);
  for (FakeDevice* const device : client->devices) world.destroy(device);
  // Of several clients the last one tells.
  for (const auto& [object, kind] : world.alive_) {
    if (kind == FakeKind::kClient) return nullptr;
  }
  for (const auto& [object, kind] : world.alive_) {
    world.complain("the client ends before a thing of kind " +
                   std::to_string(static_cast<int>(kind)));
  }
  return nullptr;
}

abi::Error* body(FakeWorld& world, abi::ClientPlatformName& args) {
  static constexpr std::string_view kName = "fake";
  if (client_of(world, args.client) == nullptr) return gone(world);
  args.name = kName.data();
  args.name_size = kName.size();
  return nullptr;
}

abi::Error* body(FakeWorld& world, abi::ClientPlatformVersion& args) {
  static constexpr std::string_view kVersion = "1";
  if (client_of(world, args.client) == nullptr) return gone(world);
  args.version = kVersion.data();
  args.version_size = kVersion.size();
  return nullptr;
}

abi::Error* body(FakeWorld& world, abi::ClientAddressableDevices& args) {
  const FakeClient* const client = client_of(world, args.client);
  if (client == nullptr) return gone(world);
  static_assert(sizeof(FakeDevice*) == sizeof(abi::Device*));
  args.devices = reinterpret_cast<abi::Device* const*>(client->devices.data());
  args.devices_count = client->devices.size();
  return nullptr;
}

FakeDevice* device_of(FakeWorld& world, const void* device) {
  return world.find<FakeDevice>(device, FakeKind::kDevice, "a device");
}

abi::Error* body(FakeWorld& world, abi::DeviceGetDescription& args) {
  if (device_of(world, args.device) == nullptr) return gone(world);
  args.description = reinterpret_cast<abi::DeviceDescription*>(args.device);
  return nullptr;
}
abi::Error* body(FakeWorld& world, abi::DeviceDefaultMemory& args) {
  if (device_of(world, args.device) == nullptr) return gone(world);
  args.memory = reinterpret_cast<abi::Memory*>(args.device);
  return nullptr;
}
abi::Error* body(FakeWorld& world, abi::DeviceDescriptionId& args) {
  const FakeDevice* const device = device_of(world, args.description);
  if (device == nullptr) return gone(world);
  args.id = device->id;
  return nullptr;
}
abi::Error* body(FakeWorld& world, abi::DeviceDescriptionKind& args) {
  static constexpr std::string_view kKind = "fake device";
  if (device_of(world, args.description) == nullptr) return gone(world);
  args.kind = kKind.data();
  args.kind_size = kKind.size();
  return nullptr;
}

abi::LoadedExecutable* new_loaded(FakeWorld& world, FakeProgram program,
                                  const abi::Client* client) {
  return handle_of<FakeExecutable, abi::LoadedExecutable>(
      world.make<FakeExecutable>(FakeKind::kLoaded, std::move(program), client));
}

abi::Error* body(FakeWorld& world, abi::ClientCompile& args) {
  if (client_of(world, args.client) == nullptr) return gone(world);
  FakeProgram program = read_program({args.program->code, args.program->code_size},
                                     {args.options, args.options_size});
  if (!program.is_readable || program.outputs.empty()) {
    return world.error(abi::ErrorCode::kInvalidArgument, "this is no program");
  }
  args.executable = new_loaded(world, std::move(program), args.client);
  return nullptr;
}

abi::Error* body(FakeWorld& world, abi::LoadedExecutableGetExecutable& args) {
  const FakeExecutable* const loaded = loaded_of(world, args.loaded);
  if (loaded == nullptr) return gone(world);
  auto* const executable = world.make<FakeExecutable>(FakeKind::kExecutable, loaded->program);
  for (const FakeType& type : loaded->program.outputs) {
    executable->types.push_back(type.type);
    executable->sizes.insert(executable->sizes.end(), type.sizes.begin(), type.sizes.end());
    if (world.lies_about_types_) executable->sizes.push_back(1);
    executable->ranks.push_back(type.sizes.size() + (world.lies_about_types_ ? 1 : 0));
  }
  args.executable = handle_of<FakeExecutable, abi::Executable>(executable);
  return nullptr;
}

abi::Error* body(FakeWorld& world, abi::LoadedExecutableDestroy& args) {
  FakeExecutable* const loaded = loaded_of(world, args.executable);
  if (loaded == nullptr) return gone(world);
  world.destroy(loaded);
  return nullptr;
}
abi::Error* body(FakeWorld& world, abi::ExecutableDestroy& args) {
  FakeExecutable* const executable = executable_of(world, args.executable);
  if (executable == nullptr) return gone(world);
  world.destroy(executable);
  return nullptr;
}
abi::Error* body(FakeWorld& world, abi::ExecutableNumOutputs& args) {
  const FakeExecutable* const executable = executable_of(world, args.executable);
  if (executable == nullptr) return gone(world);
  args.count = executable->types.size();
  return nullptr;
}
abi::Error* body(FakeWorld& world, abi::ExecutableOutputElementTypes& args) {
  FakeExecutable* const executable = executable_of(world, args.executable);
  if (executable == nullptr) return gone(world);
  args.types = executable->types.data();
  args.count = executable->types.size();
  return nullptr;
}
abi::Error* body(FakeWorld& world, abi::ExecutableOutputDimensions& args) {
  const FakeExecutable* const executable = executable_of(world, args.executable);
  if (executable == nullptr) return gone(world);
  args.count = executable->types.size();
  args.sizes = executable->sizes.data();
  args.ranks = executable->ranks.data();
  return nullptr;
}
abi::Error* body(FakeWorld& world, abi::ExecutableGetCompiledMemoryStats& args) {
  if (executable_of(world, args.executable) == nullptr) return gone(world);
  args.temporary_bytes = 100;
  return nullptr;
}

abi::Error* body(FakeWorld& world, abi::ExecutableOptimizedProgram& args) {
  static constexpr std::string_view kFormat = "hlo";
  FakeExecutable* const executable = executable_of(world, args.executable);
  if (executable == nullptr) return gone(world);
  executable->description = describe(executable->program, world.kernels_, world.operations_);
  args.program->format = kFormat.data();
  args.program->format_size = kFormat.size();
  if (args.program->code != nullptr) {
    std::memcpy(args.program->code, executable->description.data(), executable->description.size());
  }
  args.program->code_size = executable->description.size();
  return nullptr;
}

constexpr std::string_view kSerializedBegin = "fake program of ";

abi::Error* body(FakeWorld& world, abi::ExecutableSerialize& args) {
  const FakeExecutable* const executable = executable_of(world, args.executable);
  if (executable == nullptr) return gone(world);
  auto* const serialized = world.make<FakeSerialized>();
  const FakeProgram& program = executable->program;
  serialized->bytes = std::string(kSerializedBegin) + std::to_string(program.options.size()) +
                      "\n" + program.options + program.text;
  args.bytes = serialized->bytes.data();
  args.bytes_size = serialized->bytes.size();
  args.owner = handle_of<FakeSerialized, abi::SerializedProgram>(serialized);
  args.delete_owner = [](abi::SerializedProgram* owner) {
    FakeWorld& here = fake_world();
    std::lock_guard guard(here.mutex_);
    auto* const found =
        here.find<FakeSerialized>(owner, FakeKind::kSerialized, "a serialized program");
    if (found != nullptr) here.destroy(found);
  };
  return nullptr;
}

abi::Error* body(FakeWorld& world, abi::ExecutableDeserializeAndLoad& args) {
  if (client_of(world, args.client) == nullptr) return gone(world);
  const std::string bytes(args.bytes, args.bytes_size);
  const std::size_t line = bytes.find('\n');
  if (!bytes.starts_with(kSerializedBegin) || line == std::string::npos) {
    return world.error(abi::ErrorCode::kInvalidArgument, "this is no serialized program");
  }
  const std::size_t options = std::stoul(bytes.substr(kSerializedBegin.size()));
  args.executable = new_loaded(
      world, read_program(bytes.substr(line + 1 + options), bytes.substr(line + 1, options)),
      args.client);
  return nullptr;
}

abi::Error* body(FakeWorld& world, abi::ClientBufferFromHostBuffer& args) {
  const FakeDevice* const device = device_of(world, args.device);
  if (client_of(world, args.client) == nullptr || device == nullptr) return gone(world);
  if (args.data == nullptr) world.complain("a buffer is made of nothing");
  auto data = world.new_data({args.type, {args.sizes, args.sizes + args.rank}}, device->id);
  if (!data->bytes.empty()) std::memcpy(data->bytes.data(), args.data, data->bytes.size());
  data->ready = done(world);
  data->released = std::make_shared<FakeSignal>();
  if (args.semantics == abi::HostBufferSemantics::kImmutableZeroCopy && world.shares_memory_) {
    data->lent = static_cast<const std::byte*>(args.data);
    data->on_end = [&world](FakeData& ending) {
      const std::size_t bytes = ending.bytes.size();
      if (bytes > 0 && std::memcmp(ending.lent, ending.bytes.data(), bytes) != 0) {
        world.complain("memory that was lent has changed meanwhile");
      }
      world.set(ending.released);
    };
  } else {
    world.set(data->released);
  }
  args.done_with_host = new_event(world, data->released);
  event_of(world, args.done_with_host)->is_of_lent_memory = data->lent != nullptr;
  args.buffer = new_buffer(world, std::move(data), args.client);
  return nullptr;
}

abi::Error* body(FakeWorld& world, abi::BufferDestroy& args) {
  FakeBuffer* const buffer = buffer_of(world, args.buffer);
  if (buffer == nullptr) return gone(world);
  buffer->data.reset();
  world.destroy(buffer);
  return nullptr;
}
/// Of one whose value is there.
const FakeData* data_of(FakeWorld& world, abi::Buffer* handle) {
  const FakeBuffer* const buffer = buffer_of(world, handle);
  const bool is_there = buffer != nullptr && buffer->data && buffer->data->ready->is_ready;
  return is_there ? buffer->data.get() : nullptr;
}
abi::Error* body(FakeWorld& world, abi::BufferOnDeviceSizeInBytes& args) {
  const FakeData* const data = data_of(world, args.buffer);
  if (data == nullptr) return gone(world);
  args.bytes = data->bytes.size() + (world.lies_about_sizes_ ? 1 : 0);
  return nullptr;
}
abi::Error* body(FakeWorld& world, abi::BufferGetMemoryLayout& args) {
  static constexpr std::int64_t kRowMajor[] = {7, 6, 5, 4, 3, 2, 1, 0};
  const FakeData* const data = data_of(world, args.buffer);
  if (data == nullptr) return gone(world);
  const std::size_t rank = data->type.sizes.size();
  args.layout.tiled.minor_to_major = std::end(kRowMajor) - rank;
  args.layout.tiled.minor_to_major_size = rank;
  return nullptr;
}
abi::Error* body(FakeWorld& world, abi::BufferOpaqueDeviceMemoryDataPointer& args) {
  const FakeData* const data = data_of(world, args.buffer);
  if (data == nullptr) return gone(world);
  args.pointer = const_cast<std::byte*>(data->data());
  return nullptr;
}
abi::Error* body(FakeWorld& world, abi::BufferIsOnCpu& args) {
  if (buffer_of(world, args.buffer) == nullptr) return gone(world);
  args.is_on_cpu = world.shares_memory_;
  return nullptr;
}

abi::Error* body(FakeWorld& world, abi::BufferToHostBuffer& args) {
  const FakeBuffer* const buffer = buffer_of(world, args.buffer);
  if (buffer == nullptr || !buffer->data) return gone(world);
  const auto data = buffer->data;
  const std::size_t size = data->bytes.size() + (world.lies_about_sizes_ ? 1 : 0);
  if (args.target == nullptr) {
    args.target_size = size;
    return nullptr;
  }
  if (args.target_size < size) {
    return world.error(abi::ErrorCode::kInvalidArgument, "the target is too small");
  }
  auto signal = std::make_shared<FakeSignal>();
  args.event = new_event(world, signal);
  const auto copy = [&world, data, signal, target = args.target] {
    if (data->ready->code == abi::ErrorCode::kOk && !data->bytes.empty()) {
      if (!data->bytes.empty()) std::memcpy(target, data->data(), data->bytes.size());
    }
    world.set(signal, data->ready->code, data->ready->message);
  };
  if (data->ready->is_ready) {
    copy();
  } else {
    data->ready->waiting.push_back([&world, copy] {
      std::lock_guard guard(world.mutex_);
      copy();
    });
  }
  return nullptr;
}

abi::Error* body(FakeWorld& world, abi::ClientCreateBuffersForAsyncHostToDevice& args) {
  const FakeDevice* const device = device_of(world, args.memory);
  if (client_of(world, args.client) == nullptr || device == nullptr) return gone(world);
  auto* const transfers = world.make<FakeTransfers>();
  for (std::size_t i = 0; i < args.specs_count; ++i) {
    const abi::ShapeSpec& spec = args.specs[i];
    transfers->promised.push_back(
        world.new_data({spec.type, {spec.sizes, spec.sizes + spec.rank}}, device->id));
  }
  args.transfers = handle_of<FakeTransfers, abi::Transfers>(transfers);
  return nullptr;
}

/// A promise that is still one, or null and a complaint.
std::shared_ptr<FakeData> promise_of(FakeWorld& world, const abi::Transfers* handle, int index) {
  const FakeTransfers* const transfers = transfers_of(world, handle);
  if (transfers == nullptr) return nullptr;
  if (index < 0 || static_cast<std::size_t>(index) >= transfers->promised.size()) {
    world.complain("a promise that does not exist");
    return nullptr;
  }
  return transfers->promised[static_cast<std::size_t>(index)];
}

abi::Error* body(FakeWorld& world, abi::TransfersRetrieveBuffer& args) {
  auto data = promise_of(world, args.transfers, args.index);
  if (!data) return gone(world);
  args.buffer = new_buffer(world, std::move(data));
  return nullptr;
}
abi::Error* body(FakeWorld& world, abi::TransfersTransferData& args) {
  const auto data = promise_of(world, args.transfers, args.index);
  if (!data) return gone(world);
  if (args.offset != 0 || static_cast<std::size_t>(args.size) != data->bytes.size() ||
      args.data == nullptr || !args.is_last) {
    world.complain("a promise is kept with bytes that are not its own");
    return gone(world);
  }
  if (!data->bytes.empty()) std::memcpy(data->bytes.data(), args.data, data->bytes.size());
  world.set(data->ready);
  args.done = new_event(world, data->ready);
  return nullptr;
}
abi::Error* body(FakeWorld& world, abi::TransfersSetBufferError& args) {
  const auto data = promise_of(world, args.transfers, args.index);
  if (!data) return gone(world);
  world.set(data->ready, args.code, {args.message, args.message_size});
  return nullptr;
}
abi::Error* body(FakeWorld& world, abi::TransfersDestroy& args) {
  FakeTransfers* const transfers = transfers_of(world, args.transfers);
  if (transfers == nullptr) return gone(world);
  for (const auto& data : std::exchange(transfers->promised, {})) {
    // Whoever waits for it would wait for ever.
    if (!data->ready->is_ready && data.use_count() > 1) {
      world.complain("a promise is neither kept nor broken");
    }
  }
  world.destroy(transfers);
  return nullptr;
}

/// Takes one operand of a program over; what is wrong with it, or nothing.
std::string take(FakeWorld& world, const FakeProgram& program, std::size_t index, int device,
                 bool may_be_donated, FakeBuffer& buffer, FakeRun& run) {
  if (!buffer.data) return "an operand is deleted or donated";
  if (buffer.data->device != device) return "an operand is on another device";
  if (!(buffer.data->type == program.parameters[index])) {
    world.complain("operand " + std::to_string(index) + " is of another type");
  }
  run.operands.back().push_back(buffer.data);
  if (!program.is_donated[index] || !may_be_donated) return {};
  if (buffer.data->lent != nullptr) world.complain("memory that was lent is donated");
  buffer.data.reset();
  return {};
}

abi::Error* body(FakeWorld& world, abi::LoadedExecutableExecute& args) {
  const FakeExecutable* const loaded = loaded_of(world, args.executable);
  if (loaded == nullptr) return gone(world);
  const FakeProgram& program = loaded->program;
  const bool is_gang = !program.devices.empty();
  if (args.devices != std::max<std::size_t>(program.devices.size(), 1) ||
      args.arguments_count != program.parameters.size() ||
      is_gang != (args.execute_device == nullptr)) {
    return world.error(abi::ErrorCode::kInvalidArgument, "another number of operands or devices");
  }
  if (is_gang) {
    if (args.options->launch_id == 0) world.complain("a gang without a launch number");
    world.launches_.push_back(args.options->launch_id);
  }
  auto run = std::make_shared<FakeRun>();
  run->program = program;
  for (std::size_t d = 0; d < args.devices; ++d) {
    const FakeDevice* const named = is_gang ? nullptr : device_of(world, args.execute_device);
    if (!is_gang && named == nullptr) return gone(world);
    const int device = is_gang ? program.devices[d] : named->id;
    run->operands.emplace_back();
    run->outputs.emplace_back();
    for (std::size_t i = 0; i < args.arguments_count; ++i) {
      FakeBuffer* const buffer = buffer_of(world, args.arguments[d][i]);
      if (buffer == nullptr) return gone(world);
      if (buffer->client != nullptr && buffer->client != loaded->client) {
        world.complain("a program reads a buffer of another client");
      }
      const std::int64_t* const kept = args.options->not_donated;
      const std::int64_t* const kept_end = kept + args.options->not_donated_count;
      const bool may_be_donated =
          std::find(kept, kept_end, static_cast<std::int64_t>(i)) == kept_end;
      const std::string wrong = take(world, program, i, device, may_be_donated, *buffer, *run);
      if (!wrong.empty()) return world.error(abi::ErrorCode::kInvalidArgument, wrong);
    }
    for (std::size_t i = 0; i < program.outputs.size(); ++i) {
      run->outputs.back().push_back(world.new_data(program.outputs[i], device));
      args.outputs[d][i] = new_buffer(world, run->outputs.back().back(), loaded->client);
    }
    run->complete.push_back(std::make_shared<FakeSignal>());
    args.complete_events[d] = new_event(world, run->complete.back());
  }
  world.enqueue(std::move(run));
  return nullptr;
}

template <class Args>
abi::Error* entry(Args* args) {
  FakeWorld& world = fake_world();
  abi::Error* error = world.enter(Args::kCall, args->head.struct_size, abi::size_of<Args>());
  if (error != nullptr) return error;
  std::vector<std::function<void()>> calls;
  {
    std::lock_guard guard(world.mutex_);
    error = body(world, *args);
    calls = world.take_calls();
  }
  for (const auto& one : calls) one();
  return error;
}

template <class Args>
void put(abi::Api& api, void (*function)()) {
  api.calls[static_cast<std::size_t>(Args::kCall)] = function;
}
template <class... Args>
void put_all(abi::Api& api) {
  (put<Args>(api, reinterpret_cast<void (*)()>(&entry<Args>)), ...);
}

abi::Api make_api() {
  abi::Api api = {};
  api.head.struct_size = sizeof(abi::Api);
  api.version.head.struct_size = abi::size_of<abi::Version>();
  api.version.major = 0;
  api.version.minor = 81;
  put<abi::ErrorDestroy>(api, reinterpret_cast<void (*)()>(&error_destroy));
  put<abi::ErrorMessage>(api, reinterpret_cast<void (*)()>(&error_message));
  put<abi::EventAwait>(api, reinterpret_cast<void (*)()>(&event_await));
  put_all<abi::ErrorGetCode, abi::PluginInitialize, abi::EventDestroy, abi::ClientCreate,
          abi::ClientDestroy, abi::ClientPlatformName, abi::ClientPlatformVersion,
          abi::ClientAddressableDevices, abi::DeviceGetDescription, abi::DeviceDefaultMemory,
          abi::DeviceDescriptionId, abi::DeviceDescriptionKind, abi::ClientCompile,
          abi::LoadedExecutableGetExecutable, abi::LoadedExecutableDestroy, abi::ExecutableDestroy,
          abi::ExecutableNumOutputs, abi::ExecutableOutputElementTypes,
          abi::ExecutableOutputDimensions, abi::ExecutableGetCompiledMemoryStats,
          abi::ExecutableOptimizedProgram, abi::ExecutableSerialize,
          abi::ExecutableDeserializeAndLoad, abi::ClientBufferFromHostBuffer, abi::BufferDestroy,
          abi::BufferIsOnCpu, abi::BufferOnDeviceSizeInBytes, abi::BufferGetMemoryLayout,
          abi::BufferOpaqueDeviceMemoryDataPointer, abi::BufferToHostBuffer,
          abi::ClientCreateBuffersForAsyncHostToDevice, abi::TransfersRetrieveBuffer,
          abi::TransfersTransferData, abi::TransfersSetBufferError, abi::TransfersDestroy,
          abi::LoadedExecutableExecute>(api);
  return api;
}

}  // namespace
}  // namespace seaway::pjrt

extern "C" __attribute__((visibility("default"))) const seaway::pjrt::abi::Api* GetPjrtApi() {
  static const seaway::pjrt::abi::Api api = seaway::pjrt::make_api();
  return &api;
}

extern "C" __attribute__((visibility("default"))) seaway::pjrt::FakePlugin* seaway_fake_plugin() {
  return &seaway::pjrt::fake_world();
}
