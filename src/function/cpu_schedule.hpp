// Schedule: the steps of a function in order, before it is known where their values lie.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "function/collectives.hpp"
#include "function/cpu_step.hpp"
#include "function/graph.hpp"

namespace seaway::function::cpu {

using StorageId = std::uint32_t;  // Index into Schedule::storages.

/// Bytes that hold one value. Values that are only another view of it (reshape, broadcast read by
/// elementwise operations) have none of their own.
struct Storage {
  enum Kind : std::uint8_t { kParameter, kConstant, kComputed };
  Kind kind = kComputed;
  std::size_t bytes = 0;
  std::uint32_t index = 0;  // Of the parameter; of the word in Schedule::constants.
};

struct ScheduledStep {
  Step step;
  std::vector<StorageId> in, out;
  /// It does nothing but wait for the end of an exchange, which is this one of the steps, so that
  /// what that reads and writes, `in`, is neither read nor written before. See cpu_overlap.hpp.
  std::optional<std::size_t> awaits = {};
};

struct Schedule {
  std::vector<Storage> storages;
  std::vector<ScheduledStep> steps;
  std::vector<StorageId> outputs;        // One per output of the graph.
  std::vector<std::uint32_t> constants;  // Single elements, by their bits.
};

/// Orders and fuses the live part of a graph: chains of elementwise operations become one step,
/// broadcasts and splats that only they read become none, transpositions become part of the matrix
/// product that reads them. Requires validate(graph, axes).ok(). `collectives` outlives the
/// schedule.
Schedule make_schedule(const Graph& graph, const AxisSizes& axes, const Collectives& collectives);

}  // namespace seaway::function::cpu
