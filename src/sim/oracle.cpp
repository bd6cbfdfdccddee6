// The oracle reads the captured graph from the client's record.

#include "sim/oracle.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
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

std::string difference(const program::GlobalArray& wanted, const std::vector<std::byte>& given) {
  if (wanted == given) return "";
  if (wanted.size() != given.size()) {
    return "has " + std::to_string(given.size()) + " bytes, and the reference gives " +
           std::to_string(wanted.size());
  }
  std::size_t at = 0;
  while (given[at] == wanted[at]) ++at;
  std::string text = "is not what the reference gives, from byte " + std::to_string(at) + " of " +
                     std::to_string(wanted.size()) + ":";
  char word[48];
  for (std::size_t i = at / 4; i < wanted.size() / 4 && i < at / 4 + 6; ++i) {
    std::uint32_t a = 0, b = 0;
    std::memcpy(&a, wanted.data() + 4 * i, 4);
    std::memcpy(&b, given.data() + 4 * i, 4);
    std::snprintf(word, sizeof(word), " %08x instead of %08x;", b, a);
    text += word;
  }
  return text;
}

}  // namespace seaway::sim
