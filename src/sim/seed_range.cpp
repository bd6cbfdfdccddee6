// The file: a line of words NAME=VALUE for each count.

#include "sim/seed_range.hpp"

#include <algorithm>
#include <charconv>
#include <map>

namespace seaway::sim {
namespace {

constexpr std::string_view kHead = "# Written by `seaway chaos --range`: rows of clean seeds.\n";

std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

/// Nothing when the line is not what to_line() writes.
std::optional<CleanSeeds> parse_line(std::string_view line) {
  std::map<std::string_view, std::string_view> words;
  while (!line.empty()) {
    const std::string_view word = line.substr(0, line.find(' '));
    line.remove_prefix(std::min(line.size(), word.size() + 1));
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    if (!words.emplace(word.substr(0, equals), word.substr(equals + 1)).second) return std::nullopt;
  }
  const auto first = number_of(words["first"]);
  const auto seeds = number_of(words["seeds"]);
  const auto steps = number_of(words["steps"]);
  const auto failed = number_of(words["failed"]);
  if (!first || !seeds || !steps || !failed || words.size() != 7) return std::nullopt;
  if (words["kind"].empty() || words["build"].empty() || *failed > 255) return std::nullopt;
  return CleanSeeds{{std::string(words["kind"]), std::string(words["build"])},
                    std::string(words["commit"]),
                    *first,
                    *seeds,
                    *steps,
                    static_cast<int>(*failed)};
}

std::string to_line(const CleanSeeds& count) {
  return "kind=" + count.key.kind + " build=" + count.key.build + " commit=" + count.commit +
         " first=" + std::to_string(count.first) + " seeds=" + std::to_string(count.seeds) +
         " steps=" + std::to_string(count.steps) + " failed=" + std::to_string(count.failed_exit) +
         "\n";
}

}  // namespace

void CleanSeeds::add(int exit_code, std::uint64_t steps_of_seed) {
  failed_exit = exit_code;
  if (exit_code != 0) return;
  ++seeds;
  steps += steps_of_seed;
}

std::string CleanSeeds::to_string() const {
  std::string text = seeds == 0
                         ? "clean: none"
                         : "clean: " + std::to_string(first) + ".." + std::to_string(next() - 1);
  text += " (" + std::to_string(seeds) + " seeds, " + std::to_string(steps) + " steps, of kind " +
          key.kind + ", commit " + commit + ", build " + key.build + ")";
  if (failed_exit == 0) return text;
  return text + "; seed " + std::to_string(next()) + " ended with " + std::to_string(failed_exit);
}

Result<SeedRanges> SeedRanges::parse(std::string_view text) {
  SeedRanges ranges;
  for (std::uint64_t number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.empty() || line[0] == '#') continue;
    const auto count = parse_line(line);
    if (!count) {
      return Status(StatusCode::kDataCorruption,
                    "line " + std::to_string(number) + " is no count of clean seeds: '" +
                        std::string(line) + "'; take it out, or choose another file with --range");
    }
    ranges.counts_.push_back(*count);
  }
  return ranges;
}

std::string SeedRanges::to_string() const {
  std::string text(kHead);
  for (const CleanSeeds& count : counts_) text += to_line(count);
  return text;
}

Result<CleanSeeds*> SeedRanges::resume(const RangeKey& key, std::string_view commit,
                                       std::uint64_t first) {
  for (CleanSeeds& count : counts_) {
    if (count.key != key) continue;
    if (count.first <= first && first <= count.next()) return &count;
    return invalid_argument("seeds from " + std::to_string(first) +
                            " on do not go on from what is there, " + count.to_string() +
                            "; begin at " + std::to_string(count.first) +
                            ", or choose another file with --range");
  }
  counts_.push_back({key, std::string(commit), first});
  return &counts_.back();
}

}  // namespace seaway::sim
