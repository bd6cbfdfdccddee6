// The oracle reads the captured graph from the client's record.

#include "sim/oracle.hpp"

#include <algorithm>
#include <utility>

#include "client/registry.hpp"
#include "function/executable.hpp"
#include "sim/sim_backend.hpp"

namespace seaway::sim {

Result<std::vector<program::GlobalArray>> Oracle::evaluate(
    const Program& program, std::vector<program::GlobalArray> arguments) {
  const client::ProgramRecord& record = *program.record();
  for (const auto& [id, function] : record.functions) {
    if (function->info.name.starts_with(SimBackend::kUncompilable)) {
      return invalid_argument("function " + function->info.name + " does not compile");
    }
    if (executables_.contains(id)) continue;
    if (function->native) {
      executables_[id] = function->native;
      continue;
    }
    auto compiled = function::compile_reference(function->graph, function->info.axes);
    if (!compiled.ok()) return compiled.status();
    executables_[id] = *compiled;
  }
  return program::evaluate(
      record.graph,
      [this](FunctionId id) {
        const auto found = executables_.find(id);
        return found == executables_.end() ? nullptr : found->second;
      },
      std::move(arguments));
}

bool Oracle::reads(const Program& program, std::size_t index) const {
  const program::ProgramGraph& graph = program.record()->graph;
  const program::ValueRef wanted{program::ValueRef::kParameter, static_cast<std::uint32_t>(index)};
  const auto names = [&wanted](const std::vector<program::ValueRef>& values) {
    return std::find(values.begin(), values.end(), wanted) != values.end();
  };
  return names(graph.outputs) ||
         std::any_of(graph.nodes.begin(), graph.nodes.end(),
                     [&names](const program::Node& node) { return names(node.operands); });
}

}  // namespace seaway::sim
