// Streams repeat exactly, differ by name, and stay in their bounds.

#include "base/random.hpp"

#include <gtest/gtest.h>

namespace seaway {
namespace {

TEST(RandomStream, RepeatsFromItsSeedAndName) {
  RandomStream one(7, 1), same(7, 1), other(7, 2);

  EXPECT_EQ(one.next(), same.next());
  EXPECT_NE(one.next(), other.next());
}

TEST(RandomStream, StaysInItsBounds) {
  RandomStream stream(1, 1);

  bool low_seen = false, high_seen = false;
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t x = stream.between(-1, 2);
    ASSERT_GE(x, -1);
    ASSERT_LE(x, 2);
    low_seen |= x == -1;
    high_seen |= x == 2;
  }
  EXPECT_TRUE(low_seen && high_seen);
}

}  // namespace
}  // namespace seaway
