// What a session has registered with its cluster: functions and programs.

#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "client/record.hpp"
#include "function/executable.hpp"
#include "function/graph.hpp"
#include "program/program_graph.hpp"
#include "seaway/function.hpp"
#include "seaway/program.hpp"

namespace seaway::client {

/// A function that the cluster knows. Immutable.
struct FunctionRecord {
  std::shared_ptr<Session> session;
  program::FunctionInfo info;
  function::Graph graph;  // Without instructions for a native function.
  /// A native function's code, for debug mode; null for a captured one.
  std::shared_ptr<const function::Executable> native;
  /// What a foreign function was compiled to; null for all others.
  std::shared_ptr<const program::ForeignCompiled> foreign;
  std::optional<Mesh> mesh;
  CallSpecs specs;
};

/// A program that the cluster knows. Immutable, but for its variants.
struct ProgramRecord final : Origin, std::enable_shared_from_this<ProgramRecord> {
  program::ProgramGraph graph;
  std::map<FunctionId, std::shared_ptr<FunctionRecord>> functions;
  std::vector<std::uint64_t> parameter_specs;  // As Origin::output_specs.
  std::vector<std::shared_ptr<SliceRecord>> slices;
  bool donates = false;
};

}  // namespace seaway::client
