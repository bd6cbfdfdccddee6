// Foreign programs of simulated devices: a function's graph, which their compiler reads.

#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "function/executable.hpp"
#include "function/foreign.hpp"
#include "function/graph.hpp"

namespace seaway::sim {

/// The only format that they read.
inline constexpr std::string_view kGraphFormat = "graph";
/// How the names of graphs end that give their first parameter up.
inline constexpr std::string_view kGivesUp = "_gives_up";

/// `graph` as code. Over several shards its collectives are along axis "shard".
std::string foreign_code(const function::Graph& graph);

/// Runs it on the reference interpreter. Errors: kInvalidArgument for another format, and for a
/// graph that does not validate; kProtocolError for bytes that are none.
Result<std::shared_ptr<const function::Executable>> compile_foreign(
    const function::ForeignProgram& program);

}  // namespace seaway::sim
