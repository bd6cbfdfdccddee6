// Counts of several campaigns against real processes, as a text.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "seaway/status.hpp"

namespace seaway::campaign {

/// By name: "kills.host", "runs". Names have no spaces.
using RealTotals = std::map<std::string, std::uint64_t>;

/// "kills.host 212", a line each.
std::string to_text(const RealTotals& totals);
/// Errors: kDataCorruption for what to_text() does not write.
Result<RealTotals> parse_real_totals(std::string_view text);

}  // namespace seaway::campaign
