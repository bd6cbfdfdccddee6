// Slabs, device budgets and host room.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/random.hpp"
#include "store/device_budget.hpp"
#include "store/host_room.hpp"
#include "store/slab.hpp"

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

TEST(SlabCache, KeepsNoMoreDeadBytesThanItsLimit) {
  CountingAllocator allocator;
  SlabCache cache(allocator, {.cached_bytes_max = 256});

  {
    const Slab a = cache.make(1, 128).value(), b = cache.make(1, 128).value(),
               c = cache.make(1, 64).value();
  }

  EXPECT_LE(cache.cached_bytes(), 256u);
  EXPECT_EQ(allocator.used, cache.cached_bytes());
  cache.trim();
  EXPECT_EQ(allocator.used, 0u);
}

TEST(SlabCache, RoundsUpByLessThanAQuarter) {
  CountingAllocator allocator;
  SlabCache cache(allocator, {.cached_bytes_max = 0});
  RandomStream random(1, 1);

  for (int i = 0; i < 1000; ++i) {
    const std::size_t bytes = (1 + random.below(1 << 14)) * 64;
    const Slab slab = cache.make(1, bytes).value();
    ASSERT_GE(allocator.used, bytes);
    ASSERT_LT(allocator.used, bytes + bytes / 4 + 1);
  }
}

