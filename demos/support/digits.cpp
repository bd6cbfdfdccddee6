// Reading the digits: a gzip file of comma-separated numbers.

#include "demos/support/digits.hpp"

#include <zlib.h>

#include <array>
#include <charconv>
#include <filesystem>
#include <system_error>

namespace seaway::demos {
namespace {

constexpr int kPixelMax = 16;
constexpr std::size_t kDigitsBytesMax = std::size_t{16} << 20;

Status bad_line(std::int64_t line, const std::string& why) {
  return invalid_argument("digits, line " + std::to_string(line) + ": " + why);
}

/// Appends one line to `digits`.
Status parse_line(std::string_view text, std::int64_t line, Digits& digits) {
  const char* cursor = text.data();
  const char* const end = text.data() + text.size();
  for (std::int64_t column = 0; column <= Digits::kPixels; ++column) {
    const bool is_label = column == Digits::kPixels;
    const int value_max = is_label ? static_cast<int>(Digits::kClasses) - 1 : kPixelMax;
    int value = -1;
    const auto [next, error] = std::from_chars(cursor, end, value);
    if (error != std::errc() || value < 0 || value > value_max) {
      return bad_line(line, "column " + std::to_string(column + 1) + " is not a number of 0.." +
                                std::to_string(value_max));
    }
    if (is_label) {
      digits.labels.push_back(value);
      cursor = next;
    } else {
      digits.images.push_back(static_cast<float>(value) / static_cast<float>(kPixelMax));
      if (next == end || *next != ',') {
        return bad_line(line, "has " + std::to_string(column + 1) + " columns, not 65");
      }
      cursor = next + 1;
    }
  }
  if (cursor != end) return bad_line(line, "has more than 65 columns");
  return {};
}

}  // namespace

Digits select(const Digits& digits, std::span<const std::int32_t> order) {
  Digits chosen;
  for (const std::int32_t row : order) {
    const auto first = digits.images.begin() + row * Digits::kPixels;
    chosen.images.insert(chosen.images.end(), first, first + Digits::kPixels);
    chosen.labels.push_back(digits.labels[static_cast<std::size_t>(row)]);
  }
  return chosen;
}

Result<Digits> parse_digits(std::string_view csv) {
  Digits digits;
  std::int64_t line = 0;
  while (!csv.empty()) {
    const std::size_t length = csv.find('\n');
    std::string_view text = csv.substr(0, length);
    if (text.ends_with('\r')) text.remove_suffix(1);
    if (const Status status = parse_line(text, ++line, digits); !status.ok()) return status;
    csv.remove_prefix(length == std::string_view::npos ? csv.size() : length + 1);
  }
  if (line == 0) return invalid_argument("digits: the text is empty");
  return digits;
}

Result<std::string> read_gzip(const std::string& path, std::size_t bytes_max) {
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) return invalid_argument("cannot open " + path + ": does it exist?");
  std::string text;
  std::array<char, 1 << 16> block;
  int count = 0;
  while ((count = gzread(file, block.data(), static_cast<unsigned>(block.size()))) > 0 &&
         text.size() <= bytes_max) {
    text.append(block.data(), static_cast<std::size_t>(count));
  }
  const bool damaged = count < 0 || gzclose(file) != Z_OK;
  if (count < 0) gzclose(file);
  if (text.size() > bytes_max) {
    return resource_exhausted(path + " is longer than " + std::to_string(bytes_max) + " bytes");
  }
  if (damaged) {
    return Status(StatusCode::kDataCorruption,
                  path + " is damaged or cut short; restore it from the source or install again");
  }
  return text;
}

Result<std::string> find_data(std::string_view name) {
  namespace fs = std::filesystem;
  std::error_code ignored;  // No /proc: the other places are left.
  const fs::path command = fs::read_symlink("/proc/self/exe", ignored);
  const std::array<fs::path, 3> places = {
      command.parent_path().parent_path() / "share/seaway" / name,
      fs::path(SEAWAY_DATA_INSTALLED) / name,
      fs::path(SEAWAY_DATA_SOURCE) / name,
  };
  std::string tried;
  for (const fs::path& place : places) {
    if (fs::is_regular_file(place, ignored)) return place.string();
    tried += " " + place.string();
  }
  return invalid_argument("no file '" + std::string(name) + "' in any of:" + tried);
}

Result<Digits> load_digits() {
  const Result<std::string> path = find_data("digits.csv.gz");
  if (!path) return path.status();
  const Result<std::string> text = read_gzip(*path, kDigitsBytesMax);
  if (!text) return text.status();
  return parse_digits(*text);
}

}  // namespace seaway::demos
