// The rest of the binary interface of PJRT plugins that Seaway needs when it is one itself: what
// frameworks call. In Seaway's own words, as abi.hpp is, and compared with a plugin's header alike.

#pragma once

#include <cstddef>
#include <cstdint>

#include "pjrt/abi.hpp"

namespace seaway::pjrt::abi {

struct TopologyDescription;
struct SerializedAssignment;

/// Places in the table that Seaway's own has, and the interface that it speaks.
inline constexpr std::size_t kCallsOffered = 118;
inline constexpr int kMinorOffered = 81;

/// Arguments that put one number, or one list, beside the thing that is asked.
#define SEAWAY_ABI_PLACE(number) static constexpr Call kCall = static_cast<Call>(number)

struct PluginAttributes {
  SEAWAY_ABI_PLACE(4);
  Head head;
  const Option* attributes = nullptr;  // Out; for ever.
  std::size_t count = 0;
};

struct ClientProcessIndex {
  SEAWAY_ABI_PLACE(13);
  static constexpr std::size_t kSize = 28;
  Head head;
  Client* client = nullptr;
  int index = 0;  // Out.
};
struct ClientDevices {
  SEAWAY_ABI_PLACE(15);
  Head head;
  Client* client = nullptr;
  Device* const* devices = nullptr;  // Out; as long as the client.
  std::size_t count = 0;
};
struct ClientLookupDevice {
  SEAWAY_ABI_PLACE(17);
  Head head;
  Client* client = nullptr;
  int id = 0;
  Device* device = nullptr;  // Out.
};
struct ClientLookupAddressableDevice {
  SEAWAY_ABI_PLACE(18);
  Head head;
  Client* client = nullptr;
  int id = 0;                // The one of its hardware.
  Device* device = nullptr;  // Out.
};
struct ClientAddressableMemories {
  SEAWAY_ABI_PLACE(19);
  Head head;
  Client* client = nullptr;
  Memory* const* memories = nullptr;  // Out; as long as the client.
  std::size_t count = 0;
};
struct ClientDefaultDeviceAssignment {
  SEAWAY_ABI_PLACE(21);
  Head head;
  Client* client = nullptr;
  int replicas = 0, partitions = 0;
  std::size_t size = 0;
  int* assignment = nullptr;  // Written to; replica after replica.
};
struct ClientTopologyDescription {
  SEAWAY_ABI_PLACE(95);
  Head head;
  Client* client = nullptr;
  TopologyDescription* topology = nullptr;  // Out; as long as the client.
};

struct DeviceDescriptionProcessIndex {
  SEAWAY_ABI_PLACE(24);
  static constexpr std::size_t kSize = 28;
  Head head;
  DeviceDescription* description = nullptr;
  int index = 0;  // Out.
};
struct DeviceDescriptionAttributes {
  SEAWAY_ABI_PLACE(25);
  Head head;
  DeviceDescription* description = nullptr;
  std::size_t count = 0;
  const Option* attributes = nullptr;  // Out; as long as the client.
};
struct DeviceDescriptionDebugString {
  SEAWAY_ABI_PLACE(27);
  Head head;
  DeviceDescription* description = nullptr;
  const char* text = nullptr;  // Out; as long as the client.
  std::size_t text_size = 0;
};
struct DeviceDescriptionToString {
  SEAWAY_ABI_PLACE(28);
  Head head;
  DeviceDescription* description = nullptr;
  const char* text = nullptr;  // Out; as long as the client.
  std::size_t text_size = 0;
};
struct DeviceIsAddressable {
  SEAWAY_ABI_PLACE(30);
  static constexpr std::size_t kSize = 25;
  Head head;
  Device* device = nullptr;
  bool is_addressable = false;  // Out.
};
struct DeviceLocalHardwareId {
  SEAWAY_ABI_PLACE(31);
  static constexpr std::size_t kSize = 28;
  Head head;
  Device* device = nullptr;
  int id = 0;  // Out.
};
struct DeviceAddressableMemories {
  SEAWAY_ABI_PLACE(32);
  Head head;
  Device* device = nullptr;
  Memory* const* memories = nullptr;  // Out; as long as the client.
  std::size_t count = 0;
};

struct MemoryId {
  SEAWAY_ABI_PLACE(35);
  static constexpr std::size_t kSize = 28;
  Head head;
  Memory* memory = nullptr;
  int id = 0;  // Out.
};
struct MemoryKind {
  SEAWAY_ABI_PLACE(36);
  Head head;
  Memory* memory = nullptr;
  const char* kind = nullptr;  // Out; as long as the client.
  std::size_t kind_size = 0;
};
struct MemoryDebugString {
  SEAWAY_ABI_PLACE(37);
  Head head;
  Memory* memory = nullptr;
  const char* text = nullptr;  // Out; as long as the client.
  std::size_t text_size = 0;
};
struct MemoryToString {
  SEAWAY_ABI_PLACE(38);
  Head head;
  Memory* memory = nullptr;
  const char* text = nullptr;  // Out; as long as the client.
  std::size_t text_size = 0;
};
struct MemoryAddressableByDevices {
  SEAWAY_ABI_PLACE(39);
  Head head;
  Memory* memory = nullptr;
  Device* const* devices = nullptr;  // Out; as long as the client.
  std::size_t count = 0;
};
struct MemoryKindId {
  SEAWAY_ABI_PLACE(97);
  static constexpr std::size_t kSize = 28;
  Head head;
  Memory* memory = nullptr;
  int id = 0;  // Out.
};

struct ExecutableName {
  SEAWAY_ABI_PLACE(41);
  Head head;
  Executable* executable = nullptr;
  const char* name = nullptr;  // Out; as long as the executable.
  std::size_t name_size = 0;
};
struct ExecutableNumReplicas {
  SEAWAY_ABI_PLACE(42);
  Head head;
  Executable* executable = nullptr;
  std::size_t count = 0;  // Out.
};
struct ExecutableNumPartitions {
  SEAWAY_ABI_PLACE(43);
  Head head;
  Executable* executable = nullptr;
  std::size_t count = 0;  // Out.
};
struct ExecutableSizeOfGeneratedCode {
  SEAWAY_ABI_PLACE(45);
  Head head;
  Executable* executable = nullptr;
  std::int64_t bytes = 0;  // Out.
};
struct ExecutableOutputMemoryKinds {
  SEAWAY_ABI_PLACE(47);
  Head head;
  Executable* executable = nullptr;
  std::size_t count = 0;               // Out; all as long as the executable.
  const char* const* kinds = nullptr;  // Of each output.
  const std::size_t* kind_sizes = nullptr;
};
struct ExecutableFingerprint {
  SEAWAY_ABI_PLACE(94);
  Head head;
  Executable* executable = nullptr;
  const char* fingerprint = nullptr;  // Out; as long as the executable.
  std::size_t fingerprint_size = 0;
};

struct LoadedExecutableAddressableDevices {
  SEAWAY_ABI_PLACE(52);
  Head head;
  LoadedExecutable* executable = nullptr;
  Device* const* devices = nullptr;  // Out; as long as the executable.
  std::size_t count = 0;
};
struct LoadedExecutableDelete {
  SEAWAY_ABI_PLACE(53);
  Head head;
  LoadedExecutable* executable = nullptr;
};
struct LoadedExecutableIsDeleted {
  SEAWAY_ABI_PLACE(54);
  static constexpr std::size_t kSize = 25;
  Head head;
  LoadedExecutable* executable = nullptr;
  bool is_deleted = false;  // Out.
};
struct LoadedExecutableGetDeviceAssignment {
  SEAWAY_ABI_PLACE(117);
  Head head;
  LoadedExecutable* executable = nullptr;
  const char* bytes = nullptr;  // Out; as long as `owner`.
  std::size_t bytes_size = 0;
  SerializedAssignment* owner = nullptr;                  // Out.
  void (*delete_owner)(SerializedAssignment*) = nullptr;  // Out.
};

struct BufferUnpaddedDimensions {
  SEAWAY_ABI_PLACE(61);
  Head head;
  Buffer* buffer = nullptr;
  const std::int64_t* sizes = nullptr;  // Out; as long as the buffer.
  std::size_t rank = 0;
};
struct BufferDynamicDimensionIndices {
  SEAWAY_ABI_PLACE(62);
  Head head;
  Buffer* buffer = nullptr;
  const std::size_t* indices = nullptr;  // Out; as long as the buffer.
  std::size_t count = 0;
};

enum class LayoutType : int { kTiled = 0, kStrides = 1 };

struct TiledLayout {
  Head head;
  const std::int64_t* minor_to_major = nullptr;
  std::size_t minor_to_major_size = 0;
  const std::int64_t* tile_sizes = nullptr;
  const std::size_t* tile_ranks = nullptr;
  std::size_t tiles = 0;
};
struct StridedLayout {
  Head head;
  const std::int64_t* byte_strides = nullptr;
  std::size_t byte_strides_count = 0;
};
/// How elements lie in memory.
struct MemoryLayout {
  static constexpr std::size_t kSize = 76;
  Head head;
  union {
    TiledLayout tiled;
    StridedLayout strided;
  };
  LayoutType type = LayoutType::kTiled;

