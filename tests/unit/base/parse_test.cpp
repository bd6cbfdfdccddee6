// What people may write in options, and what they are told when they write something else.

#include "base/parse.hpp"

#include <gtest/gtest.h>

namespace seaway {
namespace {

TEST(ParseDuration, ReadsEachUnitExactly) {
  EXPECT_EQ(parse_duration_ns("50us").value(), 50'000u);
  EXPECT_EQ(parse_duration_ns("7ns").value(), 7u);
  EXPECT_EQ(parse_duration_ns("1.5ms").value(), 1'500'000u);
  EXPECT_EQ(parse_duration_ns("0.1s").value(), 100'000'000u);
  EXPECT_EQ(parse_duration_ns("2min").value(), 120'000'000'000u);
  EXPECT_EQ(parse_duration_ns("12h").value(), 43'200'000'000'000u);
  EXPECT_EQ(parse_duration_ns("30d").value(), 2'592'000'000'000'000u);
  EXPECT_EQ(parse_duration_ns("0").value(), 0u);
}

TEST(ParseDuration, SaysWhatIsWrong) {
  EXPECT_EQ(
      parse_duration_ns("50").status(),
      invalid_argument("duration \"50\" has no unit (known: ns, us, ms, s, min, h, d); write for "
                       "example 50us or 1.5ms"));
  EXPECT_EQ(parse_duration_ns("5 ms").status(),
            invalid_argument("duration \"5 ms\" has the unknown unit \" ms\" (known: ns, us, ms, "
                             "s, min, h, d); write for example 50us or 1.5ms"));
  EXPECT_EQ(parse_duration_ns("-1s").status(),
            invalid_argument("duration \"-1s\" does not begin with a number; write for example "
                             "50us or 1.5ms"));
  EXPECT_EQ(parse_duration_ns("1.s").status(),
            invalid_argument("duration \"1.s\" has no digits after its point; write for example "
                             "50us or 1.5ms"));
  EXPECT_EQ(parse_duration_ns("0.5ns").status(),
            invalid_argument("duration \"0.5ns\" is not a whole number of the smallest unit; write "
                             "for example 50us or 1.5ms"));
  EXPECT_EQ(parse_duration_ns("9999999999999min").status(),
            invalid_argument("duration \"9999999999999min\" is larger than 9223372036854775807; "
                             "write for example 50us or 1.5ms"));
  EXPECT_EQ(parse_duration_ns("12345678901.123456789s").status(),
            invalid_argument("duration \"12345678901.123456789s\" has more than 19 digits; write "
                             "for example 50us or 1.5ms"));
}

TEST(ParseBytes, TellsDecimalFromBinaryUnits) {
  EXPECT_EQ(parse_bytes("64").value(), 64u);
  EXPECT_EQ(parse_bytes("1GB").value(), 1'000'000'000u);
  EXPECT_EQ(parse_bytes("256MiB").value(), std::uint64_t{1} << 28);
  EXPECT_EQ(parse_bytes("1.5KiB").value(), 1536u);
  // As a size that was given with a unit is shown.
  EXPECT_EQ(parse_bytes("9223372036854775807").value(), ~std::uint64_t{0} >> 1);
  EXPECT_EQ(parse_bytes("").status().message(),
            "size \"\" does not begin with a number; write for example 1GB or 256MiB");
  EXPECT_EQ(parse_bytes("1gb").status().message(),
            "size \"1gb\" has the unknown unit \"gb\" (known: B, kB, KB, MB, GB, TB, KiB, MiB, "
            "GiB, TiB); write for example 1GB or 256MiB");
}

TEST(ParseNumber, TakesDigitsAlone) {
  EXPECT_EQ(parse_number("18446744073709551615").value(), ~std::uint64_t{0});
  EXPECT_EQ(parse_number("18446744073709551616").status().message(),
            "number \"18446744073709551616\" is larger than 18446744073709551615; write for "
            "example 16");
  EXPECT_EQ(parse_number("1x").status(),
            invalid_argument("number \"1x\" is not made of digits alone; write for example 16"));
  EXPECT_FALSE(parse_number("").ok());
}

TEST(ParseOptions, KeepsTheOrderAndRefusesNonsense) {
  const auto options = parse_options("b=2,a=,c=x=y").value();

  ASSERT_EQ(options.size(), 3u);
  EXPECT_EQ(options[0], (std::pair<std::string, std::string>("b", "2")));
  EXPECT_EQ(options[1].second, "");
  EXPECT_EQ(options[2].second, "x=y");
  EXPECT_TRUE(parse_options("").value().empty());
  EXPECT_EQ(parse_options("a=1,a=2").status().message(),
            "options \"a=1,a=2\" name \"a\" twice; write for example islands=2,devices=4");
  EXPECT_EQ(parse_options("a=1,").status().message(),
            "options \"a=1,\" have \"\", which is no key=value; write for example "
            "islands=2,devices=4");
  EXPECT_FALSE(parse_options("=1").ok());
}

}  // namespace
}  // namespace seaway
