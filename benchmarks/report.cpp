// Printing figures as JSON lines or as a table.

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <ostream>

#include "benchmarks/benchmarks.hpp"

namespace seaway::benchmarks {
namespace {

nlohmann::ordered_json number_or_text(const std::string& text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || !std::isfinite(number)) return text;
  // 64 is printed as 64, not as 64.0.
  if (number == std::floor(number) && std::abs(number) < 1e15) {
    return static_cast<std::int64_t>(number);
  }
  return number;
}

std::string value_text(double value) {
  std::array<char, 64> text;
  const int length = std::snprintf(text.data(), text.size(), "%.4g", value);
  return std::string(text.data(), static_cast<std::size_t>(length));
}

std::string padded(const std::string& text, std::size_t width, bool to_the_right) {
  const std::string blanks(width - std::min(width, text.size()), ' ');
  return to_the_right ? blanks + text : text + blanks;
}

}  // namespace

void BenchReport::add(std::string metric, double value, std::string unit, Params params) {
  if (form_ == Form::kTable) {
    figures_.push_back({std::move(metric), value, std::move(unit), std::move(params)});
    return;
  }
  nlohmann::ordered_json line = {{"metric", metric}, {"value", value}, {"unit", unit}};
  line["params"] = nlohmann::ordered_json::object();
  for (const auto& [name, text] : params) line["params"][name] = number_or_text(text);
  out_ << line.dump() << '\n' << std::flush;
}

void BenchReport::finish() {
  std::vector<std::array<std::string, 4>> rows;
  std::array<std::size_t, 4> widths{};
  for (const Figure& figure : figures_) {
    std::string params;
    for (const auto& [name, text] : figure.params) {
      params += (params.empty() ? "" : " ") + name + "=" + text;
    }
    rows.push_back({figure.metric, value_text(figure.value), figure.unit, params});
    for (std::size_t column = 0; column < widths.size(); ++column) {
      widths[column] = std::max(widths[column], rows.back()[column].size());
    }
  }
  for (const auto& row : rows) {
    std::string line = padded(row[0], widths[0], false) + "  " + padded(row[1], widths[1], true) +
                       " " + padded(row[2], widths[2], false) + "  " + row[3];
    line.erase(line.find_last_not_of(' ') + 1);
    out_ << line << '\n';
  }
  out_ << std::flush;
  figures_.clear();
}

}  // namespace seaway::benchmarks
