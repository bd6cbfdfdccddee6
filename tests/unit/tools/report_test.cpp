// What a benchmark prints.

#include <gtest/gtest.h>

#include <limits>
#include <sstream>

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

}  // namespace
}  // namespace seaway::benchmarks
