// A block that is larger by a line, and begins with where it begins.

#include "base/aligned.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

namespace seaway {

std::byte* allocate_aligned(std::size_t bytes) {
  // No object is larger, and a sanitizer's allocator ends whoever asks for one.
  if (bytes > PTRDIFF_MAX - 2 * kLineBytes) return nullptr;
  auto* const block = static_cast<std::byte*>(std::malloc(bytes + kLineBytes + sizeof(void*)));
  if (!block) return nullptr;
  const auto first = reinterpret_cast<std::uintptr_t>(block) + sizeof(void*);
  const std::size_t skipped = (kLineBytes - first % kLineBytes) % kLineBytes + sizeof(void*);
  std::byte* const base = block + skipped;
  std::memcpy(base - sizeof(void*), &block, sizeof(void*));
  return base;
}

void release_aligned(std::byte* base) {
  if (!base) return;
  void* block = nullptr;
  std::memcpy(&block, base - sizeof(void*), sizeof(void*));
  std::free(block);
}

std::shared_ptr<std::byte> share_aligned(std::size_t bytes) {
  std::byte* const base = allocate_aligned(bytes);
  if (!base) throw std::bad_alloc();
  return {base, release_aligned};
}

}  // namespace seaway
