// `seaway chaos --range FILE`: clean seeds are counted over many runs of the command.

#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/clock.hpp"
#include "sim/chaos.hpp"

namespace seaway::tools {

/// Takes the count of this build and this kind of world from the file at `path`, has `run` run
/// those seeds of `options` that are not in it yet, and keeps the file as it goes: about once a
/// second, and at the end. The file is replaced as a whole, so that it is never half written.
/// Prints how far the row of clean seeds goes. Returns an exit code: that of `run`; kChaosUsage
/// when the file does not fit, kCheckFailed when it cannot be written.
int run_chaos_range(const std::string& path, sim::ChaosOptions options, const Clock& clock,
                    const std::function<int(const sim::ChaosOptions&)>& run);

}  // namespace seaway::tools
