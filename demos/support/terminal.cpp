// Drawing with blocks of eighths, or with ASCII.

#include "demos/support/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <ostream>

namespace seaway::demos {
namespace {

constexpr std::array<std::string_view, 8> kLevels = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<std::string_view, 8> kAsciiLevels = {"_", ".", ":", "-", "=", "+", "*", "#"};
constexpr std::array<std::string_view, 8> kEighths = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
constexpr std::uint64_t kRedrawNs = 50'000'000;

std::string format(const char* pattern, double value) {
  std::array<char, 64> text;
  const int length = std::snprintf(text.data(), text.size(), pattern, value);
  return std::string(text.data(), static_cast<std::size_t>(length));
}

/// The mean of the finite values; NaN when there are none.
double mean_of_finite(std::span<const double> values) {
  double sum = 0;
  int count = 0;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    sum += value;
    ++count;
  }
  return count == 0 ? std::numeric_limits<double>::quiet_NaN() : sum / count;
}

}  // namespace

Screen standard_screen() {
  Screen screen;
  const char* const kind = std::getenv("TERM");
  screen.is_terminal =
      isatty(STDOUT_FILENO) == 1 && kind != nullptr && std::string_view(kind) != "dumb";
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) screen.columns = size.ws_col;
  // The first of these that is set decides the character set.
  for (const char* const name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* const value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    const bool is_utf8 = std::string_view(value).find("UTF-8") != std::string_view::npos ||
                         std::string_view(value).find("utf8") != std::string_view::npos;
    if (screen.is_terminal && is_utf8) screen.ink = Ink::kUnicode;
    break;
  }
  return screen;
}

std::string bar(double fraction, int width, Ink ink) {
  if (!std::isfinite(fraction)) fraction = 0;
  const int parts = ink == Ink::kUnicode ? 8 : 1;
  const int filled = static_cast<int>(std::lround(std::clamp(fraction, 0.0, 1.0) * width * parts));
  std::string text;
  for (int column = 0; column < filled / parts; ++column) {
    text += ink == Ink::kUnicode ? "█" : "#";
  }
  int columns = filled / parts;
  if (filled % parts != 0) {
    text += kEighths[static_cast<std::size_t>(filled % parts)];
    ++columns;
  }
  text.append(static_cast<std::size_t>(std::max(0, width - columns)),
              ink == Ink::kUnicode ? ' ' : '.');
  return text;
}

std::string sparkline(std::span<const double> values, int width, Ink ink) {
  const std::size_t groups = std::min(values.size(), static_cast<std::size_t>(std::max(width, 0)));
  std::string text;
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  const auto group_mean = [&values, groups](std::size_t group) {
    const std::size_t begin = group * values.size() / groups;
    const std::size_t end = (group + 1) * values.size() / groups;
    return mean_of_finite(values.subspan(begin, end - begin));
  };
  for (std::size_t group = 0; group < groups; ++group) {
    const double mean = group_mean(group);
    if (!std::isfinite(mean)) continue;
    low = std::min(low, mean);
    high = std::max(high, mean);
  }
  for (std::size_t group = 0; group < groups; ++group) {
    const double mean = group_mean(group);
    if (!std::isfinite(mean)) {
      text += ' ';
      continue;
    }
    const double height = high > low ? (mean - low) / (high - low) : 0;
    const auto level = static_cast<std::size_t>(std::lround(height * 7));
    text += ink == Ink::kUnicode ? kLevels[level] : kAsciiLevels[level];
  }
  return text;
}

std::string bar_picture(std::span<const BarRow> rows, int width, Ink ink) {
  double largest = 0;
  std::size_t label_width = 0;
  for (const BarRow& row : rows) {
    if (std::isfinite(row.value)) largest = std::max(largest, row.value);
    label_width = std::max(label_width, row.label.size());
  }
  std::string text;
  for (const BarRow& row : rows) {
    text += row.label + std::string(label_width - row.label.size(), ' ') + "  ";
    text += bar(largest > 0 ? row.value / largest : 0, width, ink);
    if (!row.note.empty()) text += "  " + row.note;
    text += '\n';
  }
  return text;
}

std::string short_number(double value) {
  if (!std::isfinite(value)) return "?";
  constexpr std::array<const char*, 5> kSuffixes = {"", "k", "M", "G", "T"};
  std::size_t step = 0;
  // 999.5 would be printed as 1000, so it counts as the next step.
  while (std::abs(value) >= 999.5 && step + 1 < kSuffixes.size()) {
    value /= 1000;
    ++step;
  }
  const double size = std::abs(value);
  const bool whole = step == 0 && value == std::floor(value);
  const char* pattern = whole || size >= 99.95 ? "%.0f" : size >= 9.995 ? "%.1f" : "%.2f";
  return format(pattern, value) + kSuffixes[step];
}

std::string short_time(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return "?";
  if (seconds < 9.95) return format("%.1f s", seconds);
  const auto whole = static_cast<std::int64_t>(std::lround(seconds));
  if (whole < 60) return std::to_string(whole) + " s";
  return std::to_string(whole / 60) + format(" min %02.0f s", static_cast<double>(whole % 60));
}

ProgressBar::ProgressBar(std::ostream& out, const Clock& clock, Options options)
    : out_(out), clock_(clock), options_(std::move(options)), start_ns_(clock.now_ns()) {}

void ProgressBar::update(std::int64_t done, std::string_view note) {
  if (finished_) return;
  done_ = std::clamp(done, done_, options_.total);
  if (options_.screen.is_terminal) {
    const std::uint64_t now_ns = clock_.now_ns();
    if (drawn_ns_ != 0 && now_ns - drawn_ns_ < kRedrawNs) return;
    drawn_ns_ = now_ns;
    draw(note);
    return;
  }
  const std::int64_t tenth = done_ * 10 / options_.total;
  if (tenth == tenth_) return;
  tenth_ = tenth;
  // The last tenth is printed by finish().
  if (tenth < 10) draw(note);
}

void ProgressBar::finish(std::string_view note) {
  if (finished_) return;
  finished_ = true;
  draw(note);
  if (options_.screen.is_terminal) out_ << '\n' << std::flush;
}

void ProgressBar::draw(std::string_view note) {
  const double elapsed_s = static_cast<double>(clock_.now_ns() - start_ns_) * 1e-9;
  const double rate = elapsed_s > 0 ? static_cast<double>(done_) / elapsed_s : 0;
  const double fraction = static_cast<double>(done_) / static_cast<double>(options_.total);
  const int width = std::clamp(options_.screen.columns / 4, 10, 40);
  std::string line = options_.label + " [" + bar(fraction, width, options_.screen.ink) + "] " +
                     std::to_string(done_) + "/" + std::to_string(options_.total);
  if (rate > 0) line += "  " + short_number(rate) + " " + options_.unit + "/s";
  if (done_ == options_.total || finished_) {
    line += "  " + short_time(elapsed_s);
  } else if (rate > 0) {
    line += "  " + short_time(static_cast<double>(options_.total - done_) / rate) + " left";
  }
  if (!note.empty()) line += "  " + std::string(note);
  // The line is drawn over itself, and what a longer one has left behind is cleared.
  out_ << (options_.screen.is_terminal ? "\r" + line + "\x1b[K" : line + "\n") << std::flush;
}

}  // namespace seaway::demos
