// Words between spaces.

#include "campaign/real_history.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <utility>

namespace seaway::campaign {
namespace {

constexpr std::array<std::string_view, 3> kKinds = {"submit", "outcome", "end"};

std::string_view next_word(std::string_view& text) {
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(std::min(text.size(), word.size() + 1));
  return word;
}

std::optional<std::uint64_t> number_of(std::string_view word) {
  std::uint64_t value = 0;
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, value);
  if (word.empty() || error != std::errc() || stop != end) return std::nullopt;
  return value;
}

std::optional<StatusCode> code_of(std::string_view word) {
  for (std::uint8_t code = 0; code < 32; ++code) {
    const auto one = static_cast<StatusCode>(code);
    if (to_string(one) == word) return one;
  }
  return std::nullopt;
}

}  // namespace

std::string to_text(const RealLine& line) {
  std::string text(kKinds[static_cast<std::size_t>(line.kind)]);
  text += " " + std::to_string(line.id) + " " + std::to_string(line.at_ns);
  if (line.kind == RealLine::Kind::kOutcome) {
    text += " " + std::string(to_string(line.code)) + (line.is_right ? " right" : " wrong");
  }
  return text + "\n";
}

std::optional<RealLine> parse_real_line(std::string_view text) {
  RealLine line;
  const auto kind = std::find(kKinds.begin(), kKinds.end(), next_word(text));
  if (kind == kKinds.end()) return std::nullopt;
  line.kind = static_cast<RealLine::Kind>(kind - kKinds.begin());
  const auto id = number_of(next_word(text)), at_ns = number_of(next_word(text));
  if (!id || !at_ns) return std::nullopt;
  line.id = *id;
  line.at_ns = *at_ns;
  if (line.kind == RealLine::Kind::kOutcome) {
    const auto code = code_of(next_word(text));
    const std::string_view right = next_word(text);
    if (!code || (right != "right" && right != "wrong")) return std::nullopt;
    line.code = *code;
    line.is_right = right == "right";
  }
  if (!text.empty()) return std::nullopt;
  return line;
}

bool is_settled(const RealHistory& history, std::uint64_t since_ns, std::size_t values) {
  std::set<std::uint64_t> before, after;
  for (const RealLine& line : history.lines) {
    if (line.kind == RealLine::Kind::kSubmit) {
      (line.at_ns < since_ns ? before : after).insert(line.id);
    } else if (line.kind == RealLine::Kind::kOutcome) {
      before.erase(line.id);
      if (line.is_right && after.contains(line.id) && values > 0) --values;
    }
  }
  return before.empty() && values == 0;
}

RealHistory read_real_history(std::string client, std::string_view text) {
  RealHistory history;
  history.client = std::move(client);
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) break;  // It was being written.
    if (const auto line = parse_real_line(text.substr(0, end))) history.lines.push_back(*line);
    text.remove_prefix(end + 1);
  }
  return history;
}

}  // namespace seaway::campaign
