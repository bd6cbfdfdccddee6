// The checksum of bytes: the one that everybody else has, too.

#include "transport/checksum.hpp"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace seaway::transport {
namespace {

std::uint32_t sum_of(std::string_view text) {
  return checksum(std::as_bytes(std::span(text.data(), text.size())));
}

TEST(Checksum, IsThatOfZlibAndEthernet) {
  EXPECT_EQ(sum_of(""), 0u);
  EXPECT_EQ(sum_of("123456789"), 0xcbf43926u);  // The check value of the standard.
  EXPECT_EQ(sum_of("a"), 0xe8b7be43u);
}

TEST(Checksum, ShowsEachBitThatHasChanged) {
  // Lengths around those at which a fast implementation changes its ways.
  for (const std::size_t size : {1u, 15u, 16u, 17u, 63u, 64u, 65u, 255u, 300u}) {
    std::vector<std::byte> bytes(size, std::byte{0x5a});
    const std::uint32_t whole = checksum(bytes);
    for (std::size_t bit = 0; bit < 8 * size; ++bit) {
      bytes[bit / 8] ^= std::byte{1} << bit % 8;
      EXPECT_NE(checksum(bytes), whole) << size << " bytes, bit " << bit;
      bytes[bit / 8] ^= std::byte{1} << bit % 8;
    }
  }
}

}  // namespace
}  // namespace seaway::transport
