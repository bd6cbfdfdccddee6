// Reference evaluation: a whole program on global arrays, node by node, in the calling thread.

#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "function/executable.hpp"
#include "program/program_graph.hpp"
#include "seaway/status.hpp"

namespace seaway::program {

/// One array, row-major and not sharded.
using GlobalArray = std::vector<std::byte>;

/// Finds what runs function `id`; null when there is none.
using FindExecutable = std::function<std::shared_ptr<const function::Executable>(FunctionId id)>;

/// Evaluates `graph` on `inputs`, one per parameter, and returns one array per output. Each operand
/// is split as its function wants it and each result is joined again: no devices, no islands, no
/// memory plan, no donation. This is the oracle of the simulator, and what a debugger steps
/// through. An array is freed behind its last reader.
///
/// Requires validate(graph, functions).ok(). Errors name the node and its site: kInvalidArgument
/// for an input of a wrong size, a missing executable or one of other types than the graph's; else
/// what the executable returned.
Result<std::vector<GlobalArray>> evaluate(const ProgramGraph& graph, const FindExecutable& find,
                                          std::vector<GlobalArray> inputs);

}  // namespace seaway::program
