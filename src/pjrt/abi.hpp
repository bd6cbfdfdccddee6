// The binary interface of PJRT plugins, as far as Seaway calls it: places in the table, and
// layouts.
//
// Declared here in Seaway's own words, so that nothing has to be downloaded for a build. Only facts
// of the interface are in this file: numbers, orders and sizes. `./dev test jax` compares each of
// them with the header that a plugin's package ships. Versions 0.81 to 0.115 agree on all of it:
// structures have grown at their ends alone.

#pragma once

#include <cstddef>
#include <cstdint>

namespace seaway::pjrt::abi {

// What a plugin owns and others only point to.
struct Error;
struct Event;
struct Client;
struct Device;
struct DeviceDescription;
struct Memory;
struct Buffer;
struct Executable;
struct LoadedExecutable;
struct Transfers;          // Fulfils buffers that are promises.
struct SerializedProgram;  // Keeps the bytes of a serialized executable.
struct ExecuteContext;

/// Begins each structure that crosses the border: its size as the caller knows it.
struct Head {
  std::size_t struct_size = 0;
  void* extensions = nullptr;
};

/// Place of a function in the plugin's table.
enum class Call : std::size_t {
  kErrorDestroy = 0,
  kErrorMessage = 1,
  kErrorGetCode = 2,
  kPluginInitialize = 3,
  kEventDestroy = 5,
  kEventIsReady = 6,
  kEventError = 7,
  kEventAwait = 8,
  kEventOnReady = 9,
  kClientCreate = 10,
  kClientDestroy = 11,
  kClientPlatformName = 12,
  kClientPlatformVersion = 14,
  kClientAddressableDevices = 16,
  kClientCompile = 20,
  kClientBufferFromHostBuffer = 22,
  kDeviceDescriptionId = 23,
  kDeviceDescriptionKind = 26,
  kDeviceGetDescription = 29,
  kDeviceDefaultMemory = 33,
  kExecutableDestroy = 40,
  kExecutableNumOutputs = 44,
  kExecutableOptimizedProgram = 48,
  kExecutableSerialize = 49,
  kLoadedExecutableDestroy = 50,
  kLoadedExecutableGetExecutable = 51,
  kLoadedExecutableExecute = 55,
  kExecutableDeserializeAndLoad = 56,
  kBufferDestroy = 58,
  kBufferElementType = 59,
  kBufferDimensions = 60,
  kBufferOnDeviceSizeInBytes = 64,
  kBufferDelete = 67,
  kBufferIsDeleted = 68,
  kBufferToHostBuffer = 70,
  kBufferIsOnCpu = 71,
  kBufferReadyEvent = 72,
  kBufferIncreaseExternalReferenceCount = 74,
  kBufferDecreaseExternalReferenceCount = 75,
  kBufferOpaqueDeviceMemoryDataPointer = 76,
  kExecutableOutputElementTypes = 90,
  kExecutableOutputDimensions = 91,
  kExecutableGetCompiledMemoryStats = 96,
  kTransfersDestroy = 101,
  kTransfersTransferData = 102,
  kClientCreateBuffersForAsyncHostToDevice = 103,
  kTransfersRetrieveBuffer = 104,
  kTransfersSetBufferError = 108,
};
/// Places that a table needs to have: up to the last one above.
inline constexpr std::size_t kCallsNeeded = 109;
/// The oldest interface that was looked at.
inline constexpr int kMajor = 0;
inline constexpr int kMinorMin = 81;

/// Why a call failed, or why a buffer is poison.
enum class ErrorCode : int {
  kOk = 0,
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kDataLoss = 15,
  kUnauthenticated = 16,
};

/// Type of an element, of those that Seaway's arrays have.
enum class ElementType : int {
  kInvalid = 0,
  kPred = 1,
  kS8 = 2,
  kS16 = 3,
  kS32 = 4,
  kS64 = 5,
  kU8 = 6,
  kU16 = 7,
  kU32 = 8,
  kU64 = 9,
  kF16 = 10,
  kF32 = 11,
  kF64 = 12,
  kBf16 = 13,
  kC64 = 14,
  kC128 = 15,
};

/// How long the memory that a buffer is made of is used, and by whom.
enum class HostBufferSemantics : int {
  kImmutableOnlyDuringCall = 0,
  kImmutableUntilTransferCompletes = 1,
  kImmutableZeroCopy = 2,
  kMutableZeroCopy = 3,
};

enum class OptionType : int { kString = 0, kInt64 = 1, kInt64List = 2, kFloat = 3, kBool = 4 };

// Each argument structure below names its place in the table as kCall. kSize is what a caller has
// to say that it is: up to the end of the last field, without the padding behind it.

struct Version {
  Head head;
  int major = 0, minor = 0;
};

/// What the plugin's one exported function, GetPjrtApi, returns.
struct Api {
  Head head;
  Version version;
  void (*calls[kCallsNeeded])();  // May be more.
};

struct ErrorDestroy {
  static constexpr Call kCall = Call::kErrorDestroy;
  Head head;
  Error* error = nullptr;
};
struct ErrorMessage {
  static constexpr Call kCall = Call::kErrorMessage;
  Head head;
  const Error* error = nullptr;
  const char* message = nullptr;  // Out; as long as the error.
  std::size_t message_size = 0;
};
struct ErrorGetCode {
  static constexpr Call kCall = Call::kErrorGetCode;
  static constexpr std::size_t kSize = 28;
  Head head;
  const Error* error = nullptr;
  ErrorCode code = ErrorCode::kOk;  // Out.
};

struct PluginInitialize {
  static constexpr Call kCall = Call::kPluginInitialize;
  Head head;
};

struct EventDestroy {
  static constexpr Call kCall = Call::kEventDestroy;
  Head head;
  Event* event = nullptr;
};
struct EventIsReady {
  static constexpr Call kCall = Call::kEventIsReady;
  static constexpr std::size_t kSize = 25;
  Head head;
  Event* event = nullptr;
  bool is_ready = false;  // Out.
};
struct EventError {
  static constexpr Call kCall = Call::kEventError;
  Head head;
  Event* event = nullptr;
};
struct EventAwait {
  static constexpr Call kCall = Call::kEventAwait;
  Head head;
  Event* event = nullptr;
};
/// The callback owns the error, which may be null.
using OnReadyCallback = void (*)(Error* error, void* user);
struct EventOnReady {
  static constexpr Call kCall = Call::kEventOnReady;
  Head head;
  Event* event = nullptr;
  OnReadyCallback callback = nullptr;
  void* user = nullptr;
};

/// A named option of a client.
struct Option {
  Head head;
  const char* name = nullptr;
  std::size_t name_size = 0;
  OptionType type = OptionType::kInt64;
  union {
    const char* text;
    std::int64_t number = 0;
    const std::int64_t* numbers;
    float real;
    bool flag;
  };
  std::size_t value_size = 1;
};
struct ClientCreate {
  static constexpr Call kCall = Call::kClientCreate;
  Head head;
  const Option* options = nullptr;
  std::size_t options_count = 0;
  // Of clients of several processes, which Seaway's are not.
  void* get_key = nullptr;
  void* get_key_user = nullptr;
  void* put_key = nullptr;
  void* put_key_user = nullptr;
  Client* client = nullptr;  // Out.
  void* try_get_key = nullptr;
  void* try_get_key_user = nullptr;
};
struct ClientDestroy {
  static constexpr Call kCall = Call::kClientDestroy;
  Head head;
  Client* client = nullptr;
};
struct ClientPlatformName {
  static constexpr Call kCall = Call::kClientPlatformName;
  Head head;
  Client* client = nullptr;
  const char* name = nullptr;  // Out; as long as the client.
  std::size_t name_size = 0;
};
struct ClientPlatformVersion {
  static constexpr Call kCall = Call::kClientPlatformVersion;
  Head head;
  Client* client = nullptr;
  const char* version = nullptr;  // Out; as long as the client.
  std::size_t version_size = 0;
};
struct ClientAddressableDevices {
  static constexpr Call kCall = Call::kClientAddressableDevices;
  Head head;
  Client* client = nullptr;
  Device* const* devices = nullptr;  // Out; as long as the client.
  std::size_t devices_count = 0;
};
struct Program {
  Head head;
  char* code = nullptr;
  std::size_t code_size = 0;
  const char* format = nullptr;
  std::size_t format_size = 0;
};
struct ClientCompile {
  static constexpr Call kCall = Call::kClientCompile;
  Head head;
  Client* client = nullptr;
  const Program* program = nullptr;
  const char* options = nullptr;  // A serialized message: see compile_options.hpp.
  std::size_t options_size = 0;
  LoadedExecutable* executable = nullptr;  // Out.
};
struct ClientBufferFromHostBuffer {
  static constexpr Call kCall = Call::kClientBufferFromHostBuffer;
  Head head;
  Client* client = nullptr;
  const void* data = nullptr;
  ElementType type = ElementType::kInvalid;
  const std::int64_t* sizes = nullptr;
  std::size_t rank = 0;
  const std::int64_t* byte_strides = nullptr;  // Null: dense, row-major.
  std::size_t byte_strides_count = 0;
  HostBufferSemantics semantics = HostBufferSemantics::kImmutableOnlyDuringCall;
  Device* device = nullptr;
  Memory* memory = nullptr;         // Null: the device's default.
  void* device_layout = nullptr;    // Null: the plugin's choice.
  Event* done_with_host = nullptr;  // Out; the caller's.
  Buffer* buffer = nullptr;         // Out; the caller's.
};

struct DeviceDescriptionId {
  static constexpr Call kCall = Call::kDeviceDescriptionId;
  static constexpr std::size_t kSize = 28;
  Head head;
  DeviceDescription* description = nullptr;
  int id = 0;  // Out.
};
struct DeviceDescriptionKind {
  static constexpr Call kCall = Call::kDeviceDescriptionKind;
  Head head;
  DeviceDescription* description = nullptr;
  const char* kind = nullptr;  // Out; as long as the client.
  std::size_t kind_size = 0;
};
struct DeviceGetDescription {
  static constexpr Call kCall = Call::kDeviceGetDescription;
  Head head;
  Device* device = nullptr;
  DeviceDescription* description = nullptr;  // Out; as long as the client.
};
struct DeviceDefaultMemory {
  static constexpr Call kCall = Call::kDeviceDefaultMemory;
  Head head;
  Device* device = nullptr;
  Memory* memory = nullptr;  // Out; as long as the client.
};

struct ExecutableDestroy {
  static constexpr Call kCall = Call::kExecutableDestroy;
  Head head;
  Executable* executable = nullptr;
};
struct ExecutableNumOutputs {
  static constexpr Call kCall = Call::kExecutableNumOutputs;
  Head head;
  Executable* executable = nullptr;
  std::size_t count = 0;  // Out.
};
struct ExecutableOutputElementTypes {
  static constexpr Call kCall = Call::kExecutableOutputElementTypes;
  Head head;
  Executable* executable = nullptr;
  ElementType* types = nullptr;  // Out; as long as the executable.
  std::size_t count = 0;
};
struct ExecutableOutputDimensions {
  static constexpr Call kCall = Call::kExecutableOutputDimensions;
  Head head;
  Executable* executable = nullptr;
  std::size_t count = 0;                // Out; all as long as the executable.
  const std::int64_t* sizes = nullptr;  // Of all outputs, one after the other.
  const std::size_t* ranks = nullptr;
};
struct ExecutableGetCompiledMemoryStats {
  static constexpr Call kCall = Call::kExecutableGetCompiledMemoryStats;
  Head head;
  Executable* executable = nullptr;
  std::int64_t code_bytes = 0, argument_bytes = 0, output_bytes = 0;  // Out, all of them.
  std::int64_t alias_bytes = 0, temporary_bytes = 0;
  std::int64_t host_code_bytes = 0, host_argument_bytes = 0, host_output_bytes = 0;
  std::int64_t host_alias_bytes = 0, host_temporary_bytes = 0;
  std::int64_t peak_bytes = 0;
};
struct ExecutableOptimizedProgram {
  static constexpr Call kCall = Call::kExecutableOptimizedProgram;
  Head head;
  Executable* executable = nullptr;
  Program* program = nullptr;  // Without code its size is asked for; the format is the plugin's.
};
struct ExecutableSerialize {
  static constexpr Call kCall = Call::kExecutableSerialize;
  Head head;
  const Executable* executable = nullptr;
  const char* bytes = nullptr;  // Out; as long as `owner`.
  std::size_t bytes_size = 0;
  SerializedProgram* owner = nullptr;                  // Out.
  void (*delete_owner)(SerializedProgram*) = nullptr;  // Out.
};
struct ExecutableDeserializeAndLoad {
  static constexpr Call kCall = Call::kExecutableDeserializeAndLoad;
  Head head;
  Client* client = nullptr;
  const char* bytes = nullptr;
  std::size_t bytes_size = 0;
  LoadedExecutable* executable = nullptr;  // Out.
  const char* options = nullptr;           // Null: those that it was compiled with.
  std::size_t options_size = 0;
};
struct LoadedExecutableDestroy {
  static constexpr Call kCall = Call::kLoadedExecutableDestroy;
  Head head;
  LoadedExecutable* executable = nullptr;
};
struct LoadedExecutableGetExecutable {
  static constexpr Call kCall = Call::kLoadedExecutableGetExecutable;
  Head head;
  LoadedExecutable* loaded = nullptr;
  Executable* executable = nullptr;  // Out; the caller's.
};
struct ExecuteOptions {
  Head head;
  void* send_callbacks = nullptr;
  void* receive_callbacks = nullptr;
  std::size_t sends = 0, receives = 0;
  int launch_id = 0;  // The same for all devices of a gang, and not 0.
  const std::int64_t* not_donated = nullptr;
  std::size_t not_donated_count = 0;
  ExecuteContext* context = nullptr;
  const char* call_location = nullptr;
  std::size_t tasks = 0;
  int* task_ids = nullptr;
  std::int64_t* incarnation_ids = nullptr;
};
struct LoadedExecutableExecute {
  static constexpr Call kCall = Call::kLoadedExecutableExecute;
  Head head;
  LoadedExecutable* executable = nullptr;
  ExecuteOptions* options = nullptr;
  Buffer* const* const* arguments = nullptr;  // [device][argument]
  std::size_t devices = 0, arguments_count = 0;
  Buffer** const* outputs = nullptr;  // [device][output], written by the plugin; the caller's.
  Event** complete_events = nullptr;  // [device], written by the plugin; the caller's.
  Device* execute_device = nullptr;   // Of portable executables: where.
};

struct BufferDestroy {
  static constexpr Call kCall = Call::kBufferDestroy;
  Head head;
  Buffer* buffer = nullptr;
};
struct BufferElementType {
  static constexpr Call kCall = Call::kBufferElementType;
  static constexpr std::size_t kSize = 28;
  Head head;
  Buffer* buffer = nullptr;
  ElementType type = ElementType::kInvalid;  // Out.
};
struct BufferDimensions {
  static constexpr Call kCall = Call::kBufferDimensions;
  Head head;
  Buffer* buffer = nullptr;
  const std::int64_t* sizes = nullptr;  // Out; as long as the buffer.
  std::size_t rank = 0;
};
struct BufferOnDeviceSizeInBytes {
  static constexpr Call kCall = Call::kBufferOnDeviceSizeInBytes;
  Head head;
  Buffer* buffer = nullptr;
  std::size_t bytes = 0;  // Out.
};
struct BufferDelete {
  static constexpr Call kCall = Call::kBufferDelete;
  Head head;
  Buffer* buffer = nullptr;
};
struct BufferIsDeleted {
  static constexpr Call kCall = Call::kBufferIsDeleted;
  static constexpr std::size_t kSize = 25;
  Head head;
  Buffer* buffer = nullptr;
  bool is_deleted = false;  // Out.
};
struct BufferIsOnCpu {
  static constexpr Call kCall = Call::kBufferIsOnCpu;
  static constexpr std::size_t kSize = 25;
  Head head;
  Buffer* buffer = nullptr;
  bool is_on_cpu = false;  // Out.
};
struct BufferReadyEvent {
  static constexpr Call kCall = Call::kBufferReadyEvent;
  Head head;
  Buffer* buffer = nullptr;
  Event* event = nullptr;  // Out; the caller's.
};
/// While this count is above 0 the memory of a buffer stays where it is.
struct BufferIncreaseExternalReferenceCount {
  static constexpr Call kCall = Call::kBufferIncreaseExternalReferenceCount;
  Head head;
  Buffer* buffer = nullptr;
};
struct BufferDecreaseExternalReferenceCount {
  static constexpr Call kCall = Call::kBufferDecreaseExternalReferenceCount;
  Head head;
  Buffer* buffer = nullptr;
};
struct BufferOpaqueDeviceMemoryDataPointer {
  static constexpr Call kCall = Call::kBufferOpaqueDeviceMemoryDataPointer;
  Head head;
  Buffer* buffer = nullptr;
  void* pointer = nullptr;  // Out.
};
struct BufferToHostBuffer {
  static constexpr Call kCall = Call::kBufferToHostBuffer;
  Head head;
  Buffer* buffer = nullptr;
  void* layout = nullptr;       // Null: that of the buffer.
  void* target = nullptr;       // Null: only the size is asked for.
  std::size_t target_size = 0;  // In and out.
  Event* event = nullptr;       // Out; the caller's.
};

/// Type of a buffer that is a promise.
struct ShapeSpec {
  static constexpr std::size_t kSize = 36;
  Head head;
  const std::int64_t* sizes = nullptr;
  std::size_t rank = 0;
  ElementType type = ElementType::kInvalid;
};
struct ClientCreateBuffersForAsyncHostToDevice {
  static constexpr Call kCall = Call::kClientCreateBuffersForAsyncHostToDevice;
  Head head;
  Client* client = nullptr;
  ShapeSpec* specs = nullptr;
  std::size_t specs_count = 0;
  void* layouts = nullptr;
  std::size_t layouts_count = 0;
  Memory* memory = nullptr;
  Transfers* transfers = nullptr;  // Out; the caller's.
};
struct TransfersDestroy {
  static constexpr Call kCall = Call::kTransfersDestroy;
  Head head;
  Transfers* transfers = nullptr;
};
struct TransfersTransferData {
  static constexpr Call kCall = Call::kTransfersTransferData;
  Head head;
  Transfers* transfers = nullptr;
  int index = 0;
  const void* data = nullptr;
  std::int64_t offset = 0, size = 0;
  bool is_last = true;
  Event* done = nullptr;  // Out; the caller's.
};
struct TransfersRetrieveBuffer {
  static constexpr Call kCall = Call::kTransfersRetrieveBuffer;
  Head head;
  Transfers* transfers = nullptr;
  int index = 0;
  Buffer* buffer = nullptr;  // Out; the caller's. Each once.
};
struct TransfersSetBufferError {
  static constexpr Call kCall = Call::kTransfersSetBufferError;
  Head head;
  Transfers* transfers = nullptr;
  int index = 0;
  ErrorCode code = ErrorCode::kOk;
  const char* message = nullptr;
  std::size_t message_size = 0;
};

/// What a caller says that `T` measures.
template <class T>
constexpr std::size_t size_of() {
  if constexpr (requires { T::kSize; }) {
    static_assert(T::kSize <= sizeof(T) && T::kSize + alignof(T) > sizeof(T));
    return T::kSize;
  } else {
    return sizeof(T);
  }
}

}  // namespace seaway::pjrt::abi
