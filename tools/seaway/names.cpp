// Distance between names, and the sentence about an unknown one.

#include "names.hpp"

#include <algorithm>

namespace seaway::tools {
namespace {

constexpr std::size_t kEditsMax = 2;

/// Letters wrong, missing, extra, or swapped with their neighbour.
std::size_t edits(std::string_view left, std::string_view right) {
  const std::size_t columns = right.size() + 1;
  std::vector<std::size_t> table((left.size() + 1) * columns);
  const auto at = [&table, columns](std::size_t row, std::size_t column) -> std::size_t& {
    return table[row * columns + column];
  };
  for (std::size_t row = 0; row <= left.size(); ++row) {
    for (std::size_t column = 0; column <= right.size(); ++column) {
      if (row == 0 || column == 0) {
        at(row, column) = row + column;
        continue;
      }
      const bool differs = left[row - 1] != right[column - 1];
      std::size_t best = at(row - 1, column - 1) + differs;
      best = std::min({best, at(row - 1, column) + 1, at(row, column - 1) + 1});
      if (row > 1 && column > 1 && left[row - 1] == right[column - 2] &&
          left[row - 2] == right[column - 1]) {
        best = std::min(best, at(row - 2, column - 2) + 1);
      }
      at(row, column) = best;
    }
  }
  return table.back();
}

std::string joined(std::span<const std::string_view> names, std::string_view between) {
  std::string text;
  for (const std::string_view name : names) {
    if (!text.empty()) text += between;
    text += name;
  }
  return text;
}

}  // namespace

std::vector<std::string_view> close_names(std::string_view typed,
                                          std::span<const std::string_view> known) {
  std::vector<std::pair<std::size_t, std::string_view>> found;
  for (const std::string_view name : known) {
    std::size_t distance = edits(typed, name);
    if (!typed.empty() && (name.starts_with(typed) || typed.starts_with(name))) {
      distance = std::min<std::size_t>(distance, 1);
    }
    // Two edits turn any two-letter word into any other.
    if (distance <= kEditsMax && distance < name.size()) found.emplace_back(distance, name);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& left, const auto& right) { return left.first < right.first; });
  std::vector<std::string_view> names;
  for (const auto& [distance, name] : found) names.push_back(name);
  return names;
}

std::string unknown_name(std::string_view kind, std::string_view typed,
                         std::span<const std::string_view> known) {
  std::string text = "no " + std::string(kind) + " '" + std::string(typed) + "'";
  const std::vector<std::string_view> close = close_names(typed, known);
  if (!close.empty()) text += "; did you mean " + joined(close, " or ") + "?";
  text += close.empty() ? "; there are: " : " There are: ";
  text += known.empty() ? "none" : joined(known, ", ");
  return text + ". Type `seaway " + std::string(kind) + " list`.";
}

}  // namespace seaway::tools
