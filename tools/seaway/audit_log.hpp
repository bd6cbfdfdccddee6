// The file with a line for each caller who was let in or not.

#pragma once

#include <string>

namespace seaway::tools {

/// Appends "2030-01-31T12:00:00Z " and `line` to `path`, for this user alone, in one write: lines
/// of several processes do not mix, and whoever moves the file away gets a new one. What cannot be
/// written is told on stderr. Characters that a terminal would act on are '?'.
void append_audit(const std::string& path, const std::string& line);

}  // namespace seaway::tools
