// What callers read of a Status and a Result.

#include "seaway/status.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace seaway {
namespace {

TEST(Status, PrintsItsNameAndMessage) {
  EXPECT_EQ(Status().to_string(), "OK");
  EXPECT_EQ(resource_exhausted("3 of 3 used").to_string(), "RESOURCE_EXHAUSTED: 3 of 3 used");
}

TEST(Status, CodesKeepTheirNumbersAndNamesForTheyTravel) {
  const std::vector<std::string> names{"OK",
                                       "INVALID_ARGUMENT",
                                       "RESOURCE_EXHAUSTED",
                                       "DEADLINE_EXCEEDED",
                                       "CANCELLED",
                                       "INPUT_LOST",
                                       "USER_FUNCTION_ERROR",
                                       "DEVICE_LOST",
                                       "HOST_LOST",
                                       "ISLAND_UNAVAILABLE",
                                       "CONTROLLER_RESTARTED",
                                       "MAYBE_EXECUTED",
                                       "DATA_CORRUPTION",
                                       "PROTOCOL_ERROR",
                                       "UNAUTHENTICATED",
                                       "PERMISSION_DENIED",
                                       "ACTOR_LOST",
                                       "NOT_FOUND",
                                       "UNIMPLEMENTED"};

  EXPECT_EQ(static_cast<std::size_t>(kLastStatusCode) + 1, names.size());
  for (std::size_t code = 0; code < names.size(); ++code) {
    EXPECT_EQ(to_string(static_cast<StatusCode>(code)), names[code]);
  }
  EXPECT_EQ(to_string(static_cast<StatusCode>(names.size())), "UNKNOWN");
}

TEST(Status, EachShortWayMakesItsOwnCode) {
  EXPECT_EQ(actor_lost("a"), Status(StatusCode::kActorLost, "a"));
  EXPECT_EQ(not_found("a"), Status(StatusCode::kNotFound, "a"));
  EXPECT_EQ(unimplemented("a"), Status(StatusCode::kUnimplemented, "a"));
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
