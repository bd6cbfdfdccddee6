// One block, many owners, and no way to change it.

#include "base/frame.hpp"

#include <gtest/gtest.h>

namespace seaway {
namespace {

TEST(Frame, ACopySharesTheWords) {
  const Frame frame = Frame::make(2, [](auto words) { words[0] = 1, words[1] = 2; });
  const Frame copy = frame;

  EXPECT_EQ(copy.words().data(), frame.words().data());
  EXPECT_EQ(copy.size_bytes(), 16u);
  EXPECT_EQ(copy.words()[1], 2u);
}

TEST(Frame, AMovedFrameIsEmpty) {
  Frame frame = Frame::make(1, [](auto words) { words[0] = 5; });
  const Frame target = std::move(frame);

  EXPECT_TRUE(frame.empty());  // NOLINT: the state after a move is what is tested.
  EXPECT_EQ(target.words()[0], 5u);
}

}  // namespace
}  // namespace seaway
