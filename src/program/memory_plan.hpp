// Memory plan: where in a part's block each value lies, so that the block shrinks as gangs pass.

#pragma once

#include <cstdint>
#include <vector>

#include "program/part_plan.hpp"

namespace seaway::program {

/// A stretch of room that is needed from gang `first` to gang `last`, both included.
struct LiveRange {
  std::uint32_t first = 0, last = 0;
  std::uint64_t bytes = 0;   // A multiple of 64.
  std::uint64_t offset = 0;  // Result; 0 for one without bytes.
};

/// Gives each range an offset such that no two that are needed at one gang overlap, and returns
/// the room needed from each gang on, as Block::steps: bytes never rise, the last step is
/// {gangs, 0}. Empty when no range has bytes. O(n log n); requires first <= last < gangs.
///
/// Gangs are passed from the last to the first: what is needed last is placed first and so lies
/// lowest, and each range takes the smallest hole that fits.
std::vector<BlockStep> plan_memory(std::vector<LiveRange>& ranges, std::uint32_t gangs);

}  // namespace seaway::program
