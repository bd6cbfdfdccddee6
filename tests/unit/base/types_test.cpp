// Sizes and names of tensor types.

#include "seaway/types.hpp"

#include <gtest/gtest.h>

namespace seaway {
namespace {

TEST(TensorType, KnowsItsSizeBeforeAnyInputExists) {
  EXPECT_EQ(f32({2, 3}).bytes(), 24u);
  EXPECT_EQ(boolean({5}).bytes(), 5u);
  EXPECT_EQ(f32({}).elements(), 1);
  EXPECT_EQ(f32({4, 0}).bytes(), 0u);
  EXPECT_EQ(f32({std::int64_t{1} << 40, std::int64_t{1} << 40, 0}).bytes(), 0u);
  EXPECT_EQ(to_string(i32({2, 3})), "i32[2,3]");
}

TEST(TensorType, RefusesNegativeAndHugeDimensions) {
  EXPECT_EQ(validate(f32({-1})).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(validate(f32({1 << 20, 1 << 20})).code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(validate(f32({1 << 20, 0})).ok());
}

}  // namespace
}  // namespace seaway
