// Log: what a process says of itself to the people who run it.

#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace seaway::cluster {

/// From what nobody may miss to what only a search for a mistake needs.
enum class LogLevel : std::uint8_t { kError, kWarning, kInfo, kDebug };

/// Takes one line, without its end. On the control thread; returns soon.
using Log = std::function<void(LogLevel level, const std::string& line)>;

}  // namespace seaway::cluster
