// `--range FILE` of `seaway chaos`: clean seeds are counted over many runs of the command.

#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/clock.hpp"
#include "sim/chaos.hpp"

namespace seaway::campaign {

constexpr int kRangeUnwritten = 2;

/// Takes the count of this build and of `kind` from the file at `path`, has `run` run those seeds
/// of `options` that are not in it yet, and keeps the file as it goes: about once a second, and at
/// the end. The row ends with the first seed that fails, also when `run` goes on behind it. The
/// file is replaced as a whole, so that it is never half written. Prints how far the row of clean
/// seeds goes. `kind`: which worlds these are; any words. Returns an exit code: that of `run`;
/// kChaosUsage when the file does not fit, kRangeUnwritten when it cannot be written.
int run_range(const std::string& path, const std::string& kind, sim::ChaosOptions options,
              const Clock& clock, const std::function<int(const sim::ChaosOptions&)>& run);

}  // namespace seaway::campaign
