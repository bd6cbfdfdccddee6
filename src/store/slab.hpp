// Slab: the bytes of one value for all local shards, and the cache that recycles them.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "seaway/status.hpp"

namespace seaway::store {

/// Where memory comes from.
class Allocator {
 public:
  virtual ~Allocator() = default;
  /// `bytes` (> 0, a multiple of 64) aligned to 64, or null when there is no more.
  virtual std::byte* allocate(std::size_t bytes) = 0;
  /// Takes back what allocate(bytes) gave.
  virtual void release(std::byte* base, std::size_t bytes) = 0;
  /// Whether what allocate(bytes) has just given is known to be zeros.
  virtual bool is_zeros(const std::byte* /*base*/, std::size_t /*bytes*/) const { return false; }
};

/// The process's own heap.
class HeapAllocator final : public Allocator {
 public:
  std::byte* allocate(std::size_t bytes) override;
  void release(std::byte* base, std::size_t bytes) override;
  bool is_zeros(const std::byte* base, std::size_t bytes) const override;
};

/// Distance between two shards of `shard_bytes`: a multiple of 64, and with several shards never
/// one of 4096, for then equal places of all shards would compete for the same lines of a cache.
constexpr std::size_t stride_for(std::size_t shards, std::size_t shard_bytes) {
  const std::size_t stride = (shard_bytes + 63) / 64 * 64;
  return shards > 1 && stride > 0 && stride % 4096 == 0 ? stride + 64 : stride;
}

class SlabCache;

/// Who may see what was in a slab before. Nobody in particular, 0, writes all of it before anything
/// is read.
using SlabOwner = std::uint32_t;

/// One allocation: shard s lies at base() + s * stride(). Owns its bytes and gives them back to its
/// cache, which must outlive it. Content is undefined at first, and of nobody but its owner. Not
/// thread-safe.
class Slab {
 public:
  Slab() = default;
  Slab(Slab&& other) noexcept { swap(other); }
  Slab& operator=(Slab&& other) noexcept {
    Slab taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~Slab();

  /// Null for a slab of no bytes.
  std::byte* base() const { return base_; }
  std::size_t stride() const { return stride_; }
  std::uint32_t shards() const { return shards_; }
  std::byte* shard(std::size_t index) const { return base_ + index * stride_; }
  /// False for a default-constructed or moved-from slab; true for one of no bytes.
  bool has_value() const { return cache_ != nullptr; }

 private:
  friend class SlabCache;

  void swap(Slab& other) {
    std::swap(base_, other.base_);
    std::swap(cache_, other.cache_);
    std::swap(stride_, other.stride_);
    std::swap(shards_, other.shards_);
    std::swap(owner_, other.owner_);
  }

  std::byte* base_ = nullptr;
  SlabCache* cache_ = nullptr;
  std::size_t stride_ = 0;
  std::uint32_t shards_ = 0;
  SlabOwner owner_ = 0;
};
static_assert(sizeof(Slab) <= 32, "10^6 live arrays are a goal");

/// Makes slabs, and keeps the bytes of dead ones for the next of about the same size, within a
/// bound. Sizes are rounded up to a class, by less than a quarter. Small slabs are cut from pages,
/// for the heap would add about their own size to each; pages stay until the cache ends. Not
/// thread-safe.
class SlabCache {
 public:
  struct Limits {
    std::size_t cached_bytes_max = std::size_t{256} << 20;  // Of dead slabs.
    std::size_t slab_bytes_max = std::size_t{1} << 44;      // Of one slab.
  };
  static constexpr std::size_t kSmallBytes = 1024;
  static constexpr std::size_t kPageBytes = 32 * 1024;

  SlabCache(Allocator& allocator, Limits limits) : allocator_(allocator), limits_(limits) {}
  /// All slabs must be dead.
  ~SlabCache();
  SlabCache(const SlabCache&) = delete;
  SlabCache& operator=(const SlabCache&) = delete;

  /// A slab for `shards` shards of `shard_bytes`; both may be 0. About 20 ns when recycled. What
  /// was not `owner`'s before is zeros, but for the owner 0: it takes as long as to write them.
  /// Errors: kResourceExhausted if it is larger than the limit, or the allocator has no more
  /// (after the cache has been emptied).
  Result<Slab> make(std::uint32_t shards, std::size_t shard_bytes, SlabOwner owner = 0);

  /// Gives all cached bytes back to the allocator, but for pages of small slabs.
  void trim();
  /// Nothing is made any more, and nothing is written where dead slabs lie: others may read there.
  void retire();

  std::size_t cached_bytes() const { return cached_bytes_; }
  std::size_t live_bytes() const { return live_bytes_; }
  std::size_t live_slabs() const { return live_slabs_; }

 private:
  friend class Slab;

  /// A dead slab: its own first bytes hold the list.
  struct Free {
    Free* next;
    SlabOwner owner;  // Of what else is there.
  };
  static constexpr std::size_t kClasses = 256;

  static std::uint32_t class_of(std::size_t bytes);
  static std::size_t bytes_of(std::uint32_t size_class);
  std::byte* take(std::uint32_t size_class, SlabOwner owner);
  std::byte* take_small(std::uint32_t size_class);
  std::byte* allocate(std::size_t bytes);
  void give_back(std::byte* base, std::size_t slab_bytes, SlabOwner owner);

  Allocator& allocator_;
  Limits limits_;
  std::array<Free*, kClasses> free_{};
  std::byte* page_ = nullptr;  // What is left of the page that is being cut: [page_, page_end_).
  std::byte* page_end_ = nullptr;
  std::vector<std::byte*> pages_;
  std::size_t cached_bytes_ = 0;
  std::size_t live_bytes_ = 0;
  std::size_t live_slabs_ = 0;
  bool is_retired_ = false;
};

}  // namespace seaway::store
