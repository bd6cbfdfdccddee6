// Exact decimal parsing: no floating point, so that "0.1s" is 100,000,000 ns on every machine.

#include "base/parse.hpp"

#include <algorithm>
#include <span>

namespace seaway {
namespace {

constexpr std::uint64_t kValueMax = ~std::uint64_t{0} >> 1;

struct Unit {
  std::string_view name;
  std::uint64_t scale;
};
constexpr Unit kDurations[] = {{"ns", 1},
                               {"us", 1'000},
                               {"ms", 1'000'000},
                               {"s", 1'000'000'000},
                               {"min", 60'000'000'000},
                               {"h", 3'600'000'000'000},
                               {"d", 86'400'000'000'000}};
constexpr Unit kSizes[] = {{"", 1},
                           {"B", 1},
                           {"kB", 1'000},
                           {"KB", 1'000},
                           {"MB", 1'000'000},
                           {"GB", 1'000'000'000},
                           {"TB", 1'000'000'000'000},
                           {"KiB", std::uint64_t{1} << 10},
                           {"MiB", std::uint64_t{1} << 20},
                           {"GiB", std::uint64_t{1} << 30},
                           {"TiB", std::uint64_t{1} << 40}};

bool is_digit(char character) { return character >= '0' && character <= '9'; }

/// What a kind of quantity is called and looks like, for messages.
struct Words {
  const char* what;
  const char* example;
};

Status refused(const Words& words, std::string_view text, const std::string& why) {
  return invalid_argument(std::string(words.what) + " \"" + std::string(text) + "\" " + why +
                          "; write for example " + words.example);
}

std::string names_of(std::span<const Unit> units) {
  std::string names;
  for (const Unit& unit : units) {
    if (unit.name.empty()) continue;
    names += (names.empty() ? "" : ", ") + std::string(unit.name);
  }
  return names;
}

/// `digits`[.`fraction`] * scale, exactly.
Result<std::uint64_t> parse_quantity(std::string_view text, std::span<const Unit> units,
                                     const Words& words) {
  constexpr std::size_t kDigitsMax = 19;  // As kValueMax has. Keeps all products below 2^127.
  const auto digits_end = std::find_if_not(text.begin(), text.end(), is_digit);
  const std::string_view digits(text.begin(), digits_end);
  if (digits.empty()) return refused(words, text, "does not begin with a number");
  std::string_view rest = text.substr(digits.size()), fraction;
  if (!rest.empty() && rest.front() == '.') {
    rest.remove_prefix(1);
    fraction = std::string_view(rest.begin(), std::find_if_not(rest.begin(), rest.end(), is_digit));
    if (fraction.empty()) return refused(words, text, "has no digits after its point");
    rest.remove_prefix(fraction.size());
  }
  const auto unit = std::find_if(units.begin(), units.end(),
                                 [rest](const Unit& known) { return known.name == rest; });
  const bool is_zero = digits.find_first_not_of('0') == digits.npos && fraction.empty();
  if (unit == units.end() && !(rest.empty() && is_zero)) {
    return refused(words, text,
                   (rest.empty() ? "has no unit (known: "
                                 : "has the unknown unit \"" + std::string(rest) + "\" (known: ") +
                       names_of(units) + ")");
  }
  if (digits.size() + fraction.size() > kDigitsMax) {
    return refused(words, text, "has more than " + std::to_string(kDigitsMax) + " digits");
  }
  __uint128_t value = 0, divisor = 1;
  for (const char digit : digits) value = value * 10 + static_cast<unsigned>(digit - '0');
  for (const char digit : fraction) {
    value = value * 10 + static_cast<unsigned>(digit - '0');
    divisor *= 10;
  }
  value *= unit == units.end() ? 1 : unit->scale;
  if (value % divisor != 0) {
    return refused(words, text, "is not a whole number of the smallest unit");
  }
  value /= divisor;
  if (value > kValueMax) return refused(words, text, "is larger than " + std::to_string(kValueMax));
  return static_cast<std::uint64_t>(value);
}

}  // namespace

Result<std::uint64_t> parse_number(std::string_view text) {
  constexpr Words kWords = {"number", "16"};
  if (text.empty() || !std::all_of(text.begin(), text.end(), is_digit)) {
    return refused(kWords, text, "is not made of digits alone");
  }
  std::uint64_t value = 0;
  for (const char character : text) {
    const auto digit = static_cast<std::uint64_t>(character - '0');
    if (__builtin_mul_overflow(value, std::uint64_t{10}, &value) ||
        __builtin_add_overflow(value, digit, &value)) {
      return refused(kWords, text, "is larger than " + std::to_string(~std::uint64_t{0}));
    }
  }
  return value;
}

Result<std::uint64_t> parse_duration_ns(std::string_view text) {
  return parse_quantity(text, kDurations, {"duration", "50us or 1.5ms"});
}

Result<std::uint64_t> parse_bytes(std::string_view text) {
  return parse_quantity(text, kSizes, {"size", "1GB or 256MiB"});
}

Result<std::vector<std::pair<std::string, std::string>>> parse_options(std::string_view text) {
  constexpr Words kWords = {"options", "islands=2,devices=4"};
  std::vector<std::pair<std::string, std::string>> options;
  if (text.empty()) return options;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view part = text.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t equals = part.find('=');
    if (equals == part.npos || equals == 0) {
      return refused(kWords, text, "have \"" + std::string(part) + "\", which is no key=value");
    }
    std::string key(part.substr(0, equals));
    for (const auto& option : options) {
      if (option.first == key) return refused(kWords, text, "name \"" + key + "\" twice");
    }
    options.emplace_back(std::move(key), part.substr(equals + 1));
  }
  return options;
}

}  // namespace seaway
