// Size classes, the lists of dead slabs, and the way to the heap.

#include "store/slab.hpp"

#include <sys/mman.h>

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include "base/aligned.hpp"
#include "base/check.hpp"

namespace seaway::store {

namespace {

/// The system gives large memory in large pages to who asks for them: a page of 4 KiB at a time
/// costs as much as to write it twice.
constexpr std::size_t kHugePageBytes = std::size_t{2} << 20, kHugeBytesMin = 4 * kHugePageBytes;
#ifdef __GLIBC__
/// Above this glibc maps new pages each time, whatever it has learnt (mallopt(3),
/// M_MMAP_THRESHOLD).
constexpr std::size_t kMappedBytesMin = std::size_t{32} << 20;
#else
constexpr std::size_t kMappedBytesMin = SIZE_MAX;
#endif

}  // namespace

std::byte* HeapAllocator::allocate(std::size_t bytes) {
  if (bytes < kHugeBytesMin) return allocate_aligned(bytes);
  auto* const base = static_cast<std::byte*>(std::aligned_alloc(kHugePageBytes, bytes));
  // A wish: without such pages all is as it was, but slower.
  if (base) static_cast<void>(::madvise(base, bytes, MADV_HUGEPAGE));
  return base;
}

void HeapAllocator::release(std::byte* base, std::size_t bytes) {
  bytes < kHugeBytesMin ? release_aligned(base) : std::free(base);
}

bool HeapAllocator::is_zeros(const std::byte*, std::size_t bytes) const {
  return bytes > kMappedBytesMin;
}

Slab::~Slab() {
  if (cache_) cache_->give_back(base_, stride_ * shards_, owner_);
}

SlabCache::~SlabCache() {
  SEAWAY_CHECK(live_slabs_ == 0, live_slabs_);
  trim();
  for (std::byte* page : pages_) allocator_.release(page, kPageBytes);
}

/// Classes 0-3 are 1-4 lines of 64 bytes; above, each doubling has four classes, so that class c
/// is (4 + c % 4) << (c / 4 - 1) lines.
std::uint32_t SlabCache::class_of(std::size_t bytes) {
  const std::size_t last_line = (bytes + 63) / 64 - 1;
  if (last_line < 4) return static_cast<std::uint32_t>(last_line);
  const auto shift = static_cast<std::uint32_t>(std::bit_width(last_line)) - 3;
  return static_cast<std::uint32_t>(4 * shift + (last_line >> shift));
}

std::size_t SlabCache::bytes_of(std::uint32_t size_class) {
  if (size_class < 4) return (size_class + std::size_t{1}) * 64;
  const std::uint32_t shift = size_class / 4 - 1;
  return ((std::size_t{4} + size_class % 4 + 1) << shift) * 64;
}

std::byte* SlabCache::take(std::uint32_t size_class, SlabOwner owner) {
  const std::size_t bytes = bytes_of(size_class);
  if (Free* free = free_[size_class]) [[likely]] {
    free_[size_class] = free->next;
    if (bytes > kSmallBytes) cached_bytes_ -= bytes;
    auto* const base = reinterpret_cast<std::byte*>(free);
    const bool is_seen = free->owner != owner;
    // The list is nobody's to see.
    if (owner != 0) std::memset(base, 0, is_seen ? bytes : sizeof(Free));
    return base;
  }
  std::byte* const base = bytes > kSmallBytes ? allocate(bytes) : take_small(size_class);
  // It may have been anybody's before.
  const bool is_new = bytes > kSmallBytes && allocator_.is_zeros(base, bytes);
  if (base && owner != 0 && !is_new) std::memset(base, 0, bytes);
  return base;
}

/// Small slabs of all classes are cut from one page after another; less than one is lost a page.
std::byte* SlabCache::take_small(std::uint32_t size_class) {
  const std::size_t bytes = bytes_of(size_class);
  if (static_cast<std::size_t>(page_end_ - page_) < bytes) {
    std::byte* page = allocate(kPageBytes);
    if (!page) return nullptr;
    pages_.push_back(page);
    page_ = page;
    page_end_ = page + kPageBytes;
  }
  return std::exchange(page_, page_ + bytes);
}

std::byte* SlabCache::allocate(std::size_t bytes) {
  std::byte* base = allocator_.allocate(bytes);
  if (!base && cached_bytes_ > 0) {
    trim();  // Bytes of other classes may be what is missing.
    base = allocator_.allocate(bytes);
  }
  return base;
}

Result<Slab> SlabCache::make(std::uint32_t shards, std::size_t shard_bytes, SlabOwner owner) {
  Slab slab;
  slab.shards_ = shards;
  if (shards > 0 && shard_bytes > limits_.slab_bytes_max / shards) {
    return resource_exhausted("slab of " + std::to_string(shards) + " shards of " +
                              std::to_string(shard_bytes) + " bytes refused: one slab may have " +
                              std::to_string(limits_.slab_bytes_max) +
                              " bytes; split the array over more hosts");
  }
  slab.stride_ = stride_for(shards, shard_bytes);
  const std::size_t bytes = slab.stride_ * shards;
  if (bytes > 0) {
    slab.base_ = take(class_of(bytes), owner);
    if (!slab.base_) {
      return resource_exhausted(
          "slab of " + std::to_string(bytes) + " bytes refused: the host has no more memory (" +
          std::to_string(live_bytes_) + " bytes in " + std::to_string(live_slabs_) +
          " slabs are in use); free arrays, or lower the device memory");
    }
    live_bytes_ += bytes_of(class_of(bytes));
  }
  slab.cache_ = this;
  slab.owner_ = owner;
  ++live_slabs_;
  return slab;
}

void SlabCache::give_back(std::byte* base, std::size_t slab_bytes, SlabOwner owner) {
  --live_slabs_;
  if (slab_bytes == 0) return;
  const std::uint32_t size_class = class_of(slab_bytes);
  const std::size_t bytes = bytes_of(size_class);
  live_bytes_ -= bytes;
  const bool is_small = bytes <= kSmallBytes;
  if (is_small && is_retired_) return;  // Its page goes with the cache.
  if (!is_small && bytes > limits_.cached_bytes_max - cached_bytes_) {
    allocator_.release(base, bytes);
    return;
  }
  free_[size_class] = new (base) Free{free_[size_class], owner};
  if (!is_small) cached_bytes_ += bytes;
}

void SlabCache::trim() {
  for (std::uint32_t size_class = class_of(kSmallBytes) + 1; size_class < kClasses; ++size_class) {
    while (Free* free = free_[size_class]) {
      free_[size_class] = free->next;
      allocator_.release(reinterpret_cast<std::byte*>(free), bytes_of(size_class));
    }
  }
  cached_bytes_ = 0;
}

void SlabCache::retire() {
  trim();
  limits_.cached_bytes_max = 0;
  is_retired_ = true;
}

}  // namespace seaway::store
