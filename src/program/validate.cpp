// What lowering, codecs and hosts may rely on once a program has been checked.

#include "program/program_graph.hpp"

namespace seaway::program {
namespace {

/// Checks one program; remembers what the messages name.
class Checker {
 public:
  Checker(const ProgramGraph& graph, const std::map<FunctionId, FunctionInfo>& functions)
      : graph_(graph), functions_(functions) {}

  Status run() {
    if (graph_.nodes.size() > kNodesMax) {
      return refuse(std::to_string(graph_.nodes.size()) + " nodes; the limit is " +
                    std::to_string(kNodesMax) + ", split the program");
    }
    if (graph_.donated.size() > graph_.parameters.size()) {
      return refuse(std::to_string(graph_.donated.size()) + " donation marks for " +
                    std::to_string(graph_.parameters.size()) + " parameters");
    }
    for (std::size_t i = 0; i < graph_.parameters.size(); ++i) {
      const ArraySpec& spec = graph_.parameters[i];
      if (Status status = spec.sharding.validate(spec.type); !status.ok()) {
        return refuse("parameter " + std::to_string(i) + ", where " + status.message());
      }
    }
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      if (Status status = check_node(n); !status.ok()) return status;
    }
    for (std::size_t i = 0; i < graph_.outputs.size(); ++i) {
      if (!is_known(graph_.outputs[i], graph_.nodes.size())) {
        return refuse("output " + std::to_string(i) + ", which names " + name(graph_.outputs[i]) +
                      " that does not exist");
      }
    }
    return {};
  }

 private:
  Status refuse(const std::string& what) const {
    return invalid_argument("program \"" + graph_.name + "\" has " + what);
  }

  Status refuse_node(std::size_t n, const std::string& what) const {
    const Node& node = graph_.nodes[n];
    const auto found = functions_.find(node.function);
    return invalid_argument("node " + std::to_string(n) + " (" +
                            (found == functions_.end() ? "unknown function" : found->second.name) +
                            " at " + node.site + "): " + what);
  }

  static std::string name(ValueRef ref) {
    if (ref.node == ValueRef::kParameter) return "parameter " + std::to_string(ref.output);
    return "result " + std::to_string(ref.output) + " of node " + std::to_string(ref.node);
  }

  bool is_known(ValueRef ref, std::size_t nodes_before) const {
    if (ref.node == ValueRef::kParameter) return ref.output < graph_.parameters.size();
    return ref.node < nodes_before && ref.output < graph_.nodes[ref.node].outputs.size();
  }

  Status check_node(std::size_t n) const {
    const Node& node = graph_.nodes[n];
    const auto found = functions_.find(node.function);
    if (found == functions_.end()) {
      return refuse_node(n, "function " + std::to_string(node.function) +
                                " is not registered; register it before the program");
    }
    const FunctionInfo& function = found->second;
    if (!function.axes.empty() && function.axes != node.mesh.axes()) {
      return refuse_node(n, "the function was captured for " + Mesh(0, function.axes).to_string() +
                                " but is called on " + node.mesh.to_string());
    }
    if (node.operands.size() != function.parameters.size() ||
        node.in_specs.size() != node.operands.size()) {
      return refuse_node(n, "the function takes " + std::to_string(function.parameters.size()) +
                                " operands; the call has " + std::to_string(node.operands.size()) +
                                " and " + std::to_string(node.in_specs.size()) + " specs for them");
    }
    if (node.outputs.size() != function.outputs.size()) {
      return refuse_node(n, "the function has " + std::to_string(function.outputs.size()) +
                                " outputs; the call has " + std::to_string(node.outputs.size()));
    }
    if (function.shards > 0 && node.mesh.device_count() != function.shards) {
      return refuse_node(n, "the function runs on " + std::to_string(function.shards) +
                                " devices but is called on " + node.mesh.to_string());
    }
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      if (!is_known(node.operands[i], n)) {
        return refuse_node(n, "operand " + std::to_string(i) + " names " + name(node.operands[i]) +
                                  ", which does not come before it");
      }
      const TensorType& type = graph_.spec_of(node.operands[i]).type;
      const Mesh mesh = node.mesh_of(function, i, node.operands.size());
      Status status = check_shards(n, "operand " + std::to_string(i), type,
                                   NamedSharding(mesh, node.in_specs[i]), function.parameters[i]);
      if (!status.ok()) return status;
    }
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      const ArraySpec& spec = node.outputs[i];
      const std::string what = "output " + std::to_string(i);
      const Mesh mesh = node.mesh_of(function, i, node.outputs.size());
      if (!(spec.sharding.mesh() == mesh)) {
        return refuse_node(n, what + " lies on " + spec.sharding.mesh().to_string() + " of slice " +
                                  std::to_string(spec.sharding.mesh().slice()) +
                                  ", but the node runs on " + mesh.to_string() + " of slice " +
                                  std::to_string(mesh.slice()));
      }
      Status status = check_shards(n, what, spec.type, spec.sharding, function.outputs[i]);
      if (!status.ok()) return status;
    }
    return {};
  }

  Status check_shards(std::size_t n, const std::string& what, const TensorType& type,
                      const NamedSharding& sharding, const TensorType& expected) const {
    if (Status status = sharding.validate(type); !status.ok()) {
      return refuse_node(n, what + ": " + status.message());
    }
    const TensorType shard = sharding.shard_type(type);
    if (shard == expected) return {};
    return refuse_node(n, what + " is " + to_string(type) + ", split as " + sharding.to_string() +
                              " into " + to_string(shard) + ", but the function's shard is " +
                              to_string(expected));
  }

  const ProgramGraph& graph_;
  const std::map<FunctionId, FunctionInfo>& functions_;
};

}  // namespace

Status validate(const ProgramGraph& graph, const std::map<FunctionId, FunctionInfo>& functions) {
  return Checker(graph, functions).run();
}

}  // namespace seaway::program
