// The memory plan: no overlap, shrinking room, and no more of it than a chain needs.

#include "program/memory_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.hpp"

namespace seaway::program {
namespace {

std::uint64_t room_at(const std::vector<BlockStep>& steps, std::uint32_t gang) {
  std::uint64_t bytes = 0;
  for (const BlockStep& step : steps) {
    if (step.gang <= gang) bytes = step.bytes;
  }
  return bytes;
}

void expect_sound(const std::vector<LiveRange>& ranges, const std::vector<BlockStep>& steps,
                  std::uint32_t gangs) {
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const LiveRange& a = ranges[i];
    EXPECT_EQ(a.offset % 64, 0u);
    if (a.bytes == 0) continue;
    for (std::uint32_t g = a.first; g <= a.last; ++g) {
      ASSERT_LE(a.offset + a.bytes, room_at(steps, g)) << "range " << i << " at gang " << g;
    }
    for (std::size_t k = 0; k < i; ++k) {
      const LiveRange& b = ranges[k];
      if (b.bytes == 0 || a.last < b.first || b.last < a.first) continue;
      ASSERT_TRUE(a.offset + a.bytes <= b.offset || b.offset + b.bytes <= a.offset)
          << "ranges " << i << " and " << k << " overlap";
    }
  }
  if (steps.empty()) return;
  EXPECT_EQ(steps.front().gang, 0u);
  EXPECT_EQ(steps.back().gang, gangs);
  EXPECT_EQ(steps.back().bytes, 0u);
  for (std::size_t i = 1; i < steps.size(); ++i) {
    EXPECT_LT(steps[i - 1].gang, steps[i].gang);
    EXPECT_GE(steps[i - 1].bytes, steps[i].bytes);
  }
}

std::vector<LiveRange> chain(std::uint32_t gangs, std::uint64_t bytes) {
  std::vector<LiveRange> ranges;
  for (std::uint32_t g = 0; g + 1 < gangs; ++g) ranges.push_back({g, g + 1, bytes, 0});
  return ranges;
}

TEST(MemoryPlan, GivesAChainTwoBuffers) {
  std::vector<LiveRange> ranges = chain(100, 256);

  const std::vector<BlockStep> steps = plan_memory(ranges, 100);

  expect_sound(ranges, steps, 100);
  EXPECT_EQ(steps.front().bytes, 512u);
}

TEST(MemoryPlan, PutsWhatIsNeededLastLowest) {
  std::vector<LiveRange> ranges{{0, 0, 4096, 0}, {0, 3, 64, 0}, {1, 2, 128, 0}};

  const std::vector<BlockStep> steps = plan_memory(ranges, 5);

  expect_sound(ranges, steps, 5);
  EXPECT_EQ(ranges[1].offset, 0u);
  ASSERT_EQ(steps.size(), 5u);
  EXPECT_EQ(steps[0].bytes, 4160u);
  EXPECT_EQ(steps[1].bytes, 192u);
  EXPECT_EQ(steps[2].bytes, 64u);
  EXPECT_EQ(steps[2].gang, 3u);
  EXPECT_EQ(steps[3].bytes, 0u);
  EXPECT_EQ(steps[3].gang, 4u);
}

TEST(MemoryPlan, NeedsNoRoomForNothing) {
  std::vector<LiveRange> none, empty{{0, 1, 0, 0}};

  EXPECT_TRUE(plan_memory(none, 3).empty());
  EXPECT_TRUE(plan_memory(empty, 3).empty());
}

TEST(MemoryPlan, IsSoundForRandomRanges) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomStream random(seed, 1);
    const auto gangs = static_cast<std::uint32_t>(1 + random.below(30));
    std::vector<LiveRange> ranges(random.below(40));
    for (LiveRange& range : ranges) {
      range.first = static_cast<std::uint32_t>(random.below(gangs));
      range.last = static_cast<std::uint32_t>(random.between(range.first, gangs - 1));
      range.bytes = 64 * random.below(20);
    }

    const std::vector<BlockStep> steps = plan_memory(ranges, gangs);

    expect_sound(ranges, steps, gangs);
    if (HasFatalFailure()) return;
  }
}

TEST(MemoryPlan, TakesAMillionRangesInASecondOrTwo) {
  constexpr std::uint32_t kGangs = 1'000'000;
  std::vector<LiveRange> ranges = chain(kGangs, 64);

  const std::vector<BlockStep> steps = plan_memory(ranges, kGangs);

  EXPECT_EQ(steps.front().bytes, 128u);
}

}  // namespace
}  // namespace seaway::program
