// Sums of several campaigns.

#include "campaign/real_totals.hpp"

#include <gtest/gtest.h>

namespace seaway::campaign {
namespace {

TEST(RealTotals, AreReadAsTheyAreWritten) {
  const RealTotals totals = {{"kills.host", 212}, {"runs", 3}};
  EXPECT_EQ(to_text(totals), "kills.host 212\nruns 3\n");
  EXPECT_EQ(parse_real_totals("# head\n" + to_text(totals)).value(), totals);
  EXPECT_TRUE(parse_real_totals("").value().empty());
  for (const char* const text : {"runs\n", "runs x\n", " 3\n", "runs 3 4\n", "runs \n"}) {
    EXPECT_EQ(parse_real_totals(text).status().code(), StatusCode::kDataCorruption) << text;
  }
}

}  // namespace
}  // namespace seaway::campaign
