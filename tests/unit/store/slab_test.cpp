// Slabs: strides, recycling, and what they refuse.

#include "store/slab.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "base/random.hpp"

namespace seaway::store {
namespace {

/// Counts what is taken, and refuses beyond a limit.
class CountingAllocator final : public Allocator {
 public:
  std::byte* allocate(std::size_t bytes) override {
    if (used + bytes > limit) return nullptr;
    used += bytes;
    ++calls;
    return heap_.allocate(bytes);
  }
  void release(std::byte* base, std::size_t bytes) override {
    used -= bytes;
    heap_.release(base, bytes);
  }
  std::size_t used = 0, calls = 0, limit = std::size_t{1} << 40;

 private:
  HeapAllocator heap_;
};

TEST(Slab, LaysShardsApartByAStrideThatSparesTheCaches) {
  EXPECT_EQ(stride_for(1, 4096), 4096u);
  EXPECT_EQ(stride_for(8, 4096), 4160u);
  EXPECT_EQ(stride_for(8, 8192 - 10), 8256u);
  EXPECT_EQ(stride_for(8, 4), 64u);
  EXPECT_EQ(stride_for(8, 0), 0u);
}

TEST(Slab, GivesEachShardItsOwnAlignedBytes) {
  CountingAllocator allocator;
  SlabCache cache(allocator, {});

  for (const std::size_t shard_bytes : {1, 64, 100, 4096, 5000, 70000}) {
    const Slab slab = cache.make(3, shard_bytes).value();
    for (std::size_t s = 0; s < 3; ++s) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(slab.shard(s)) % 64, 0u);
      std::memset(slab.shard(s), static_cast<int>(s), shard_bytes);
    }
    EXPECT_EQ(std::to_integer<int>(slab.shard(0)[shard_bytes - 1]), 0);
    EXPECT_EQ(std::to_integer<int>(slab.shard(2)[0]), 2);
  }

  EXPECT_EQ(cache.live_slabs(), 0u);
  EXPECT_EQ(cache.live_bytes(), 0u);
}

TEST(Slab, OfNoBytesIsAValueWithoutMemory) {
  CountingAllocator allocator;
  SlabCache cache(allocator, {});

  const Slab no_bytes = cache.make(4, 0).value();
  const Slab no_shards = cache.make(0, 64).value();

  EXPECT_TRUE(no_bytes.has_value());
  EXPECT_EQ(no_bytes.shard(3), nullptr);
  EXPECT_EQ(no_shards.base(), nullptr);
  EXPECT_EQ(allocator.calls, 0u);
  EXPECT_FALSE(Slab().has_value());
}

TEST(Slab, MovesItsBytesAndFreesThemOnce) {
  CountingAllocator allocator;
  SlabCache cache(allocator, {});

  Slab a = cache.make(1, 64).value();
  std::byte* const base = a.base();
  Slab b = std::move(a);
  b = std::move(b);
  Slab c = cache.make(1, 64).value();
  c = std::move(b);

  EXPECT_EQ(c.base(), base);
  EXPECT_EQ(cache.live_slabs(), 1u);
}

TEST(SlabCache, RecyclesTheBytesOfDeadSlabs) {
  CountingAllocator allocator;
  SlabCache cache(allocator, {});

  std::byte* const first = cache.make(4, 1000).value().base();
  const Slab second = cache.make(4, 1000).value();

  EXPECT_EQ(second.base(), first);
  EXPECT_EQ(allocator.calls, 1u);
}

TEST(SlabCache, CutsSmallSlabsFromSharedPagesAndRecyclesThem) {
  CountingAllocator allocator;
  {
    SlabCache cache(allocator, {});
    std::vector<Slab> slabs;
    for (int i = 0; i < 300; ++i) slabs.push_back(cache.make(1, 64 + i % 3 * 448).value());
    for (std::size_t i = 0; i < slabs.size(); ++i) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(slabs[i].base()) % 64, 0u);
      std::memset(slabs[i].base(), static_cast<int>(i), 64 + i % 3 * 448);
    }
    for (std::size_t i = 0; i < slabs.size(); ++i) {
      EXPECT_EQ(slabs[i].base()[63 + i % 3 * 448], static_cast<std::byte>(i));
    }
    const std::size_t pages = allocator.calls;
    EXPECT_EQ(pages,
              (300 / 3 * (64 + 512 + 1024) + SlabCache::kPageBytes - 1) / SlabCache::kPageBytes);

    slabs.clear();
    for (int i = 0; i < 300; ++i) slabs.push_back(cache.make(1, 64 + i % 3 * 448).value());
    EXPECT_EQ(allocator.calls, pages);
  }
  EXPECT_EQ(allocator.used, 0u);
}

