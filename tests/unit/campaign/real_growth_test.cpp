// Which processes have grown, and which have only been young.

#include "campaign/real_growth.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace seaway::campaign {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000, kMiB = 1 << 20;

/// One process for `seconds`, a sample a second.
std::vector<RealSample> life(std::uint64_t seconds,
                             const std::function<std::uint64_t(std::uint64_t)>& mib) {
  std::vector<RealSample> samples;
  for (std::uint64_t s = 0; s < seconds; ++s) {
    samples.push_back({s * kSecond, "host 1", 4711, mib(s) * kMiB, 40});
  }
  return samples;
}

/// A new one every 15 s, which has as many MiB more than 20 as it is old, and `more` of it.
std::vector<RealSample> lives(std::uint64_t seconds,
                              const std::function<std::uint64_t(std::uint64_t)>& more) {
  std::vector<RealSample> samples;
  for (std::uint64_t s = 0; s < seconds; ++s) {
    const auto process = static_cast<std::int64_t>(100 + s / 15);
    samples.push_back({s * kSecond, "host 1", process, (20 + s % 15 + more(s)) * kMiB, 40});
  }
  return samples;
}

TEST(RealGrowth, WhoGrowsAtFirstAndThenNoMoreHasNotGrown) {
  EXPECT_TRUE(judge_growth(life(400, [](std::uint64_t s) {
                return 20 + std::min<std::uint64_t>(s, 80);
              })).empty());
}

TEST(RealGrowth, WhoGoesOnGrowingIsNamedWithBothFigures) {
  const auto lines = judge_growth(life(400, [](std::uint64_t s) { return 20 + s / 8; }));
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(
      lines[0],
      "host 1 (process 4711) had 39845888 bytes in the second quarter and 66060288 in the last");
}

TEST(RealGrowth, SoAreDescriptorsJudged) {
  auto samples = life(400, [](std::uint64_t) { return 20; });
  for (RealSample& sample : samples) sample.descriptors = 40 + sample.at_ns / kSecond / 5;
  const auto lines = judge_growth(samples);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].find("descriptors in the second quarter"), std::string::npos);
}

TEST(RealGrowth, ShortLivesAreComparedWhereTheyAreAsOld) {
  EXPECT_TRUE(judge_growth(lives(600, [](std::uint64_t) { return 0; })).empty());

  const auto lines = judge_growth(lives(600, [](std::uint64_t s) { return s / 10; }));

  ASSERT_EQ(lines.size(), 1u) << "each life by itself is too short to tell";
  EXPECT_TRUE(lines[0].starts_with("host 1, as old, had "));
}

TEST(RealGrowth, OfTooLittleNothingIsSaid) {
  EXPECT_TRUE(judge_growth({}).empty());
  EXPECT_TRUE(judge_growth(life(20, [](std::uint64_t s) { return s * 100; })).empty());
}

}  // namespace
}  // namespace seaway::campaign
