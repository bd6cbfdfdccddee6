// Places in a file: taken once, given back once, and whatever is free can be had.

#include "store/file_space.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "base/random.hpp"

namespace seaway::store {
namespace {

TEST(FileSpace, TakesTheLowestPlaceWhereItFits) {
  FileSpace space(1000);
  const auto a = space.take(100), b = space.take(300), c = space.take(100);
  space.give_back(a);
  space.give_back(c);

  EXPECT_EQ(space.take(200), (std::vector<Extent>{{400, 200}}));
  EXPECT_EQ(space.take(100), (std::vector<Extent>{{0, 100}}));
  EXPECT_EQ(space.used_bytes(), 600u);
}

TEST(FileSpace, GivesPiecesWhereNoneIsLargeEnough) {
  FileSpace space(300);
  const auto a = space.take(100);
  space.take(100);
  space.give_back(a);

  const auto pieces = space.take(150);

  EXPECT_EQ(pieces, (std::vector<Extent>{{0, 100}, {200, 50}}));
  space.give_back(pieces);
  EXPECT_EQ(space.free_bytes(), 200u);
  EXPECT_EQ(space.holes(), 2u);
}

TEST(FileSpace, GivesNothingOfWhatIsTooMuch) {
  FileSpace space(100);
  space.take(60);

  EXPECT_TRUE(space.take(41).empty());
  EXPECT_EQ(space.free_bytes(), 40u);
}

TEST(FileSpace, StopsTheProcessWhenAPlaceComesBackTwice) {
  FileSpace space(100);
  const auto place = space.take(10);
  space.give_back(place);

  EXPECT_DEATH(space.give_back(place), "bug in Seaway: expected behind");
}

TEST(FileSpace, NeverGivesAByteTwice) {
  constexpr std::uint64_t kBytes = 512;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    RandomStream random(seed, 7);
    FileSpace space(kBytes);
    std::vector<bool> is_taken(kBytes);
    std::vector<std::vector<Extent>> held;
    std::uint64_t used = 0;
    for (int step = 0; step < 200; ++step) {
      if (!held.empty() && random.chance(45)) {
        const std::size_t chosen = random.below(held.size());
        for (const Extent& extent : held[chosen]) {
          for (std::uint64_t i = 0; i < extent.bytes; ++i) is_taken[extent.offset + i] = false;
          used -= extent.bytes;
        }
        space.give_back(held[chosen]);
        held.erase(held.begin() + static_cast<std::ptrdiff_t>(chosen));
        continue;
      }
      const std::uint64_t bytes = 1 + random.below(100);
      const auto taken = space.take(bytes);
      ASSERT_EQ(taken.empty(), bytes > kBytes - used) << seed;
      if (taken.empty()) continue;
      used += bytes;
      std::uint64_t sum = 0;
      for (const Extent& extent : taken) {
        for (std::uint64_t i = 0; i < extent.bytes; ++i) {
          ASSERT_FALSE(is_taken[extent.offset + i]) << seed;
          is_taken[extent.offset + i] = true;
        }
        sum += extent.bytes;
      }
      ASSERT_EQ(sum, bytes) << seed;
      ASSERT_EQ(space.used_bytes(), used) << seed;
      held.push_back(taken);
    }
    for (const auto& extents : held) space.give_back(extents);
    ASSERT_EQ(space.free_bytes(), kBytes) << seed;
    ASSERT_EQ(space.holes(), 1u) << seed;
  }
}

}  // namespace
}  // namespace seaway::store
