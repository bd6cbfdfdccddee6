// printable: text of others as a terminal or a log may show it.

#pragma once

#include <string>
#include <string_view>

namespace seaway {

enum class Lines { kOne, kMany };

/// `text` with an escape in the place of whatever is no visible character: bytes that are not UTF-8
/// and ASCII controls as "\x1b", other controls, line separators and changes of direction as
/// "\u{202e}". Lines::kMany keeps line feeds. Whatever shows text that came from another process
/// to a person passes it through here.
std::string printable(std::string_view text, Lines lines = Lines::kOne);

/// Whether printable() changes nothing in one line of it.
bool is_printable(std::string_view text);

/// The bytes of the UTF-8 character that `text` begins with, and the character; 0: it begins with
/// none (RFC 3629: no overlong forms, no surrogates).
std::size_t decode_utf8(std::string_view text, char32_t& character);

}  // namespace seaway
