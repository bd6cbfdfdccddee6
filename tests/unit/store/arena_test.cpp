// Pieces of a region: where they lie, what they leave, and what has no room.

#include "store/arena.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <vector>

namespace seaway::store {
namespace {

constexpr std::size_t kLine = 64;

class ArenaTest : public testing::Test {
 protected:
  static constexpr std::size_t kBytes = 64 * kLine;

  ArenaTest()
      : bytes_(static_cast<std::byte*>(std::aligned_alloc(4096, kBytes)), &std::free),
        arena_({bytes_.get(), kBytes}, heap_) {}
  std::size_t place(const std::byte* base) { return *arena_.offset_of(base) / kLine; }

  HeapAllocator heap_;
  std::unique_ptr<std::byte, decltype(&std::free)> bytes_;
  Arena arena_;
};

TEST_F(ArenaTest, CutsPiecesFromTheLowestPlaceWhereTheyFit) {
  std::byte* const a = arena_.allocate(4 * kLine);
  std::byte* const b = arena_.allocate(2 * kLine);
  std::byte* const c = arena_.allocate(4 * kLine);
  EXPECT_EQ(place(a), 0u);
  EXPECT_EQ(place(b), 4u);
  EXPECT_EQ(place(c), 6u);
  arena_.release(a, 4 * kLine);

  EXPECT_EQ(place(arena_.allocate(5 * kLine)), 10u);
  EXPECT_EQ(place(arena_.allocate(3 * kLine)), 0u);
  EXPECT_EQ(place(arena_.allocate(1 * kLine)), 3u);
}

TEST_F(ArenaTest, WhatComesBackIsOnePieceWithTheHolesBesideIt) {
  std::vector<std::byte*> pieces;
  for (int i = 0; i < 4; ++i) pieces.push_back(arena_.allocate(16 * kLine));
  EXPECT_EQ(arena_.free_bytes(), 0u);
  for (const int i : {0, 2, 1, 3}) arena_.release(pieces[static_cast<std::size_t>(i)], 16 * kLine);

  EXPECT_EQ(arena_.holes(), 1u);
  EXPECT_EQ(arena_.free_bytes(), kBytes);
  EXPECT_EQ(place(arena_.allocate(kBytes)), 0u);
}

TEST_F(ArenaTest, WhatItHasNoRoomForComesFromElsewhereAndGoesBackThere) {
  std::byte* const all = arena_.allocate(kBytes);
  std::byte* const more = arena_.allocate(kLine);

  ASSERT_NE(more, nullptr);
  EXPECT_FALSE(arena_.offset_of(more));
  std::memset(more, 7, kLine);
  arena_.release(more, kLine);  // The sanitizers know if this is not the heap's.
  arena_.release(all, kBytes);
  EXPECT_EQ(arena_.free_bytes(), kBytes);
}

TEST_F(ArenaTest, WithoutARegionAllComesFromElsewhere) {
  Arena none({}, heap_);
  std::byte* const piece = none.allocate(kLine);
  ASSERT_NE(piece, nullptr);
  EXPECT_FALSE(none.offset_of(piece));
  none.release(piece, kLine);
}

TEST_F(ArenaTest, OnlyWholePagesOfWhatComesBackAreScrubbed) {
  constexpr std::size_t kPages = 4 * 4096;
  std::unique_ptr<std::byte, decltype(&std::free)> bytes(
      static_cast<std::byte*>(std::aligned_alloc(4096, kPages)), &std::free);
  std::vector<std::pair<std::size_t, std::size_t>> scrubbed;
  Arena arena({bytes.get(), kPages}, heap_, [&](std::span<std::byte> pages) {
    scrubbed.emplace_back(static_cast<std::size_t>(pages.data() - bytes.get()), pages.size());
  });
  std::byte* const first = arena.allocate(kLine);
  std::byte* const second = arena.allocate(2 * 4096);

  arena.release(first, kLine);
  arena.release(second, 2 * 4096);

  EXPECT_EQ(scrubbed, (std::vector<std::pair<std::size_t, std::size_t>>{{4096, 4096}}));
}

TEST_F(ArenaTest, WhatItHasScrubbedIsZerosToTheLastByte) {
  constexpr std::size_t kPages = 4 * 4096;
  std::unique_ptr<std::byte, decltype(&std::free)> bytes(
      static_cast<std::byte*>(std::aligned_alloc(4096, kPages)), &std::free);
  std::memset(bytes.get(), 0, kPages);
  Arena arena({bytes.get(), kPages}, heap_,
              [](std::span<std::byte> pages) { std::memset(pages.data(), 0, pages.size()); });
  std::byte* const first = arena.allocate(kLine);
  std::byte* const second = arena.allocate(2 * 4096);
  std::memset(first, 0x5a, kLine);
  std::memset(second, 0x5a, 2 * 4096);

  arena.release(first, kLine);
  arena.release(second, 2 * 4096);

  std::byte* const all = arena.allocate(kPages);
  EXPECT_TRUE(arena.is_zeros(all, kPages));
  EXPECT_EQ(std::count(all, all + kPages, std::byte{0}), static_cast<std::ptrdiff_t>(kPages));
  arena.scrub_no_more();
  EXPECT_FALSE(arena.is_zeros(all, kPages));
}

TEST_F(ArenaTest, PiecesOfAnySizesNeverOverlap) {
  std::mt19937 random(7);  // NOLINT: the same each time.
  std::map<std::byte*, std::size_t> pieces;
  for (int step = 0; step < 20'000; ++step) {
    const std::size_t bytes = kLine * (1 + random() % 9);
    if (random() % 2 == 0 && arena_.free_bytes() >= bytes) {
      std::byte* const piece = arena_.allocate(bytes);
      const auto next = pieces.lower_bound(piece);
      if (next != pieces.end()) {
        ASSERT_LE(piece + bytes, next->first);
      }
      if (next != pieces.begin()) {
        const auto before = std::prev(next);
        ASSERT_LE(before->first + before->second, piece);
      }
      pieces[piece] = bytes;
    } else if (!pieces.empty()) {
      const auto gone =
          std::next(pieces.begin(), static_cast<std::ptrdiff_t>(random() % pieces.size()));
      arena_.release(gone->first, gone->second);
      pieces.erase(gone);
    }
  }
  for (const auto& [piece, bytes] : pieces) arena_.release(piece, bytes);
  EXPECT_EQ(arena_.holes(), 1u);
}

TEST_F(ArenaTest, WhatIsLeftAsItIsIsReadAfterItsCacheHasEnded) {
  constexpr std::size_t kPages = 64 * 4096, kLarge = 2 * 32768;
  std::unique_ptr<std::byte, decltype(&std::free)> bytes(
      static_cast<std::byte*>(std::aligned_alloc(4096, kPages)), &std::free);
  const std::span<std::byte> region(bytes.get(), kPages);
  std::ranges::fill(region, std::byte{0});
  const auto count = [region](int value) { return std::ranges::count(region, std::byte(value)); };
  Arena arena(region, heap_,
              [](std::span<std::byte> pages) { std::ranges::fill(pages, std::byte{0}); });
  {
    SlabCache cache(arena, {});
    const auto small = cache.make(1, kLine), large = cache.make(2, kLarge / 2);
    std::memset(small->base(), 7, kLine);
    std::memset(large->base(), 9, kLarge);
    arena.scrub_no_more();
    cache.retire();
  }
  EXPECT_EQ(count(7), kLine);
  EXPECT_EQ(count(9), kLarge);
}

}  // namespace
}  // namespace seaway::store
