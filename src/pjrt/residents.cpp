// A map behind a mutex.

#include "pjrt/residents.hpp"

namespace seaway::pjrt {
namespace {

std::uintptr_t key_of(const std::byte* address) {
  return reinterpret_cast<std::uintptr_t>(address);
}

}  // namespace

bool Residents::add(const std::byte* address, const Resident& one) {
  std::lock_guard guard(mutex_);
  return residents_.emplace(key_of(address), &one).second;
}

void Residents::remove(const std::byte* address) {
  std::lock_guard guard(mutex_);
  residents_.erase(key_of(address));
}

abi::Buffer* Residents::find(const std::byte* address, std::uint32_t device,
                             const TensorType& type) const {
  std::lock_guard guard(mutex_);
  const auto found = residents_.find(key_of(address));
  if (found == residents_.end()) return nullptr;
  const Resident& one = *found->second;
  return one.device == device && *one.type == type ? one.buffer.get() : nullptr;
}

std::size_t Residents::size() const {
  std::lock_guard guard(mutex_);
  return residents_.size();
}

}  // namespace seaway::pjrt
