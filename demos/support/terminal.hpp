// Pictures for a terminal: progress bar, sparkline, bars. Plain characters where there is none.

#pragma once

#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.hpp"

namespace seaway::demos {

/// How pictures are drawn: with Unicode blocks, or with ASCII for files and old terminals.
enum class Ink { kUnicode, kAscii };

/// What standard output is: a terminal of so many columns, or a file or pipe.
struct Screen {
  bool is_terminal = false;
  int columns = 80;
  Ink ink = Ink::kAscii;
};

/// The screen of this process. Asks the operating system.
Screen standard_screen();

/// A bar of `width` columns, filled up to `fraction`, which is clamped to 0..1.
std::string bar(double fraction, int width, Ink ink);

/// One character a value, from the smallest to the largest; longer series are averaged into `width`
/// groups. A group without a finite value is a blank.
std::string sparkline(std::span<const double> values, int width, Ink ink);

/// One line of a bar picture.
struct BarRow {
  std::string label;
  double value = 0;  // >= 0
  std::string note;  // Printed behind the bar.
};

/// Rows of bars with one common scale: the largest value fills `width` columns.
std::string bar_picture(std::span<const BarRow> rows, int width, Ink ink);

/// "950", "12.3k", "4.56M": three digits that count.
std::string short_number(double value);
/// "0.4 s", "12 s", "3 min 05 s".
std::string short_time(double seconds);

/// A line that grows with the work done, with its rate and the time that is left.
///
/// On a terminal the line is drawn again at most 20 times a second; elsewhere one line is printed
/// for each tenth of the work, so that a log stays short. One thread. `out` and `clock` outlive it.
class ProgressBar {
 public:
  struct Options {
    std::string label;
    std::string unit;        // What is counted, for example "steps".
    std::int64_t total = 1;  // >= 1
    Screen screen;
  };

  ProgressBar(std::ostream& out, const Clock& clock, Options options);

  /// `done` of Options::total are done, never fewer than before; `note` goes behind the line.
  void update(std::int64_t done, std::string_view note = {});
  /// Draws the last state and ends the line. update() does nothing after it.
  void finish(std::string_view note = {});

 private:
  void draw(std::string_view note);

  std::ostream& out_;
  const Clock& clock_;
  const Options options_;
  const std::uint64_t start_ns_;
  std::uint64_t drawn_ns_ = 0;
  std::int64_t done_ = 0;
  std::int64_t tenth_ = 0;
  bool finished_ = false;
};

}  // namespace seaway::demos
