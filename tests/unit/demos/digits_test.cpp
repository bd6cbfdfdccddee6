// The digits that are shipped, and what is said about broken ones.

#include "demos/support/digits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace seaway::demos {
namespace {

using testing::HasSubstr;

/// A line of 64 pixels of `pixel`, and the label `label`.
std::string make_line(const std::string& pixel, const std::string& label) {
  std::string line;
  for (int column = 0; column < 64; ++column) line += pixel + ",";
  return line + label + "\n";
}

std::string make_file(const std::string& name, const std::string& bytes) {
  const std::string path = testing::TempDir() + "seaway_digits_test_" + name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(LoadDigits, FindsAllImagesScaledToOne) {
  const Result<Digits> digits = load_digits();

  ASSERT_TRUE(digits.ok()) << digits.status().to_string();
  EXPECT_EQ(digits->size(), 1797);
  EXPECT_EQ(digits->images.size(), 1797u * 64u);
  EXPECT_EQ(*std::ranges::min_element(digits->images), 0.0f);
  EXPECT_EQ(*std::ranges::max_element(digits->images), 1.0f);
  EXPECT_EQ(digits->labels[0], 0);
  EXPECT_EQ(digits->images[2], 5.0f / 16.0f);
  // No digit is rare, so that a split by position trains and tests all of them.
  for (std::int32_t digit = 0; digit < 10; ++digit) {
    EXPECT_GT(std::ranges::count(digits->labels, digit), 170) << digit;
  }
}

TEST(ParseDigits, ReadsTheLastLineWithoutItsEnd) {
  const std::string text = make_line("16", "3") + make_line("0", "9");

  const Result<Digits> digits = parse_digits(std::string_view(text).substr(0, text.size() - 1));

  ASSERT_TRUE(digits.ok());
  EXPECT_THAT(digits->labels, testing::ElementsAre(3, 9));
  EXPECT_EQ(digits->images[63], 1.0f);
  EXPECT_EQ(digits->images[64], 0.0f);
}

TEST(ParseDigits, NamesTheLineThatIsWrongAndWhy) {
  const auto message = [](const std::string& text) {
    const Result<Digits> digits = parse_digits(make_line("1", "1") + text);
    EXPECT_EQ(digits.status().code(), StatusCode::kInvalidArgument);
    return digits.status().message();
  };

  EXPECT_EQ(message(make_line("17", "1")), "digits, line 2: column 1 is not a number of 0..16");
  EXPECT_EQ(message(make_line("1", "10")), "digits, line 2: column 65 is not a number of 0..9");
  EXPECT_EQ(message("1,2\n"), "digits, line 2: has 2 columns, not 65");
  EXPECT_EQ(message(make_line("1", "1,1")), "digits, line 2: has more than 65 columns");
  EXPECT_EQ(message("\n"), "digits, line 2: column 1 is not a number of 0..16");
  EXPECT_EQ(parse_digits("").status().message(), "digits: the text is empty");
}

TEST(ReadGzip, SaysThatAFileIsMissing) {
  const Result<std::string> text = read_gzip("no/such/file.gz", 10);

  EXPECT_EQ(text.status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(text.status().message(), "cannot open no/such/file.gz: does it exist?");
}

TEST(ReadGzip, SaysThatAFileIsDamagedOrCutShort) {
  const std::string good = bytes_of(find_data("digits.csv.gz").value());
  std::string flipped = good;
  flipped[good.size() / 2] = static_cast<char>(flipped[good.size() / 2] ^ 0x55);

  for (const std::string& bytes : {flipped, good.substr(0, good.size() / 2)}) {
    const std::string path = make_file("damaged.gz", bytes);
    const Result<std::string> text = read_gzip(path, std::size_t{1} << 24);
    EXPECT_EQ(text.status().code(), StatusCode::kDataCorruption) << text.status().to_string();
    EXPECT_THAT(text.status().message(), HasSubstr("is damaged or cut short"));
    std::filesystem::remove(path);
  }
}

TEST(ReadGzip, RefusesMoreThanItsBound) {
  const std::string path = make_file("plain", "12345");

  EXPECT_EQ(read_gzip(path, 5).value(), "12345");
  EXPECT_EQ(read_gzip(path, 4).status().code(), StatusCode::kResourceExhausted);
  EXPECT_THAT(read_gzip(path, 4).status().message(), HasSubstr("is longer than 4 bytes"));
  std::filesystem::remove(path);
}

TEST(FindData, NamesAllPlacesItHasTried) {
  const Result<std::string> path = find_data("nothing.gz");

  EXPECT_EQ(path.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(path.status().message(), HasSubstr("share/seaway/nothing.gz"));
  EXPECT_THAT(path.status().message(), HasSubstr("demos/data/nothing.gz"));
}

}  // namespace
}  // namespace seaway::demos
