// Overlap: an order of steps in which exchanges go on beside the steps that do not need them.

#pragma once

#include <cstddef>

#include "function/cpu_schedule.hpp"

namespace seaway::function::cpu {

/// Exchanges of one gang that are under way at once.
inline constexpr std::size_t kExchangesAtOnce = 4;

/// The same steps, and for each exchange one more that waits for its end. An exchange stands as
/// early as its operands allow; behind it come, in the order in which they were, the steps that do
/// not need it, for as long as it is guessed to take (Muchnick, Advanced Compiler Design and
/// Implementation, 17.1: list scheduling). The wait stands before the first step that needs it.
///
/// No step computes anything else than before, and nothing but the schedule decides: all hosts
/// find the same order. It may need more room, as values wait for exchanges.
Schedule overlap(Schedule schedule);

}  // namespace seaway::function::cpu
