// The calls behind Client, each checked before and after.

#include "pjrt/client.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/check.hpp"
#include "pjrt/abi_front.hpp"

namespace seaway::pjrt {
namespace {

constexpr std::string_view kDeviceCount = "cpu_device_count";
constexpr std::pair<DType, abi::ElementType> kElementTypes[] = {
    {DType::kF32, abi::ElementType::kF32},   {DType::kI32, abi::ElementType::kS32},
    {DType::kBool, abi::ElementType::kPred}, {DType::kI8, abi::ElementType::kS8},
    {DType::kI16, abi::ElementType::kS16},   {DType::kI64, abi::ElementType::kS64},
    {DType::kU8, abi::ElementType::kU8},     {DType::kU16, abi::ElementType::kU16},
    {DType::kU32, abi::ElementType::kU32},   {DType::kU64, abi::ElementType::kU64},
    {DType::kF16, abi::ElementType::kF16},   {DType::kBf16, abi::ElementType::kBf16},
    {DType::kF64, abi::ElementType::kF64},   {DType::kC64, abi::ElementType::kC64},
    {DType::kC128, abi::ElementType::kC128}};

}  // namespace

abi::ElementType element_type(DType dtype) {
  for (const auto& [ours, theirs] : kElementTypes) {
    if (ours == dtype) return theirs;
  }
  return abi::ElementType::kInvalid;
}

Result<DType> dtype_of(abi::ElementType type) {
  for (const auto& [ours, theirs] : kElementTypes) {
    if (theirs == type) return ours;
  }
  return unimplemented("elements of PJRT's type " + std::to_string(static_cast<int>(type)) +
                       " are none that Seaway's arrays have (see seaway/types.hpp)");
}

namespace {

Status wrong_size(std::size_t given, std::size_t wanted) {
  return protocol_error("the plugin gives " + std::to_string(given) + " bytes for an output of " +
                        std::to_string(wanted));
}

/// `text` may be null.
std::string string_of(const char* text, std::size_t size) {
  return text == nullptr ? std::string() : std::string(text, size);
}

}  // namespace

Result<std::shared_ptr<Client>> Client::make(Plugin plugin, std::uint32_t devices) {
  std::shared_ptr<Client> client(new Client(std::move(plugin)));
  abi::Option option;
  option.head.struct_size = abi::size_of<abi::Option>();
  option.name = kDeviceCount.data();
  option.name_size = kDeviceCount.size();
  option.number = devices;
  abi::ClientCreate create;
  create.options = &option;
  create.options_count = 1;
  Status status = call(client->api(), create);
  if (status.code() == StatusCode::kInvalidArgument ||
      status.code() == StatusCode::kUnimplemented) {
    create = {};  // Its devices are not of its own making, perhaps.
    status = call(client->api(), create);
  }
  if (status.ok() && create.client == nullptr) status = protocol_error("it gave no client");
  if (!status.ok()) {
    return Status(status.code(),
                  "plugin " + client->plugin_.path() + " makes no client: " + status.message());
  }
  client->client_ = create.client;
  if (status = client->look_at_devices(devices); !status.ok()) return status;
  if (status = client->look_at_memory(); !status.ok()) return status;
  return client;
}

Client::~Client() {
  if (client_ == nullptr) return;
  abi::ClientDestroy args;
  args.client = client_;
  (void)call(api(), args);  // It is gone in any case.
}

Status Client::look_at_devices(std::uint32_t wanted) {
  abi::ClientPlatformName name;
  name.client = client_;
  if (Status status = call(api(), name); !status.ok()) return status;
  abi::ClientPlatformVersion version;
  version.client = client_;
  if (Status status = call(api(), version); !status.ok()) return status;
  identity_ = plugin_.path() + "\n" + plugin_.version() + "\n" +
              string_of(name.name, name.name_size) + "\n" +
              string_of(version.version, version.version_size);
  abi::ClientAddressableDevices args;
  args.client = client_;
  if (Status status = call(api(), args); !status.ok()) return status;
  if (args.devices_count < wanted || wanted == 0) {
    return invalid_argument("plugin " + plugin_.path() + " has " +
                            std::to_string(args.devices_count) + " devices, and " +
                            std::to_string(wanted) + " are wanted: ask for fewer");
  }
  for (std::uint32_t i = 0; i < wanted; ++i) {
    PluginDevice device;
    device.device = args.devices[i];
    abi::DeviceGetDescription description;
    description.device = device.device;
    if (Status status = call(api(), description); !status.ok()) return status;
    abi::DeviceDescriptionId id;
    id.description = description.description;
    if (Status status = call(api(), id); !status.ok()) return status;
    abi::DeviceDescriptionKind kind;
    kind.description = description.description;
    if (Status status = call(api(), kind); !status.ok()) return status;
    abi::DeviceDefaultMemory memory;
    memory.device = device.device;
    if (Status status = call(api(), memory); !status.ok()) return status;
    device.id = id.id;
    device.kind = string_of(kind.kind, kind.kind_size);
    device.memory = memory.memory;
    devices_.push_back(std::move(device));
  }
  return {};
}

/// A small buffer tells: nothing else of the interface does.
Status Client::look_at_memory() {
  alignas(64) const std::byte number[64] = {};
  auto lent = lend(devices_[0], {DType::kF32, {}}, number);
  if (!lent.ok()) return lent.status();
  abi::BufferIsOnCpu args;
  args.buffer = lent->buffer.get();
  Status status = call(api(), args);
  shares_host_memory_ = args.is_on_cpu;
  lent->buffer.reset();
  Status released = await(lent->released);  // The number is on this stack.
  return status.ok() ? released : status;
}

Result<Code> Client::compile(const std::string& text, const std::string& options,
                             std::string_view format) const {
  std::string code = text;
  abi::Program program;
  program.head.struct_size = abi::size_of<abi::Program>();
  program.code = code.data();
  program.code_size = code.size();
  program.format = format.data();
  program.format_size = format.size();
  abi::ClientCompile args;
  args.client = client_;
  args.program = &program;
  args.options = options.data();
  args.options_size = options.size();
  if (Status status = call(api(), args); !status.ok()) return status;
  if (args.executable == nullptr) return protocol_error("the plugin gave no executable");
  return look_at(LoadedExecutable(api(), args.executable));
}

Result<Description> Client::describe(const Code& code) const {
  abi::Program program;
  program.head.struct_size = abi::size_of<abi::Program>();
  abi::ExecutableOptimizedProgram args;
  args.executable = code.info.get();
  args.program = &program;
  if (Status status = call(api(), args); !status.ok()) return status;
  Description description;
  description.bytes.resize(program.code_size);
  program.code = description.bytes.data();
  if (Status status = call(api(), args); !status.ok()) return status;
  description.bytes.resize(std::min(description.bytes.size(), program.code_size));
  description.format = string_of(program.format, program.format_size);
  const bool has_config = description.format == "hlo_with_config";
  if (!has_config && description.format != "hlo") {
    return unimplemented("the plugin describes programs in format \"" + description.format +
                         "\", where \"hlo\" is understood");
  }
  auto read = read_hlo(description.bytes, has_config);
  if (!read.ok()) return read.status();
  description.program = std::move(*read);
  return description;
}

Result<Code> Client::load(std::string_view serialized) const {
  abi::ExecutableDeserializeAndLoad args;
  args.client = client_;
  args.bytes = serialized.data();
  args.bytes_size = serialized.size();
  if (Status status = call(api(), args); !status.ok()) return status;
  if (args.executable == nullptr) return protocol_error("the plugin gave no executable");
  return look_at(LoadedExecutable(api(), args.executable));
}

Result<Code> Client::look_at(LoadedExecutable loaded) const {
  Code code;
  code.loaded = std::move(loaded);
  abi::LoadedExecutableGetExecutable get;
  get.loaded = code.loaded.get();
  if (Status status = call(api(), get); !status.ok()) return status;
  code.info = ExecutableInfo(api(), get.executable);
  abi::ExecutableNumOutputs count;
  count.executable = code.info.get();
  if (Status status = call(api(), count); !status.ok()) return status;
  abi::ExecutableOutputElementTypes types;
  types.executable = code.info.get();
  if (Status status = call(api(), types); !status.ok()) return status;
  abi::ExecutableOutputDimensions sizes;
  sizes.executable = code.info.get();
  if (Status status = call(api(), sizes); !status.ok()) return status;
  if (types.count != count.count || sizes.count != count.count) {
    return protocol_error("the plugin says that one program has " + std::to_string(count.count) +
                          ", " + std::to_string(types.count) + " and " +
                          std::to_string(sizes.count) + " outputs");
  }
  const std::int64_t* size = sizes.sizes;
  for (std::size_t i = 0; i < count.count; ++i) {
    auto dtype = dtype_of(types.types[i]);
    if (!dtype.ok()) return dtype.status();
    code.outputs.push_back({*dtype, Shape(size, size + sizes.ranks[i])});
    size += sizes.ranks[i];
  }
  abi::ExecutableGetCompiledMemoryStats stats;
  stats.executable = code.info.get();
  // Not all plugins know it.
  if (call(api(), stats).ok() && stats.temporary_bytes > 0) {
    code.temporary_bytes = static_cast<std::uint64_t>(stats.temporary_bytes);
  }
  return code;
}

Result<std::string> Client::serialize(const Code& code) const {
  abi::ExecutableSerialize args;
  args.executable = code.info.get();
  if (Status status = call(api(), args); !status.ok()) return status;
  std::string bytes = string_of(args.bytes, args.bytes_size);
  if (args.owner != nullptr && args.delete_owner != nullptr) args.delete_owner(args.owner);
  return bytes;
}

Result<LentBuffer> Client::lend(const PluginDevice& device, const TensorType& type,
                                const std::byte* data) const {
  SEAWAY_CHECK(data != nullptr);
  abi::ClientBufferFromHostBuffer args;
  args.client = client_;
  args.data = data;
  args.type = element_type(type.dtype);
  args.sizes = type.shape.data();
  args.rank = type.shape.size();
  args.semantics = abi::HostBufferSemantics::kImmutableZeroCopy;
  args.device = device.device;
  if (Status status = call(api(), args); !status.ok()) return status;
  LentBuffer lent{Event(api(), args.done_with_host), Buffer(api(), args.buffer)};
  if (!lent.released || !lent.buffer) return protocol_error("the plugin gave no buffer");
  return lent;
}

Result<Promises> Client::promise(const PluginDevice& device,
                                 std::span<const TensorType> types) const {
  std::vector<abi::ShapeSpec> specs(types.size());
  for (std::size_t i = 0; i < types.size(); ++i) {
    specs[i].head.struct_size = abi::size_of<abi::ShapeSpec>();
    specs[i].sizes = types[i].shape.data();
    specs[i].rank = types[i].shape.size();
    specs[i].type = element_type(types[i].dtype);
  }
  abi::ClientCreateBuffersForAsyncHostToDevice args;
  args.client = client_;
  args.specs = specs.data();
  args.specs_count = specs.size();
  args.memory = device.memory;
  if (Status status = call(api(), args); !status.ok()) return status;
  Promises promises;
  promises.transfers = Transfers(api(), args.transfers);
  for (std::size_t i = 0; i < types.size(); ++i) {
    abi::TransfersRetrieveBuffer retrieve;
    retrieve.transfers = args.transfers;
    retrieve.index = static_cast<int>(i);
    if (Status status = call(api(), retrieve); !status.ok()) return status;
    promises.buffers.emplace_back(api(), retrieve.buffer);
  }
  return promises;
}

Result<Event> Client::fulfil(const Promises& promises, std::size_t index, const std::byte* data,
                             std::size_t bytes) const {
  SEAWAY_CHECK(data != nullptr && bytes <= std::numeric_limits<std::int64_t>::max(), bytes);
  abi::TransfersTransferData args;
  args.transfers = promises.transfers.get();
  args.index = static_cast<int>(index);
  args.data = data;
  args.size = static_cast<std::int64_t>(bytes);
  if (Status status = call(api(), args); !status.ok()) return status;
  return Event(api(), args.done);
}

Status Client::poison(const Promises& promises, std::size_t index, const Status& cause) const {
  const std::string message = cause.to_string();
  abi::TransfersSetBufferError args;
  args.transfers = promises.transfers.get();
  args.index = static_cast<int>(index);
  args.code = abi::ErrorCode::kInternal;
  args.message = message.data();
  args.message_size = message.size();
  return call(api(), args);
}

Result<std::byte*> Client::address_of(const Buffer& buffer, const TensorType& type) const {
  abi::BufferOnDeviceSizeInBytes size;
  size.buffer = buffer.get();
  if (Status status = call(api(), size); !status.ok()) return nullptr;
  if (size.bytes != type.bytes()) return wrong_size(size.bytes, type.bytes());
  if (type.shape.size() > 1) {
    abi::BufferGetMemoryLayout layout;
    layout.buffer = buffer.get();
    if (Status status = call(api(), layout); !status.ok()) return nullptr;
    const abi::TiledLayout& tiled = layout.layout.tiled;
    if (layout.layout.type != abi::LayoutType::kTiled || tiled.tiles > 0) return nullptr;
    for (std::size_t i = 0; i < tiled.minor_to_major_size; ++i) {
      const auto row_major = static_cast<std::int64_t>(tiled.minor_to_major_size - 1 - i);
      if (tiled.minor_to_major[i] != row_major) return nullptr;
    }
  }
  abi::BufferOpaqueDeviceMemoryDataPointer args;
  args.buffer = buffer.get();
  if (Status status = call(api(), args); !status.ok()) return nullptr;
  return static_cast<std::byte*>(args.pointer);
}

/// Something that lies with the plugin until this ends.
struct Client::Owner {
  Owner(std::shared_ptr<const Client> from, const std::byte* where)
      : client(from), address(where) {}
  ~Owner() {
    if (!is_there) return;
    client->residents_->remove(address);
    resident.buffer.reset();
    if (released && !client->hangs_) (void)await(released);
  }

