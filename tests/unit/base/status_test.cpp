// What callers read of a Status and a Result.

#include "seaway/status.hpp"

#include <gtest/gtest.h>

namespace seaway {
namespace {

TEST(Status, PrintsItsNameAndMessage) {
  EXPECT_EQ(Status().to_string(), "OK");
  EXPECT_EQ(resource_exhausted("3 of 3 used").to_string(), "RESOURCE_EXHAUSTED: 3 of 3 used");
}

TEST(Result, HoldsAValueOrAStatus) {
  const Result<int> good(7);
  const Result<int> bad(invalid_argument("no"));

  EXPECT_TRUE(good.ok());
  EXPECT_EQ(good.value(), 7);
  EXPECT_EQ(bad.status().code(), StatusCode::kInvalidArgument);
}

TEST(ResultDeathTest, ValueOfAFailedResultEndsTheProcessAndSaysWhy) {
  const Result<int> bad(cancelled("by the test"));

  EXPECT_DEATH((void)bad.value(), "CANCELLED: by the test");
}

}  // namespace
}  // namespace seaway
