// Control characters are written as their code: no text breaks the line that it is in.

#include "events/json_text.hpp"

#include <cstdio>

namespace seaway::events {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char character : text) {
    if (character == '"' || character == '\\') {
      out += '\\';
      out += character;
    } else if (static_cast<unsigned char>(character) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof(code), "\\u%04x", static_cast<unsigned>(character));
      out += code;
    } else {
      out += character;
    }
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
