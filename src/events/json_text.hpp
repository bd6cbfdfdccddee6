// Words of JSON, for traces and tables that are written as they grow.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace seaway::events {

/// `text` as a string of JSON (RFC 8259, section 7), with its quotes.
std::string quoted(std::string_view text);

/// A trace counts in microseconds; three decimals keep every nanosecond.
std::string microseconds(std::uint64_t ns);

}  // namespace seaway::events
