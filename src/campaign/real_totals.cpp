// Lines of two words.

#include "campaign/real_totals.hpp"

#include <algorithm>
#include <charconv>

namespace seaway::campaign {

std::string to_text(const RealTotals& totals) {
  std::string text;
  for (const auto& [name, count] : totals) text += name + " " + std::to_string(count) + "\n";
  return text;
}

Result<RealTotals> parse_real_totals(std::string_view text) {
  RealTotals totals;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.starts_with('#')) continue;
    const std::size_t space = line.find(' ');
    std::uint64_t count = 0;
    const char* const end = line.data() + line.size();
    const bool has_two = space != std::string_view::npos && space > 0;
    const auto [stop, error] = std::from_chars(has_two ? line.data() + space + 1 : end, end, count);
    if (error != std::errc() || stop != end) {
      return Status(StatusCode::kDataCorruption,
                    "line " + std::to_string(number) + " is no name and number");
    }
    totals[std::string(line.substr(0, space))] = count;
  }
  return totals;
}

}  // namespace seaway::campaign