  MemoryLayout() : tiled() {}
};
struct BufferGetMemoryLayout {
  SEAWAY_ABI_PLACE(63);
  Head head;
  Buffer* buffer = nullptr;
  MemoryLayout layout;  // Out; what it points to, as long as the buffer.
};
struct BufferDevice {
  SEAWAY_ABI_PLACE(65);
  Head head;
  Buffer* buffer = nullptr;
  Device* device = nullptr;  // Out.
};
struct BufferMemory {
  SEAWAY_ABI_PLACE(66);
  Head head;
  Buffer* buffer = nullptr;
  Memory* memory = nullptr;  // Out.
};
struct BufferCopyToDevice {
  SEAWAY_ABI_PLACE(69);
  Head head;
  Buffer* buffer = nullptr;
  Device* device = nullptr;
  Buffer* copy = nullptr;  // Out; the caller's.
};
struct BufferCopyToMemory {
  SEAWAY_ABI_PLACE(92);
  Head head;
  Buffer* buffer = nullptr;
  Memory* memory = nullptr;
  Buffer* copy = nullptr;  // Out; the caller's.
};

struct TopologyPlatformName {
  SEAWAY_ABI_PLACE(84);
  Head head;
  const TopologyDescription* topology = nullptr;
  const char* name = nullptr;  // Out; as long as the topology.
  std::size_t name_size = 0;
};
struct TopologyPlatformVersion {
  SEAWAY_ABI_PLACE(85);
  Head head;
  TopologyDescription* topology = nullptr;
  const char* version = nullptr;  // Out; as long as the topology.
  std::size_t version_size = 0;
};
struct TopologyDeviceDescriptions {
  SEAWAY_ABI_PLACE(86);
  Head head;
  const TopologyDescription* topology = nullptr;
  DeviceDescription* const* descriptions = nullptr;  // Out; as long as the topology.
  std::size_t count = 0;
};
struct TopologyAttributes {
  SEAWAY_ABI_PLACE(88);
  Head head;
  TopologyDescription* topology = nullptr;
  const Option* attributes = nullptr;  // Out; as long as the topology.
  std::size_t count = 0;
};

struct ExecuteContextCreate {
  SEAWAY_ABI_PLACE(98);
  Head head;
  ExecuteContext* context = nullptr;  // Out; the caller's.
};
struct ExecuteContextDestroy {
  SEAWAY_ABI_PLACE(99);
  Head head;
  ExecuteContext* context = nullptr;
};

#undef SEAWAY_ABI_PLACE

}  // namespace seaway::pjrt::abi