TEST(SlabCache, KeepsNoMoreDeadBytesThanItsLimit) {
  CountingAllocator allocator;
  SlabCache cache(allocator, {.cached_bytes_max = 4096});

  {
    const Slab a = cache.make(1, 2048).value(), b = cache.make(1, 2048).value(),
               c = cache.make(1, 2048).value();
  }

  EXPECT_EQ(cache.cached_bytes(), 4096u);
  EXPECT_EQ(allocator.used, cache.cached_bytes());
  cache.trim();
  EXPECT_EQ(allocator.used, 0u);
}

TEST(SlabCache, RoundsUpByLessThanAQuarter) {
  CountingAllocator allocator;
  SlabCache cache(allocator, {.cached_bytes_max = 0});
  RandomStream random(1, 1);

  for (int i = 0; i < 1000; ++i) {
    const std::size_t bytes = (17 + random.below(1 << 14)) * 64;
    const Slab slab = cache.make(1, bytes).value();
    ASSERT_GE(allocator.used, bytes);
    ASSERT_LT(allocator.used, bytes + bytes / 4 + 1);
  }
}

TEST(SlabCache, EmptiesItselfBeforeItRefuses) {
  CountingAllocator allocator;
  allocator.limit = 4096;
  SlabCache cache(allocator, {});

  { const Slab dead = cache.make(1, 3072).value(); }
  const Slab fits = cache.make(1, 4096).value();
  const Result<Slab> refused = cache.make(1, 64);

  EXPECT_EQ(refused.status(),
            resource_exhausted("slab of 64 bytes refused: the host has no more memory (4096 bytes "
                               "in 1 slabs are in use); free arrays, or lower the device memory"));
}

TEST(SlabCache, RefusesASlabAboveItsLimit) {
  CountingAllocator allocator;
  SlabCache cache(allocator, {.slab_bytes_max = 1000});

  EXPECT_EQ(cache.make(2, 501).status(),
            resource_exhausted("slab of 2 shards of 501 bytes refused: one slab may have 1000 "
                               "bytes; split the array over more hosts"));
  EXPECT_EQ(cache.make(0xffffffff, ~std::size_t{0}).status().code(),
            StatusCode::kResourceExhausted);
}

/// What a slab of `owner` of so many bytes begins and ends with.
std::pair<int, int> seen_by(SlabCache& cache, SlabOwner owner, std::size_t bytes) {
  const Slab slab = cache.make(1, bytes, owner).value();
  return {static_cast<int>(slab.base()[sizeof(void*) * 2]),
          static_cast<int>(slab.base()[bytes - 1])};
}

TEST(SlabCache, WhoeverIsNotTheOwnerSeesZeros) {
  HeapAllocator allocator;
  SlabCache cache(allocator, {});
  for (const std::size_t bytes : {std::size_t{64}, std::size_t{1024}, std::size_t{65536}}) {
    const auto write = [&cache, bytes](SlabOwner owner) {
      const Slab slab = cache.make(1, bytes, owner).value();
      std::memset(slab.base(), 0x5a, bytes);
    };

    write(1);
    EXPECT_EQ(seen_by(cache, 1, bytes), std::pair(0x5a, 0x5a)) << "it costs nothing for its owner";
    EXPECT_EQ(seen_by(cache, 2, bytes), std::pair(0, 0));
    write(0);
    EXPECT_EQ(seen_by(cache, 2, bytes), std::pair(0, 0)) << "nobody knows whose this was";
  }
}

TEST(SlabCache, WhatTheAllocatorHadBeforeIsNobodysToSee) {
  CountingAllocator allocator;
  SlabCache cache(allocator, {.cached_bytes_max = 0});
  const std::size_t bytes = 65536;
  {
    const Slab slab = cache.make(1, bytes, 1).value();
    std::memset(slab.base(), 0x5a, bytes);
  }

  for (int i = 0; i < 8; ++i) EXPECT_EQ(seen_by(cache, 2, bytes), std::pair(0, 0));
}

}  // namespace
}  // namespace seaway::store
