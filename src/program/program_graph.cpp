// A program as text, as Graphviz, and as JSON.

#include "program/program_graph.hpp"

#include <nlohmann/json.hpp>

namespace seaway::program {
namespace {

std::string name(ValueRef ref) {
  if (ref.node == ValueRef::kParameter) return "p" + std::to_string(ref.output);
  return "n" + std::to_string(ref.node) + "." + std::to_string(ref.output);
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string function_name(const FunctionNames& names, FunctionId id) {
  const std::string known = names ? names(id) : "";
  return "function " + (known.empty() ? std::to_string(id) : known);
}

std::string_view dispatch_name(Dispatch dispatch) {
  return dispatch == Dispatch::kParallel ? "parallel" : "sequential";
}

std::string mesh_name(const Mesh& mesh) {
  return mesh.to_string() + " of slice " + std::to_string(mesh.slice());
}

nlohmann::json to_json_value(const ArraySpec& spec) {
  nlohmann::json axes = nlohmann::json::array();
  for (const MeshAxis& axis : spec.sharding.mesh().axes()) {
    axes.push_back({{"name", axis.first}, {"size", axis.second}});
  }
  return {{"type", to_string(spec.type)},
          {"spec", spec.sharding.spec().dims()},
          {"slice", spec.sharding.mesh().slice()},
          {"axes", std::move(axes)}};
}

}  // namespace

std::string ProgramGraph::to_string(const FunctionNames& names) const {
  std::string text = "program " + std::to_string(id) + " " + quoted(name) + ", " +
                     std::string(dispatch_name(dispatch)) + " dispatch\n";
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    text += "  p" + std::to_string(i) + ": " + seaway::to_string(parameters[i]);
    text += i < donated.size() && donated[i] ? ", donated\n" : "\n";
  }
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const Node& node = nodes[n];
    text += "  n" + std::to_string(n) + ": " + function_name(names, node.function) + "(";
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      if (i > 0) text += ", ";
      text += program::name(node.operands[i]);
      if (i < node.in_specs.size()) text += " as " + node.in_specs[i].to_string();
    }
    text += ") on " + mesh_name(node.mesh) + " ->";
    for (const ArraySpec& output : node.outputs) {
      text += " " + seaway::to_string(output.type) + " as " + output.sharding.spec().to_string();
    }
    text += "  # " + node.site + "\n";
  }
  text += "  return";
  for (const ValueRef output : outputs) text += " " + program::name(output);
  return text + "\n";
}

std::string ProgramGraph::to_dot(const FunctionNames& names) const {
  std::string text = "digraph " + quoted(name) + " {\n";
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::string label = "p" + std::to_string(i) + " " + seaway::to_string(parameters[i].type);
    text += "  p" + std::to_string(i) + " [shape=ellipse, label=" + quoted(label) + "];\n";
  }
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const Node& node = nodes[n];
    const std::string label = "n" + std::to_string(n) + " " + function_name(names, node.function) +
                              " on " + mesh_name(node.mesh) + " at " + node.site;
    text += "  n" + std::to_string(n) + " [shape=box, label=" + quoted(label) + "];\n";
  }
  const auto edge = [this](ValueRef from, const std::string& to) {
    const std::string source = from.node == ValueRef::kParameter ? "p" + std::to_string(from.output)
                                                                 : "n" + std::to_string(from.node);
    return "  " + source + " -> " + to +
           " [label=" + quoted(seaway::to_string(spec_of(from).type)) + "];\n";
  };
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    for (const ValueRef operand : nodes[n].operands) {
      text += edge(operand, "n" + std::to_string(n));
    }
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::string output = "output" + std::to_string(i);
    text += "  " + output + " [shape=ellipse];\n" + edge(outputs[i], output);
  }
  return text + "}\n";
}

std::string ProgramGraph::to_json(const FunctionNames& names) const {
  using nlohmann::json;
  const auto ref = [](ValueRef value) -> json {
    if (value.node == ValueRef::kParameter) return {{"parameter", value.output}};
    return {{"node", value.node}, {"output", value.output}};
  };
  json out = {{"id", id}, {"name", name}, {"dispatch", dispatch_name(dispatch)}};
  out["parameters"] = json::array();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    json parameter = to_json_value(parameters[i]);
    parameter["donated"] = i < donated.size() && donated[i];
    out["parameters"].push_back(std::move(parameter));
  }
  out["nodes"] = json::array();
  for (const Node& node : nodes) {
    json entry = {{"function", node.function}, {"slice", node.mesh.slice()}, {"site", node.site}};
    if (const std::string known = names ? names(node.function) : ""; !known.empty()) {
      entry["name"] = known;
    }
    entry["operands"] = json::array();
    for (const ValueRef operand : node.operands) entry["operands"].push_back(ref(operand));
    entry["in_specs"] = json::array();
    for (const PartitionSpec& spec : node.in_specs) entry["in_specs"].push_back(spec.dims());
    entry["outputs"] = json::array();
    for (const ArraySpec& spec : node.outputs) entry["outputs"].push_back(to_json_value(spec));
    out["nodes"].push_back(std::move(entry));
  }
  out["outputs"] = json::array();
  for (const ValueRef output : outputs) out["outputs"].push_back(ref(output));
  // Names come from users and need not be UTF-8; bytes that are not are replaced, never thrown at.
  return out.dump(2, ' ', false, json::error_handler_t::replace);
}

}  // namespace seaway::program
