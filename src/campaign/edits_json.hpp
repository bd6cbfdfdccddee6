// Edits as JSON: in repro files, and between processes.

#pragma once

#include <string>

#include "seaway/status.hpp"
#include "sim/edits.hpp"

namespace seaway::campaign {

/// One line. What is not edited is not in it.
std::string to_json(const sim::Edits& edits);

/// Errors: kInvalidArgument for anything that to_json() does not write, with where it is.
Result<sim::Edits> parse_edits(const std::string& json);

}  // namespace seaway::campaign
