// The handwritten digits that the demos train on: found, read and checked.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "seaway/status.hpp"

namespace seaway::demos {

/// Images and the digits they show; demos/data/README.md names the source.
struct Digits {
  static constexpr std::int64_t kPixels = 64;  // 8 x 8, row by row.
  static constexpr std::int64_t kClasses = 10;

  std::vector<float> images;         // [size(), kPixels], scaled from 0..16 to 0..1.
  std::vector<std::int32_t> labels;  // [size()], 0..9.

  std::int64_t size() const { return static_cast<std::int64_t>(labels.size()); }
};

/// Rows of `digits`, each less than digits.size(), in the order that `order` says.
Digits select(const Digits& digits, std::span<const std::int32_t> order);

/// Reads lines of 64 pixels and one label. kInvalidArgument names the first bad line and why.
Result<Digits> parse_digits(std::string_view csv);

/// The whole text of a gzip file (or of a plain one), at most `bytes_max` bytes.
/// kInvalidArgument: no such file. kDataCorruption: damaged or cut short. kResourceExhausted:
/// longer.
Result<std::string> read_gzip(const std::string& path, std::size_t bytes_max);

/// Where `name` of demos/data lies: beside an installed command, else where it was installed to,
/// else in the source tree. kInvalidArgument names all places that were tried.
Result<std::string> find_data(std::string_view name);

/// The digits shipped with Seaway; the errors of the three functions above.
Result<Digits> load_digits();

}  // namespace seaway::demos
