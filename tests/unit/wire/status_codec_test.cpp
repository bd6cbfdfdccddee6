// Status codes as they arrive.

#include "wire/status_codec.hpp"

#include <gtest/gtest.h>

namespace seaway::wire {
namespace {

constexpr std::uint8_t kLast = static_cast<std::uint8_t>(kLastStatusCode);

TEST(StatusCodec, EachCodeComesAsItIs) {
  for (std::uint8_t code = 1; code <= kLast; ++code) {
    EXPECT_EQ(read_status(code, "why"), Status(static_cast<StatusCode>(code), "why"));
  }
}

TEST(StatusCodec, OkHasNoMessage) { EXPECT_EQ(read_status(0, "an answer"), Status()); }

TEST(StatusCodec, ACodeOfALaterBuildIsAProtocolErrorThatKeepsItsMessage) {
  EXPECT_EQ(read_status(kLast + 1, "why"),
            protocol_error("unknown status code " + std::to_string(kLast + 1) + ": why"));
  EXPECT_EQ(read_status(255, "why"), protocol_error("unknown status code 255: why"));
}

}  // namespace
}  // namespace seaway::wire
