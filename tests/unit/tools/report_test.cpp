// What a benchmark prints.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>
#include <vector>

#include "base/random.hpp"
#include "benchmarks/benchmarks.hpp"

namespace seaway::benchmarks {
namespace {

TEST(BenchReport, PrintsOneJsonObjectALineAsItComes) {
  std::ostringstream out;
  BenchReport report(out, BenchReport::Form::kJson);

  report.add("dispatch.ns", 12.5, "ns", {{"devices", "64"}, {"mode", "parallel"}});
  report.add("run.over", std::numeric_limits<double>::quiet_NaN(), "ratio");

  EXPECT_EQ(out.str(),
            "{\"metric\":\"dispatch.ns\",\"value\":12.5,\"unit\":\"ns\","
            "\"params\":{\"devices\":64,\"mode\":\"parallel\"}}\n"
            "{\"metric\":\"run.over\",\"value\":null,\"unit\":\"ratio\",\"params\":{}}\n");
}

TEST(BenchReport, AlignsTheColumnsOfATable) {
  std::ostringstream out;
  BenchReport report(out, BenchReport::Form::kTable);

  report.add("a", 1234.5678, "ns", {{"devices", "8"}});
  report.add("longer", 2, "ratio");
  report.finish();

  EXPECT_EQ(out.str(), "a       1235 ns     devices=8\nlonger     2 ratio\n");
}

TEST(BenchReport, PrintsTheIntervalOfARatioAndNamesWhatMissesItsBound) {
  std::ostringstream out;
  BenchReport report(out, BenchReport::Form::kJson);

  report.add_ratio("run.over", {1.5, 2, 2.5}, {{"pinning", "none"}}, Bound::at_most(1.75));
  EXPECT_TRUE(report.missed().ok()) << report.missed().to_string();
  report.add_ratio("run.over", {1.5, 2, 2.5}, {{"pinning", "none"}}, Bound::at_most(1.25));
  report.add_ratio("bulk.over", {0.5, 0.6, 0.7}, {}, Bound::at_least(0.9));

  EXPECT_EQ(out.str().substr(0, out.str().find('\n')),
            "{\"metric\":\"run.over\",\"value\":2.0,\"unit\":\"ratio\",\"interval\":[1.5,2.5],"
            "\"params\":{\"pinning\":\"none\",\"bound\":\"<= 1.75\"}}");
  EXPECT_EQ(report.missed().message(),
            "run.over pinning=none is 2 [1.5, 2.5]; the bound is <= 1.25; "
            "bulk.over is 0.6 [0.5, 0.7]; the bound is >= 0.9");
}

TEST(Interval, HasTheMedianOfEverySampleSizeInIt) {
  std::vector<double> samples;
  for (int i = 1; i <= 100; ++i) samples.push_back(i);
  const Interval interval = interval_of(samples);
  EXPECT_EQ(interval.median, 50.5);
  EXPECT_EQ(interval.low, 41);
  EXPECT_EQ(interval.high, 60);

  EXPECT_EQ(interval_of({3}).low, 3);
  EXPECT_EQ(interval_of({3}).high, 3);
  EXPECT_TRUE(std::isnan(interval_of({}).median));
}

TEST(Interval, OfNineteenOfTwentySeriesHasTheTrueMedianInIt) {
  RandomStream random(7, 1);
  int inside = 0;
  for (int series = 0; series < 2'000; ++series) {
    std::vector<double> samples;
    for (int i = 0; i < 40; ++i) samples.push_back(static_cast<double>(random.below(1'000'001)));
    const Interval interval = interval_of(samples);
    inside += interval.low <= 500'000 && interval.high >= 500'000;
  }
  EXPECT_GT(inside, 1'880);
  EXPECT_LT(inside, 1'980);
}

TEST(Bound, IsMissedByAWholeIntervalAndByNoNumber) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(Bound::at_most(2).is_missed_by({1.9, 2.5, 3}));
  EXPECT_TRUE(Bound::at_most(2).is_missed_by({2.1, 2.5, 3}));
  EXPECT_FALSE(Bound::at_least(2).is_missed_by({1, 1.5, 2.1}));
  EXPECT_TRUE(Bound::at_least(2).is_missed_by({1, 1.5, 1.9}));
  EXPECT_TRUE(Bound::at_least(2).is_missed_by({kNan, kNan, kNan}));
  EXPECT_FALSE(Bound().is_missed_by({kNan, kNan, kNan}));
}

}  // namespace
}  // namespace seaway::benchmarks
