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

std::string interval_text(const Interval& interval) {
  return "[" + value_text(interval.low) + ", " + value_text(interval.high) + "]";
}

std::string padded(const std::string& text, std::size_t width, bool to_the_right) {
  const std::string blanks(width - std::min(width, text.size()), ' ');
  return to_the_right ? blanks + text : text + blanks;
}

}  // namespace

void BenchReport::add(std::string metric, double value, std::string unit, Params params) {
  add({std::move(metric), value, std::move(unit), std::move(params)});
}

void BenchReport::add_ratio(std::string metric, const Interval& interval, Params params,
                            Bound bound) {
  if (bound.is_missed_by(interval)) {
    missed_ += (missed_.empty() ? "" : "; ") + metric;
    for (const auto& [name, text] : params) missed_ += " " + name + "=" + text;
    missed_ += " is " + value_text(interval.median) + " " + interval_text(interval) +
               "; the bound is " + bound.to_string();
  }
  if (bound.side != Bound::Side::kNone) params.emplace_back("bound", bound.to_string());
  add({std::move(metric), interval.median, "ratio", std::move(params), interval});
}

Status BenchReport::missed() const {
  return missed_.empty() ? Status() : resource_exhausted(missed_);
}

void BenchReport::add(Figure figure) {
  if (form_ == Form::kTable) {
    figures_.push_back(std::move(figure));
    return;
  }
  nlohmann::ordered_json line = {
      {"metric", figure.metric}, {"value", figure.value}, {"unit", figure.unit}};
  if (figure.interval) line["interval"] = {figure.interval->low, figure.interval->high};
  line["params"] = nlohmann::ordered_json::object();
  for (const auto& [name, text] : figure.params) line["params"][name] = number_or_text(text);
  out_ << line.dump() << '\n' << std::flush;
}

void BenchReport::finish() {
  std::vector<std::array<std::string, 4>> rows;
  std::array<std::size_t, 4> widths{};
  for (const Figure& figure : figures_) {
    std::string params = figure.interval ? interval_text(*figure.interval) : "";
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
