// What is expected of the next launch, from the last four.

#include "pjrt/pace.hpp"

#include <gtest/gtest.h>

namespace seaway::pjrt {
namespace {

std::uint64_t expected_after(std::initializer_list<std::uint64_t> times_ns) {
  Pace pace;
  for (const std::uint64_t time_ns : times_ns) pace.took(time_ns);
  return pace.expected_ns();
}

TEST(Pace, IsUnknownBeforeThree) {
  EXPECT_EQ(expected_after({}), Pace::kUnknown);
  EXPECT_EQ(expected_after({10, 20}), Pace::kUnknown);
  EXPECT_EQ(expected_after({10, 20, 30}), 30u);
}

TEST(Pace, OneThatWasInterruptedDoesNotCountButTwoDo) {
  EXPECT_EQ(expected_after({10, 30, 20, 9000}), 30u);
  EXPECT_EQ(expected_after({10, 8000, 20, 9000}), 8000u);
}

TEST(Pace, ForgetsAllButTheLastFour) {
  EXPECT_EQ(expected_after({8000, 9000, 10, 20, 30, 40}), 30u);
}

}  // namespace
}  // namespace seaway::pjrt
