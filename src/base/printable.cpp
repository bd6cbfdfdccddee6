// UTF-8, and which of its characters are not shown.

#include "base/printable.hpp"

#include <array>
#include <cstdint>
#include <cstdio>

namespace seaway {
namespace {

/// Controls (C0, DEL, C1), separators of lines, and what changes the direction of text.
bool is_hidden(char32_t character) {
  const auto is_in = [character](char32_t first, char32_t last) {
    return character >= first && character <= last;
  };
  return is_in(0, 0x1f) || is_in(0x7f, 0x9f) || character == 0x61c || is_in(0x200b, 0x200f) ||
         is_in(0x2028, 0x202e) || is_in(0x2060, 0x206f) || character == 0xfeff;
}

std::string escape(const char* format, std::uint32_t number) {
  std::array<char, 16> text;
  const int size = std::snprintf(text.data(), text.size(), format, number);
  return {text.data(), static_cast<std::size_t>(size)};
}

}  // namespace

std::size_t decode_utf8(std::string_view text, char32_t& character) {
  if (text.empty()) return 0;
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) {
    character = first;
    return 1;
  }
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < size) return 0;
  character = first & (0x7f >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    character = character << 6 | (byte(i) & 0x3f);
  }
  const bool is_overlong = (size == 3 && character < 0x800) || (size == 4 && character < 0x10000);
  const bool is_surrogate = character >= 0xd800 && character <= 0xdfff;
  return is_overlong || is_surrogate || character > 0x10ffff ? 0 : size;
}

std::string printable(std::string_view text, Lines lines) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    char32_t character = 0;
    std::size_t size = decode_utf8(text, character);
    if (size == 0) {
      shown += escape("\\x%02x", static_cast<unsigned char>(text.front()));
      size = 1;
    } else if (character == '\n' && lines == Lines::kMany) {
      shown += '\n';
    } else if (is_hidden(character)) {
      shown += escape(character < 0x80 ? "\\x%02x" : "\\u{%x}", character);
    } else {
      shown += text.substr(0, size);
    }
    text.remove_prefix(size);
  }
  return shown;
}

bool is_printable(std::string_view text) { return printable(text) == text; }

}  // namespace seaway
