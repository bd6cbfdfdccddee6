// Payload in memory of its own.

#include "transport/bulk.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace seaway::transport {
namespace {

constexpr std::align_val_t kAlignment{64};

}  // namespace

Payload copy_payload(std::span<const std::byte> bytes, std::size_t stride) {
  const std::size_t size =
      std::max<std::size_t>(static_cast<std::size_t>(kAlignment), bytes.size());
  auto* const base = static_cast<std::byte*>(::operator new(size, kAlignment));
  std::shared_ptr<void> owner(base, [](void* block) { ::operator delete(block, kAlignment); });
  if (!bytes.empty()) std::memcpy(base, bytes.data(), bytes.size());
  return {base, stride, std::move(owner), bytes.size()};
}

}  // namespace seaway::transport
