// Records: decimal numbers, the sizes of the texts last.

#include "sim/seed_line.hpp"

#include <charconv>
#include <vector>

#include "base/check.hpp"

namespace seaway::sim {
namespace {

/// All numbers of a line in the order in which they are written.
std::vector<std::uint64_t*> fields(SeedLine& line, std::uint64_t& breach, std::uint64_t& json_bytes,
                                   std::uint64_t& text_bytes) {
  Counts& counts = line.counts;
  std::vector<std::uint64_t*> all = {&line.seed,     &line.steps,       &line.virtual_ns,
                                     &breach,        &counts.runs,      &counts.ok,
                                     &counts.failed, &counts.cancelled, &counts.values_checked};
  for (std::uint64_t& count : line.coverage.counts) all.push_back(&count);
  all.push_back(&json_bytes);
  all.push_back(&text_bytes);
  return all;
}

}  // namespace

std::string to_record(const SeedLine& line) {
  SeedLine copy = line;
  auto breach = static_cast<std::uint64_t>(line.breach);
  std::uint64_t json_bytes = line.json.size(), text_bytes = line.text.size();
  std::string record;
  for (const std::uint64_t* field : fields(copy, breach, json_bytes, text_bytes)) {
    record += std::to_string(*field) + " ";
  }
  record.back() = '\n';
  return record + line.json + line.text;
}

std::optional<SeedLine> take_record(std::string& bytes) {
  const std::size_t end = bytes.find('\n');
  if (end == std::string::npos) return std::nullopt;
  SeedLine line;
  std::uint64_t breach = 0, json_bytes = 0, text_bytes = 0;
  const char* at = bytes.data();
  const char* const stop = bytes.data() + end;
  for (std::uint64_t* field : fields(line, breach, json_bytes, text_bytes)) {
    const auto [next, error] = std::from_chars(at, stop, *field);
    SEAWAY_CHECK(error == std::errc() && (next == stop || *next == ' '), bytes.substr(0, end));
    at = next == stop ? stop : next + 1;
  }
  SEAWAY_CHECK(at == stop, bytes.substr(0, end));
  const std::size_t left = bytes.size() - end - 1;
  if (left < json_bytes || left - json_bytes < text_bytes) {
    return std::nullopt;
  }
  line.breach = static_cast<Breach>(breach);
  line.json = bytes.substr(end + 1, json_bytes);
  line.text = bytes.substr(end + 1 + json_bytes, text_bytes);
  bytes.erase(0, end + 1 + json_bytes + text_bytes);
  return line;
}

}  // namespace seaway::sim
