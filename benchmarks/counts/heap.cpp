// malloc and its kind, which count and pass on to those of the C library.

#include "benchmarks/counts/heap.hpp"

#include <malloc.h>

#include <atomic>
#include <cerrno>
#include <cstddef>

extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* memory, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
void __libc_free(void* memory);
}

namespace {

std::atomic<std::uint64_t> allocations{0}, asked_bytes{0};
std::atomic<std::int64_t> live_bytes{0};

void add(std::atomic<std::uint64_t>& to, std::uint64_t count) {
  to.fetch_add(count, std::memory_order_relaxed);
}

void count_live(void* memory, int sign) {
  if (!memory) return;
  const auto size = static_cast<std::int64_t>(malloc_usable_size(memory));
  live_bytes.fetch_add(sign * size, std::memory_order_relaxed);
}

void* counted(void* memory, std::size_t bytes) {
  add(allocations, 1);
  add(asked_bytes, bytes);
  count_live(memory, 1);
  return memory;
}

}  // namespace

extern "C" {

void* malloc(std::size_t bytes) { return counted(__libc_malloc(bytes), bytes); }
void* calloc(std::size_t count, std::size_t bytes) {
  return counted(__libc_calloc(count, bytes), count * bytes);
}
void* realloc(void* memory, std::size_t bytes) {
  count_live(memory, -1);
  return counted(__libc_realloc(memory, bytes), bytes);
}
void* memalign(std::size_t alignment, std::size_t bytes) {
  return counted(__libc_memalign(alignment, bytes), bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return counted(__libc_memalign(alignment, bytes), bytes);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
  void* const made = counted(__libc_memalign(alignment, bytes), bytes);
  if (!made) return ENOMEM;
  *memory = made;
  return 0;
}
void free(void* memory) {
  count_live(memory, -1);
  __libc_free(memory);
}

}  // extern "C"

namespace seaway::benchmarks {

HeapCount heap_count() {
  return {allocations.load(std::memory_order_relaxed), asked_bytes.load(std::memory_order_relaxed),
          live_bytes.load(std::memory_order_relaxed)};
}

}  // namespace seaway::benchmarks
