// Text of others, as a person may see it.

#include "base/printable.hpp"

#include <gtest/gtest.h>

namespace seaway {
namespace {

TEST(Printable, VisibleTextStays) {
  for (const std::string text : {"", "plain", "Grüße, 世界 \xf0\x9f\x9a\xa2", "a\\x1b", "~ "}) {
    EXPECT_EQ(printable(text), text);
    EXPECT_TRUE(is_printable(text)) << text;
  }
}

TEST(Printable, ControlsAreEscaped) {
  EXPECT_EQ(printable("a\nb\x1b[2J\x7f\t"), "a\\x0ab\\x1b[2J\\x7f\\x09");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\u{9b}31m")
      << "CSI in one character";
  EXPECT_FALSE(is_printable("a\r"));
}

TEST(Printable, LineFeedsStayWhereThereAreLines) {
  EXPECT_EQ(printable("a\nb\r\n", Lines::kMany), "a\nb\\x0d\n");
}

TEST(Printable, ChangesOfDirectionAreEscaped) {
  EXPECT_EQ(printable("\xe2\x80\xae"
                      "evil"),
            "\\u{202e}evil");
  EXPECT_EQ(printable("\xe2\x81\xa6"), "\\u{2066}");
  EXPECT_EQ(printable("\xe2\x80\xa8"), "\\u{2028}");
}

TEST(Printable, BytesThatAreNotUtf8AreEscaped) {
  EXPECT_EQ(printable("\xff"), "\\xff");
  EXPECT_EQ(printable("\xc3"), "\\xc3") << "cut";
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf") << "overlong";
  EXPECT_EQ(printable("\xe0\x80\xaf"), "\\xe0\\x80\\xaf") << "overlong";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "a surrogate";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond the last character";
  EXPECT_EQ(printable("\x80"
                      "a"),
            "\\x80a");
}

}  // namespace
}  // namespace seaway
