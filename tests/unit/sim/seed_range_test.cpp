// Rows of clean seeds: how they grow, end, and are gone on with from a file.

#include "sim/seed_range.hpp"

#include <gtest/gtest.h>

namespace seaway::sim {
namespace {

const RangeKey kPrograms{"programs", "5d6e"};

/// What is in the file after `seeds` clean seeds from 1 on, of 100 steps each.
std::string file_after(std::uint64_t seeds, int last_exit = 0) {
  SeedRanges ranges;
  CleanSeeds* const count = ranges.resume(kPrograms, "1a2b3c4", 1).value();
  for (std::uint64_t i = 0; i < seeds; ++i) count->add(0, 100);
  if (last_exit != 0) count->add(last_exit, 7);
  return ranges.to_string();
}

TEST(SeedRanges, AreReadBackAsTheyWereWritten) {
  SeedRanges ranges = SeedRanges::parse(file_after(3)).value();
  ranges.resume({"apps", "5d6e"}, "1a2b3c4", 10).value()->add(129, 5);

  EXPECT_EQ(SeedRanges::parse(ranges.to_string()).value(), ranges);
}

TEST(SeedRanges, GoOnBehindTheLastCleanSeed) {
  SeedRanges ranges = SeedRanges::parse(file_after(500)).value();

  const CleanSeeds& count = *ranges.resume(kPrograms, "1a2b3c4", 1).value();

  EXPECT_EQ(count.next(), 501u);
  EXPECT_EQ(count.to_string(),
            "clean: 1..500 (500 seeds, 50000 steps, of kind programs, commit 1a2b3c4, build 5d6e)");
}

TEST(SeedRanges, AFailedSeedIsKeptAndIsTheNextOneAgain) {
  SeedRanges ranges = SeedRanges::parse(file_after(4, 129)).value();

  CleanSeeds& count = *ranges.resume(kPrograms, "1a2b3c4", 1).value();
  const std::string before = count.to_string();
  count.add(0, 100);

  EXPECT_NE(before.find("clean: 1..4 (4 seeds, 400 steps,"), std::string::npos) << before;
  EXPECT_NE(before.find("; seed 5 ended with 129"), std::string::npos) << before;
  EXPECT_EQ(count.next(), 6u);
  EXPECT_EQ(count.to_string().find("ended with"), std::string::npos);
}

TEST(SeedRanges, AnotherBuildAndAnotherKindOfWorldBeginAnew) {
  SeedRanges ranges = SeedRanges::parse(file_after(500)).value();

  EXPECT_EQ(ranges.resume({"programs", "7f80"}, "1a2b3c4", 1).value()->next(), 1u);
  EXPECT_EQ(ranges.resume({"apps", "5d6e"}, "1a2b3c4", 1).value()->next(), 1u);
  EXPECT_EQ(ranges.resume(kPrograms, "1a2b3c4", 1).value()->next(), 501u);
}

TEST(SeedRanges, ARowHasNoGaps) {
  SeedRanges ranges = SeedRanges::parse(file_after(500)).value();

  const Status behind = ranges.resume(kPrograms, "1a2b3c4", 502).status();

  EXPECT_EQ(behind.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(behind.message().find("seeds from 502 on do not go on from what is there, clean: "
                                  "1..500 "),
            std::string::npos)
      << behind.message();
  EXPECT_EQ(ranges.resume(kPrograms, "1a2b3c4", 0).status().code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(ranges.resume(kPrograms, "1a2b3c4", 501).ok());
}

TEST(SeedRanges, WhatIsNoCountIsRefusedWithItsLine) {
  const std::string whole = file_after(500);
  for (const char* const wrong :
       {"clean up to 500\n", "kind=programs\n",
        "kind=programs build=5d6e commit=c first=1 seeds=many steps=1 failed=0\n",
        "kind=programs build=5d6e commit=c first=1 seeds=5 steps=1 failed=0 seeds=6\n",
        "kind=programs build=5d6e commit=c first=1 seeds=5 steps=1 failed=256\n"}) {
    const auto ranges = SeedRanges::parse(whole + wrong);

    EXPECT_EQ(ranges.status().code(), StatusCode::kDataCorruption) << wrong;
    EXPECT_NE(ranges.status().message().find("line 3 is no count of clean seeds"),
              std::string::npos)
        << ranges.status().message();
  }
  EXPECT_TRUE(SeedRanges::parse("").ok());
}

}  // namespace
}  // namespace seaway::sim
