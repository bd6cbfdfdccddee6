// Pictures as people see them, drawn into a string with a clock that is moved by hand.

#include "demos/support/terminal.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <sstream>

namespace seaway::demos {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;

TEST(Bar, IsFilledUpToTheFraction) {
  EXPECT_EQ(bar(0.5, 10, Ink::kAscii), "#####.....");
  EXPECT_EQ(bar(0.5, 3, Ink::kUnicode), "█▌ ");
}

TEST(Bar, ClampsWhatIsOutOfRange) {
  EXPECT_EQ(bar(-1, 4, Ink::kAscii), "....");
  EXPECT_EQ(bar(7, 4, Ink::kAscii), "####");
  EXPECT_EQ(bar(std::numeric_limits<double>::quiet_NaN(), 4, Ink::kAscii), "....");
}

TEST(Sparkline, ReachesFromTheSmallestToTheLargest) {
  const std::array<double, 3> values = {5, 6, 12};

  EXPECT_EQ(sparkline(values, 10, Ink::kUnicode), "▁▂█");
  EXPECT_EQ(sparkline(values, 10, Ink::kAscii), "_.#");
}

TEST(Sparkline, AveragesALongSeriesIntoItsWidth) {
  const std::array<double, 6> values = {0, 2, 7, 7, 15, 15};

  EXPECT_EQ(sparkline(values, 3, Ink::kAscii), "_-#");
}

TEST(Sparkline, LeavesABlankForWhatIsNotFinite) {
  const std::array<double, 3> values = {1, std::numeric_limits<double>::quiet_NaN(), 2};

  EXPECT_EQ(sparkline(values, 3, Ink::kAscii), "_ #");
  EXPECT_EQ(sparkline({}, 3, Ink::kAscii), "");
}

TEST(BarPicture, SharesOneScale) {
  const std::array<BarRow, 2> rows = {{{"one", 25, "25 %"}, {"three", 75, "75 %"}}};

  EXPECT_EQ(bar_picture(rows, 6, Ink::kAscii), "one    ##....  25 %\nthree  ######  75 %\n");
}

TEST(ShortNumber, KeepsThreeDigits) {
  EXPECT_EQ(short_number(950), "950");
  EXPECT_EQ(short_number(999.7), "1.00k");
  EXPECT_EQ(short_number(12'345), "12.3k");
  EXPECT_EQ(short_number(4'560'000), "4.56M");
  EXPECT_EQ(short_number(0.25), "0.25");
}

TEST(ShortTime, CountsMinutes) {
  EXPECT_EQ(short_time(0.44), "0.4 s");
  EXPECT_EQ(short_time(12.4), "12 s");
  EXPECT_EQ(short_time(185), "3 min 05 s");
}

TEST(ProgressBar, PrintsALineForEachTenthWhereThereIsNoTerminal) {
  std::ostringstream out;
  ManualClock clock;
  ProgressBar progress(out, clock, {.label = "train", .unit = "steps", .total = 20, .screen = {}});

  clock.advance_to(kSecondNs);
  for (const std::int64_t done : {1, 2, 3}) progress.update(done);
  clock.advance_to(2 * kSecondNs);
  progress.update(20);
  progress.finish("done");

  EXPECT_EQ(out.str(),
            "train [##..................] 2/20  2 steps/s  9.0 s left\n"
            "train [####################] 20/20  10 steps/s  2.0 s  done\n");
}

TEST(ProgressBar, RedrawsATerminalAtMostTwentyTimesASecond) {
  std::ostringstream out;
  ManualClock clock;
  const Screen screen = {.is_terminal = true, .columns = 40, .ink = Ink::kAscii};
  ProgressBar progress(out, clock, {.label = "t", .unit = "x", .total = 100, .screen = screen});

  for (int done = 1; done <= 100; ++done) {
    clock.advance_to(static_cast<std::uint64_t>(done) * kSecondNs / 100);
    progress.update(done);
  }
  progress.finish();
  progress.update(100);

  const std::string text = out.str();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\r'), 21);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  EXPECT_TRUE(text.ends_with("t [##########] 100/100  100 x/s  1.0 s\x1b[K\n")) << text;
}

}  // namespace
}  // namespace seaway::demos
