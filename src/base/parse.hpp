// Parsing of what people write in options: durations, sizes, numbers, key=value lists.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "seaway/status.hpp"

namespace seaway {

/// All return kInvalidArgument with the text, what is wrong with it, and an example.

/// "17"; decimal digits alone, up to 2^64 - 1.
Result<std::uint64_t> parse_number(std::string_view text);
/// "50us", "1.5ms", "0": ns, us, ms, s, min, h, d. A number without a unit must be 0.
/// Nanoseconds, at most 2^63 - 1; the value must be a whole number of them.
Result<std::uint64_t> parse_duration_ns(std::string_view text);
/// "64", "1GB" (10^9), "256MiB" (2^28): B, kB, KB, MB, GB, TB and KiB, MiB, GiB, TiB.
/// Bytes, at most 2^63 - 1; the value must be a whole number of them.
Result<std::uint64_t> parse_bytes(std::string_view text);
/// "a=1,b=2" in the order written; empty text is an empty list. Keys are not empty and not twice.
Result<std::vector<std::pair<std::string, std::string>>> parse_options(std::string_view text);

}  // namespace seaway
