// Values that lie otherwise than densely and row-major.

#include "front/host_layout.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace seaway::front {
namespace {

std::vector<float> dense(const TensorType& type, const float* data,
                         const std::vector<std::int64_t>& strides) {
  const auto bytes = make_dense(type, reinterpret_cast<const std::byte*>(data), strides);
  std::vector<float> values(bytes.size() / sizeof(float));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

TEST(HostLayout, IsDenseWhereDistancesSayNothingElse) {
  const TensorType type = f32({2, 1, 3});

  EXPECT_TRUE(is_dense(type, {}));
  EXPECT_TRUE(is_dense(type, std::vector<std::int64_t>{12, 999, 4}));
  EXPECT_FALSE(is_dense(type, std::vector<std::int64_t>{4, 4, 8}));
  EXPECT_TRUE(is_dense(f32({0, 3}), std::vector<std::int64_t>{1, 1}));
}

TEST(HostLayout, OfAnyDistancesIsMadeDense) {
  const float numbers[] = {1, 2, 3, 4, 5, 6};

  EXPECT_EQ(dense(f32({3, 2}), numbers, {4, 12}), (std::vector<float>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(dense(f32({3}), numbers + 4, {-8}), (std::vector<float>{5, 3, 1}));
  EXPECT_EQ(dense(f32({2, 2}), numbers, {0, 4}), (std::vector<float>{1, 2, 1, 2}));
  EXPECT_EQ(dense(f32({}), numbers, {}), (std::vector<float>{1}));
  EXPECT_EQ(dense(f32({0, 2}), numbers, {8, 4}), std::vector<float>());
}

TEST(HostLayout, OtherThanRowMajorIsRefused) {
  const TensorType type = f32({2, 3});
  const std::int64_t inner_first[] = {1, 0}, outer_first[] = {0, 1};
  pjrt::abi::MemoryLayout layout;
  layout.tiled.minor_to_major = inner_first;
  layout.tiled.minor_to_major_size = 2;

  EXPECT_TRUE(check_row_major(type, nullptr).ok());
  EXPECT_TRUE(check_row_major(type, &layout).ok());
  layout.tiled.minor_to_major = outer_first;
  EXPECT_EQ(check_row_major(type, &layout),
            unimplemented("a layout other than row-major of f32[2,3]: arrays of Seaway's are dense "
                          "and row-major; leave the layout out"));
  EXPECT_EQ(std::vector(minor_to_major(3).begin(), minor_to_major(3).end()),
            (std::vector<std::int64_t>{2, 1, 0}));
}

}  // namespace
}  // namespace seaway::front
