// `seaway chaos --mutants`: bugs that are planted in product code, and how many seeds find each.

#pragma once

#include <cstdint>
#include <string>

#include "base/clock.hpp"
#include "chaos_shrink.hpp"
#include "sim/chaos.hpp"

namespace seaway::tools {

/// `which`: "list" prints all; "all", or the name of one, runs the seeds of `options` with each of
/// them until one fails, each in a process of its own, `jobs` at a time, and prints a table, or
/// with options.json a line each. Returns an exit code: kChaosClean when all are found,
/// kCheckFailed when not, kChaosUsage when there is none of that name.
/// With `shrink` each failure is shrunk then, and how far that went is printed, too.
int run_chaos_mutants(const std::string& which, const sim::ChaosOptions& options,
                      std::uint32_t jobs, const ShrinkOptions* shrink, const Clock& clock);

/// Switches `name` on for whatever runs next in this process; empty: none. False, and says so, when
/// there is none of that name.
bool plant_mutant(const std::string& name);

}  // namespace seaway::tools
