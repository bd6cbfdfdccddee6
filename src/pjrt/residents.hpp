// Residents: values that a plugin has made and still has, by where they lie in the host's memory.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <unordered_map>

#include "pjrt/plugin.hpp"
#include "seaway/types.hpp"

namespace seaway::pjrt {

/// One of them: dense, row-major, and never written to.
struct Resident {
  Buffer buffer;
  std::uint32_t device = 0;  // Of the client.
  std::shared_ptr<const TensorType> type;
};

/// So that the next program takes the plugin's own buffer, and the host reads it where it lies.
/// Thread-safe.
class Residents {
 public:
  /// False, and nothing happens: something that is here lies there already.
  bool add(const std::byte* address, const Resident& one);
  void remove(const std::byte* address);
  /// What lies at `address`, for as long as its owner keeps it; null if that is nothing of `type`
  /// on `device`.
  abi::Buffer* find(const std::byte* address, std::uint32_t device, const TensorType& type) const;
  std::size_t size() const;

 private:
  mutable std::mutex mutex_;
  std::pmr::unsynchronized_pool_resource pool_;  // Guarded by mutex_, as is:
  std::pmr::unordered_map<std::uintptr_t, const Resident*> residents_{&pool_};  // Never iterated.
};

}  // namespace seaway::pjrt