TEST(SlabCache, EmptiesItselfBeforeItRefuses) {
  CountingAllocator allocator;
  allocator.limit = 1024;
  SlabCache cache(allocator, {});

  { const Slab dead = cache.make(1, 768).value(); }
  const Slab fits = cache.make(1, 1024).value();
  const Result<Slab> refused = cache.make(1, 64);

  EXPECT_EQ(refused.status(),
            resource_exhausted("slab of 64 bytes refused: the host has no more memory (1024 bytes "
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

TEST(DeviceBudget, ChargesAllDevicesOrNone) {
  DeviceBudget budget(4, 100);
  ASSERT_TRUE(budget.charge(std::vector<DeviceId>{2}, 60).ok());

  const Status refused = budget.charge(std::vector<DeviceId>{1, 2, 3}, 50);

  EXPECT_EQ(refused, resource_exhausted("device memory refused: 50 bytes wanted on device 2, 40 of "
                                        "100 free; free arrays or wait for runs to finish"));
  EXPECT_EQ(budget.allocated(1), 0u);
  EXPECT_EQ(budget.allocated(3), 0u);
}

TEST(DeviceBudget, SaysWhatCanNeverFit) {
  DeviceBudget budget(1, 100);

  EXPECT_EQ(budget.charge(std::vector<DeviceId>{0}, 101),
            resource_exhausted("device memory refused: 101 bytes wanted on each device, which has "
                               "100 in all; shard over more devices, or raise the device memory"));
  EXPECT_FALSE(budget.fits(std::vector<DeviceId>{0}, ~std::uint64_t{0}));
  EXPECT_TRUE(budget.fits({}, 101));
}

TEST(DeviceBudget, RemembersItsPeak) {
  DeviceBudget budget(2, 100);
  const std::vector<DeviceId> both = {1, 0};
  budget.charge_reserved(both, 70);
  budget.uncharge(both, 70);
  budget.charge_reserved(std::vector<DeviceId>{1}, 80);

  EXPECT_EQ(budget.peak(0), 70u);
  EXPECT_EQ(budget.peak(), 80u);
  budget.reset_peak();
  EXPECT_EQ(budget.peak(0), 0u);
  EXPECT_EQ(DeviceBudget(0, 1).peak(), 0u);
}

TEST(DeviceBudget, StopsTheProcessWhenAPromiseIsBroken) {
  DeviceBudget budget(2, 100);
  const std::vector<DeviceId> both = {0, 1};

  EXPECT_DEATH(budget.uncharge(both, 1), "signs < kBytesEnd");
  EXPECT_DEATH(budget.charge_reserved(both, 101), "101 bytes wanted");
}

/// ST-1, against counting device by device, for ranges and for lists.
TEST(DeviceBudget, AgreesWithCountingDeviceByDevice) {
  constexpr std::uint32_t kDevices = 16;
  constexpr std::uint64_t kLimit = 1000;
  DeviceBudget budget(kDevices, kLimit);
  std::vector<std::uint64_t> counted(kDevices, 0);
  RandomStream random(7, 1);
  std::vector<std::pair<std::vector<DeviceId>, std::uint64_t>> held;

  for (int step = 0; step < 20'000; ++step) {
    if (!held.empty() && random.chance(50)) {
      const std::size_t which = random.below(held.size());
      budget.uncharge(held[which].first, held[which].second);
      for (const DeviceId device : held[which].first) counted[device] -= held[which].second;
      held.erase(held.begin() + static_cast<std::ptrdiff_t>(which));
    } else {
      std::vector<DeviceId> devices(1 + random.below(kDevices));
      std::iota(devices.begin(), devices.end(), random.below(kDevices - devices.size() + 1));
      if (random.chance(50)) std::reverse(devices.begin(), devices.end());
      const std::uint64_t bytes = random.below(kLimit + 2);
      const bool fits = std::all_of(devices.begin(), devices.end(), [&](DeviceId device) {
        return counted[device] + bytes <= kLimit;
      });
      ASSERT_EQ(budget.charge(devices, bytes).ok(), fits);
      if (!fits) continue;
      for (const DeviceId device : devices) counted[device] += bytes;
      held.emplace_back(std::move(devices), bytes);
    }
    for (DeviceId device = 0; device < kDevices; ++device) {
      ASSERT_EQ(budget.allocated(device), counted[device]);
    }
  }
}

TEST(HostRoom, KeepsRoomForSpillingWhenUploadsFillTheirOwn) {
  HostRoom room({.upload_bytes = 100, .spill_bytes = 50, .send_bytes = 0});

  ASSERT_TRUE(room.reserve(Purse::kUpload, 100).ok());

  EXPECT_EQ(room.reserve(Purse::kUpload, 1).code(), StatusCode::kResourceExhausted);
  EXPECT_TRUE(room.reserve(Purse::kSpill, 50).ok());
  EXPECT_TRUE(room.reserve(Purse::kSend, 0).ok());
}

TEST(HostRoom, SaysForEachPurseWhatToDo) {
  HostRoom room({.upload_bytes = 10, .spill_bytes = 10, .send_bytes = 10});
  for (const Purse purse : {Purse::kUpload, Purse::kSpill, Purse::kSend}) {
    ASSERT_TRUE(room.reserve(purse, 7).ok());
  }

  EXPECT_EQ(room.reserve(Purse::kUpload, 4),
            resource_exhausted("host room for uploads refused: 4 bytes wanted, 3 of 10 free; wait "
                               "for runs that read earlier uploads, or raise "
                               "HostRoom::Limits::upload_bytes"));
  EXPECT_EQ(room.reserve(Purse::kSpill, 4),
            resource_exhausted("host room for spilling refused: 4 bytes wanted, 3 of 10 free; free "
                               "arrays that are kept, or raise HostRoom::Limits::spill_bytes"));
  EXPECT_EQ(room.reserve(Purse::kSend, 4),
            resource_exhausted("host room for sends refused: 4 bytes wanted, 3 of 10 free; wait "
                               "for earlier sends to arrive, or raise "
                               "HostRoom::Limits::send_bytes"));
  EXPECT_EQ(room.reserve(Purse::kSend, 11),
            resource_exhausted("host room for sends refused: 11 bytes wanted, more than all 10; "
                               "use smaller arrays, or raise HostRoom::Limits::send_bytes"));
}

TEST(HostRoom, TakesBackWhatItGaveAndNoMore) {
  HostRoom room({.upload_bytes = 10, .spill_bytes = 10, .send_bytes = 10});
  ASSERT_TRUE(room.reserve(Purse::kSpill, 6).ok());

  room.release(Purse::kSpill, 4);

  EXPECT_EQ(room.used(Purse::kSpill), 2u);
  EXPECT_EQ(room.available(Purse::kSpill), 8u);
  EXPECT_EQ(room.peak(Purse::kSpill), 6u);
  EXPECT_DEATH(room.release(Purse::kSpill, 3), "bytes <= used");
}

}  // namespace
}  // namespace seaway::store