  const std::shared_ptr<const Client> client;
  const std::byte* const address;
  Resident resident;
  Event released;  // Of what is lent: when the plugin does not read it any more.
  bool is_there = false;
};

std::shared_ptr<void> Client::keep(Buffer& buffer, std::uint32_t device,
                                   std::shared_ptr<const TensorType> type,
                                   const std::byte* address) const {
  auto owner = std::make_shared<Owner>(shared_from_this(), address);
  owner->resident = {std::move(buffer), device, std::move(type)};
  owner->is_there = residents_->add(address, owner->resident);
  if (owner->is_there) return owner;
  buffer = std::move(owner->resident.buffer);
  return nullptr;
}

std::shared_ptr<void> Client::hold(LentBuffer& lent, std::uint32_t device,
                                   std::shared_ptr<const TensorType> type,
                                   const std::byte* address) const {
  auto owner = keep(lent.buffer, device, std::move(type), address);
  if (owner) static_cast<Owner*>(owner.get())->released = std::move(lent.released);
  return owner;
}

Result<Event> Client::read(const Buffer& buffer, std::byte* target, std::size_t bytes) const {
  SEAWAY_CHECK(target != nullptr);
  // Whatever the plugin has made of the program, nothing is written behind the end of `target`.
  abi::BufferToHostBuffer question;
  question.buffer = buffer.get();
  if (Status status = call(api(), question); !status.ok()) return status;
  if (question.target_size != bytes) {
    return wrong_size(question.target_size, bytes);
  }
  abi::BufferToHostBuffer args;
  args.buffer = buffer.get();
  args.target = target;
  args.target_size = bytes;
  if (Status status = call(api(), args); !status.ok()) return status;
  return Event(api(), args.event);
}

}  // namespace seaway::pjrt
