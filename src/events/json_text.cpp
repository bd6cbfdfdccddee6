// Control characters are written as their code, and what is not UTF-8 as U+FFFD: no text breaks the
// line that it is in.

#include "events/json_text.hpp"

#include <algorithm>
#include <cstdio>

#include "base/printable.hpp"

namespace seaway::events {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    char32_t character = 0;
    const std::size_t size = decode_utf8(text, character);
    if (size == 0) {
      out += "\\ufffd";  // A reader would refuse the whole text for these bytes.
    } else if (character == '"' || character == '\\') {
      out += '\\';
      out += text.front();
    } else if (character < 0x20 || (character >= 0x7f && character < 0xa0)) {
      char code[8];
      std::snprintf(code, sizeof(code), "\\u%04x", static_cast<unsigned>(character));
      out += code;
    } else {
      out += text.substr(0, size);
    }
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return out + '"';
}

std::string microseconds(std::uint64_t ns) {
  char text[32];
  std::snprintf(text, sizeof(text), "%llu.%03llu", static_cast<unsigned long long>(ns / 1000),
                static_cast<unsigned long long>(ns % 1000));
  return text;
}

}  // namespace seaway::events
