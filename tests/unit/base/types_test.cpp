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

TEST(DType, HasASizeAndANameOfStableHlo) {
  EXPECT_EQ(to_string(TensorType{DType::kU8, {3}}), "ui8[3]");
  EXPECT_EQ(to_string(TensorType{DType::kC64, {}}), "complex<f32>[]");
  EXPECT_EQ((TensorType{dtype_of<double>(), {3}}).bytes(), 24u);
  EXPECT_EQ((TensorType{DType::kBf16, {3}}).bytes(), 6u);
  EXPECT_EQ((TensorType{dtype_of<std::uint8_t>(), {3}}).bytes(), 3u);
  EXPECT_EQ((TensorType{DType::kC128, {3}}).bytes(), 48u);
  EXPECT_TRUE(is_computed_with(DType::kBool));
  EXPECT_FALSE(is_computed_with(DType::kI64));
}

TEST(TensorType, RefusesNegativeAndHugeDimensions) {
  EXPECT_EQ(validate(f32({-1})).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(validate(f32({1 << 20, 1 << 20})).code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(validate(f32({1 << 20, 0})).ok());
}

}  // namespace
}  // namespace seaway
