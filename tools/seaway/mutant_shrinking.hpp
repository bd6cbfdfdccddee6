// How small the worlds get that show planted bugs.

#pragma once

#include <cstdint>
#include <vector>

#include "base/clock.hpp"
#include "chaos_shrink.hpp"
#include "sim/edits.hpp"
#include "sim/mutants.hpp"

namespace seaway::tools {

/// Shrinks the failure of each row that has one, `jobs` at a time; prints a line each, most faults
/// last, and the medians of faults and seconds. Repro files go to the directory of `wanted`.
void shrink_mutants(const std::vector<sim::MutantRow>& rows, const sim::Edits& edits,
                    std::uint32_t jobs, const ShrinkOptions& wanted, const Clock& clock);

}  // namespace seaway::tools
