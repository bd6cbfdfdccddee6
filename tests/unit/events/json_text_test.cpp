// Text of others in JSON.

#include "events/json_text.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace seaway::events {
namespace {

TEST(Quoted, AnyBytesGiveJson) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);

  const auto read = nlohmann::json::parse(events::quoted(all), nullptr, false);

  ASSERT_TRUE(read.is_string());
  EXPECT_EQ(read.get<std::string>().substr(0, 128), all.substr(0, 128));
}

TEST(Quoted, ControlsAreNotThere) {
  EXPECT_EQ(events::quoted("a\n\x1b\x7f"), "\"a\\u000a\\u001b\\u007f\"");
  EXPECT_EQ(events::quoted("\xc2\x9b"), "\"\\u009b\"");
  EXPECT_EQ(events::quoted("\xff"), "\"\\ufffd\"");
  EXPECT_EQ(events::quoted("Gr\xc3\xbc\xc3\x9f"
                           "e \"\\"),
            "\"Gr\xc3\xbc\xc3\x9f"
            "e \\\"\\\\\"");
}

}  // namespace
}  // namespace seaway::events
