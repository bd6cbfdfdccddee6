// Records: decimal numbers, the sizes of the texts last.

#include "sim/seed_line.hpp"

#include <array>
#include <charconv>
#include <vector>

#include "base/check.hpp"

namespace seaway::sim {
namespace {

constexpr std::size_t kTexts = 4;
using Sizes = std::array<std::uint64_t, kTexts>;

template <class Line>
auto texts_of(Line& line) {
  return std::array{&line.invariant, &line.place, &line.json, &line.text};
}

/// All numbers of a line in the order in which they are written.
std::vector<std::uint64_t*> fields(SeedLine& line, std::uint64_t& breach, Sizes& sizes) {
  Counts& counts = line.counts;
  std::vector<std::uint64_t*> all = {
      &line.seed,   &line.steps, &line.virtual_ns, &line.hash,        &breach,
      &counts.runs, &counts.ok,  &counts.failed,   &counts.cancelled, &counts.values_checked};
  for (std::uint64_t& count : line.coverage.counts) all.push_back(&count);
  for (std::uint64_t& count : line.fault_points.counts) all.push_back(&count);
  line.probes.resize(probe_count());  // Both ends are one program.
  for (std::uint64_t& count : line.probes) all.push_back(&count);
  for (std::uint64_t& size : sizes) all.push_back(&size);
  return all;
}

}  // namespace

std::string to_record(const SeedLine& line) {
  SeedLine copy = line;
  auto breach = static_cast<std::uint64_t>(line.breach);
  Sizes sizes{};
  const auto texts = texts_of(line);
  for (std::size_t i = 0; i < kTexts; ++i) sizes[i] = texts[i]->size();
  std::string record;
  for (const std::uint64_t* field : fields(copy, breach, sizes)) {
    record += std::to_string(*field) + " ";
  }
  record.back() = '\n';
  for (const std::string* text : texts) record += *text;
  return record;
}

std::optional<SeedLine> take_record(std::string& bytes) {
  const std::size_t end = bytes.find('\n');
  if (end == std::string::npos) return std::nullopt;
  SeedLine line;
  std::uint64_t breach = 0;
  Sizes sizes{};
  const char* at = bytes.data();
  const char* const stop = bytes.data() + end;
  for (std::uint64_t* field : fields(line, breach, sizes)) {
    const auto [next, error] = std::from_chars(at, stop, *field);
    SEAWAY_CHECK(error == std::errc() && (next == stop || *next == ' '), bytes.substr(0, end));
    at = next == stop ? stop : next + 1;
  }
  SEAWAY_CHECK(at == stop, bytes.substr(0, end));
  std::uint64_t wanted = 0;
  for (const std::uint64_t size : sizes) {
    // Each by itself first: no sum of sizes that are there overflows.
    if (size > bytes.size()) return std::nullopt;
    wanted += size;
  }
  if (bytes.size() - end - 1 < wanted) return std::nullopt;
  line.breach = static_cast<Breach>(breach);
  std::size_t next = end + 1;
  const auto texts = texts_of(line);
  for (std::size_t i = 0; i < kTexts; ++i) {
    *texts[i] = bytes.substr(next, sizes[i]);
    next += sizes[i];
  }
  bytes.erase(0, next);
  return line;
}

}  // namespace seaway::sim
