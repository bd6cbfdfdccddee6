// Devices and memories as a framework sees them: one of each for every device of the cluster.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pjrt/abi_front.hpp"
#include "seaway/sharding.hpp"

namespace seaway::front {

struct FrontDevice;
class FrontClient;

/// The memory of one device. Its id is its device's.
struct FrontMemory {
  FrontDevice* device = nullptr;
  pjrt::abi::Device* device_handle = nullptr;
  std::string text;  // "SeawayMemory(device=3)".
};

/// A virtual device: number `index` of the slice that has all devices of its island. Immutable.
struct FrontDevice {
  FrontClient* client = nullptr;
  int id = 0;  // Of all devices of the cluster, by island and index.
  std::uint32_t island = 0, index = 0;
  Mesh mesh;         // It alone.
  std::string text;  // "SeawayDevice(id=3, island=1, index=1)".
  FrontMemory memory;
  pjrt::abi::Memory* memory_handle = nullptr;
  std::vector<pjrt::abi::Option> attributes;  // "island" and "index".
};

/// What frameworks call the kind of these devices, and of their memories.
inline constexpr std::string_view kDeviceKind = "Seaway device";
inline constexpr std::string_view kMemoryKind = "device";

/// All devices of a cluster, in the order of their ids. They stay where they are.
class DeviceTable {
 public:
  /// `meshes[i]` has all devices of island i.
  DeviceTable(FrontClient* client, const std::vector<Mesh>& meshes);
  DeviceTable(const DeviceTable&) = delete;
  DeviceTable& operator=(const DeviceTable&) = delete;

  /// Null when there is none of that id.
  FrontDevice* find(std::int64_t id) const;
  std::size_t size() const { return devices_.size(); }
  const std::vector<pjrt::abi::Device*>& devices() const { return device_handles_; }
  const std::vector<pjrt::abi::Memory*>& memories() const { return memory_handles_; }
  const std::vector<pjrt::abi::DeviceDescription*>& descriptions() const {
    return description_handles_;
  }

 private:
  std::vector<std::unique_ptr<FrontDevice>> devices_;
  std::vector<pjrt::abi::Device*> device_handles_;
  std::vector<pjrt::abi::Memory*> memory_handles_;
  std::vector<pjrt::abi::DeviceDescription*> description_handles_;
};

}  // namespace seaway::front
