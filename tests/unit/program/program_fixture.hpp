// Short ways to write programs in tests: slices, functions that keep shapes, and nodes.

#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "program/lowering.hpp"
#include "program/program_graph.hpp"

namespace seaway::program {

/// Grows one program. Each node gets a function of its own that fits it.
struct ProgramBuilder {
  ProgramGraph graph;
  std::map<FunctionId, FunctionInfo> functions;
  std::map<SliceId, Binding> bindings;

  ProgramBuilder() {
    graph.id = 7;
    graph.name = "test";
  }

  Mesh slice(SliceId id, IslandId island, std::vector<DeviceId> devices,
             std::vector<MeshAxis> axes = {}) {
    if (axes.empty()) axes = {{"x", static_cast<std::int64_t>(devices.size())}};
    bindings[id] = {island, std::move(devices)};
    return Mesh(id, std::move(axes));
  }

  ValueRef parameter(const ArraySpec& spec, bool is_donated = false) {
    graph.parameters.push_back(spec);
    graph.donated.push_back(is_donated);
    return {ValueRef::kParameter, static_cast<std::uint32_t>(graph.parameters.size() - 1)};
  }

  struct Call {
    std::vector<ValueRef> operands = {};
    std::vector<PartitionSpec> in_specs = {};  // Empty: as `out_spec`.
    TensorType out = f32({8});
    PartitionSpec out_spec = P("x");
    std::uint32_t outputs = 1;
    std::uint64_t scratch_bytes = 0;
    bool irregular = false;
    function::OutputOperandPairs in_place = {};
  };

  /// Result 0 of a new node on `mesh`.
  ValueRef call(const Mesh& mesh, Call call) {
    Node node;
    FunctionInfo function;
    node.function = function.id = 100 + graph.nodes.size();
    function.name = "f" + std::to_string(graph.nodes.size());
    function.scratch_bytes = call.scratch_bytes;
    function.irregular = call.irregular;
    function.in_place = call.in_place;
    node.mesh = mesh;
    node.site = "test.cpp:" + std::to_string(graph.nodes.size());
    node.operands = call.operands;
    node.in_specs = call.in_specs;
    if (node.in_specs.empty()) node.in_specs.assign(call.operands.size(), call.out_spec);
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      function.parameters.push_back(
          NamedSharding(mesh, node.in_specs[i]).shard_type(graph.spec_of(node.operands[i]).type));
    }
    for (std::uint32_t i = 0; i < call.outputs; ++i) {
      node.outputs.push_back({call.out, NamedSharding(mesh, call.out_spec)});
      function.outputs.push_back(node.outputs[i].sharding.shard_type(call.out));
    }
    functions[function.id] = std::move(function);
    graph.nodes.push_back(std::move(node));
    return {static_cast<std::uint32_t>(graph.nodes.size() - 1), 0};
  }

  Result<LoweredProgram> lower() const { return program::lower(graph, functions, bindings); }
};

}  // namespace seaway::program
