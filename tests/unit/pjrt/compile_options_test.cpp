// The bytes of compile options, as plugins read them.

#include "pjrt/compile_options.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace seaway::pjrt {
namespace {

std::vector<int> numbers(const std::string& bytes) {
  std::vector<int> numbers;
  for (const char byte : bytes) numbers.push_back(static_cast<unsigned char>(byte));
  return numbers;
}

TEST(CompileOptions, OfOneDeviceArePortable) {
  EXPECT_EQ(numbers(portable_options()), (std::vector<int>{0x1a, 4, 0x20, 1, 0x28, 1, 0x20, 1}));
}

TEST(CompileOptions, OfAGangNameItsDevicesInOrder) {
  const std::vector<int> devices = {3, 300};

  // Build options: 2 replicas of 1 partition, assigned: 2 replicas, 1 computation, its devices.
  EXPECT_EQ(numbers(gang_options(devices)),
            (std::vector<int>{0x1a, 17, 0x20, 2, 0x28, 1, 0x4a, 11, 8, 2, 0x10, 1, 0x1a, 5, 0x0a, 3,
                              3, 0xac, 2}));
}

}  // namespace
}  // namespace seaway::pjrt
