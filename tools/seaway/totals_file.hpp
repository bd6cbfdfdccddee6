// The file of sums of several campaigns against real processes.

#pragma once

#include <string>

#include "campaign/real_totals.hpp"
#include "seaway/status.hpp"

namespace seaway::tools {

/// Adds `counts` to those that the file at `path` has, which need not be there, and returns all of
/// them. Of several processes at once each waits for the other; the file is replaced as a whole.
/// Errors: kDataCorruption for a file that is none of these; kInvalidArgument for one that cannot
/// be read or written.
Result<campaign::RealTotals> add_to_file(const std::string& path,
                                         const campaign::RealTotals& counts);

}  // namespace seaway::tools
