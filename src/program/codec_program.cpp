// Codec of program graphs: meshes and specs are written once and named by index.

#include <algorithm>
#include <map>

#include "program/codec_lists.hpp"

namespace seaway::program {

using namespace internal;

namespace {

/// The distinct meshes and specs of a program, in the order in which they are first met.
class Interner {
 public:
  std::uint32_t mesh(const Mesh& mesh) {
    if (!meshes.empty() && *meshes[last_mesh_] == mesh) return last_mesh_;
    const auto next = static_cast<std::uint32_t>(meshes.size());
    const auto [it, is_new] = mesh_index_.try_emplace(mesh, next);
    if (is_new) meshes.push_back(&mesh);
    return last_mesh_ = it->second;
  }
  std::uint32_t spec(const PartitionSpec& spec) {
    if (!specs.empty() && *specs[last_spec_] == spec) return last_spec_;
    const auto next = static_cast<std::uint32_t>(specs.size());
    const auto [it, is_new] = spec_index_.try_emplace(spec.dims(), next);
    if (is_new) specs.push_back(&spec);
    return last_spec_ = it->second;
  }

  std::vector<const Mesh*> meshes;
  std::vector<const PartitionSpec*> specs;

 private:
  std::map<Mesh, std::uint32_t> mesh_index_;
  std::map<std::vector<DimAxes>, std::uint32_t> spec_index_;
  std::uint32_t last_mesh_ = 0, last_spec_ = 0;
};

void encode_ref(ValueRef ref, schema::ValueRef::Builder out) {
  out.setNode(ref.node);
  out.setOutput(ref.output);
}

/// One more than the number of the device of `mesh` that `part` is; 0: it is all of it.
std::uint32_t place_on(const Mesh& mesh, const Mesh& part) {
  if (part == mesh || part.devices().size() != 1) return 0;
  const auto& devices = mesh.devices();
  if (devices.empty()) return part.devices()[0] + 1;
  const auto found = std::find(devices.begin(), devices.end(), part.devices()[0]);
  return static_cast<std::uint32_t>(found - devices.begin()) + 1;
}

void encode_node(const Node& node, Interner& interner, schema::Node::Builder out) {
  out.setFunction(node.function);
  out.setMesh(interner.mesh(node.mesh));
  auto operands = out.initOperands(count(node.operands.size()));
  for (unsigned i = 0; i < operands.size(); ++i) encode_ref(node.operands[i], operands[i]);
  auto in_specs = out.initInSpecs(count(node.in_specs.size()));
  for (unsigned i = 0; i < in_specs.size(); ++i) in_specs.set(i, interner.spec(node.in_specs[i]));
  auto outputs = out.initOutputs(count(node.outputs.size()));
  for (unsigned i = 0; i < outputs.size(); ++i) {
    encode(node.outputs[i].type, outputs[i].initType());
    outputs[i].setSpec(interner.spec(node.outputs[i].sharding.spec()));
    outputs[i].setPlace(place_on(node.mesh, node.outputs[i].sharding.mesh()));
  }
  out.setSite(node.site);
}

/// References that name an earlier node or a parameter; which output it has is checked here too.
Status decode_ref(schema::ValueRef::Reader in, const ProgramGraph& graph, std::size_t nodes_before,
                  ValueRef& ref) {
  ref = {in.getNode(), in.getOutput()};
  if (ref.node == ValueRef::kParameter) {
    return check_index(ref.output, graph.parameters.size(), "parameter");
  }
  if (Status status = check_index(ref.node, nodes_before, "node"); !status.ok()) return status;
  return check_index(ref.output, graph.nodes[ref.node].outputs.size(),
                     "result of node " + std::to_string(ref.node) + ":");
}

Status decode_node(schema::Node::Reader in, const std::vector<Mesh>& meshes,
                   const std::vector<PartitionSpec>& specs, const ProgramGraph& graph, Node& node) {
  node.function = in.getFunction();
  if (Status status = check_index(in.getMesh(), meshes.size(), "mesh"); !status.ok()) return status;
  node.mesh = meshes[in.getMesh()];
  const std::size_t before = graph.nodes.size() - 1;  // `node` is the last one already.
  for (const auto operand : in.getOperands()) {
    if (Status status = decode_ref(operand, graph, before, node.operands.emplace_back());
        !status.ok())
      return status;
  }
  for (const std::uint32_t spec : in.getInSpecs()) {
    if (Status status = check_index(spec, specs.size(), "spec"); !status.ok()) return status;
    node.in_specs.push_back(specs[spec]);
  }
  for (const auto output : in.getOutputs()) {
    ArraySpec& spec = node.outputs.emplace_back();
    if (Status status = decode(output.getType(), spec.type); !status.ok()) return status;
    if (Status status = check_index(output.getSpec(), specs.size(), "spec"); !status.ok())
      return status;
    const std::uint32_t place = output.getPlace();
    if (place > node.mesh.device_count()) {
      return protocol_error("an output lies on device " + std::to_string(place - 1) + " of " +
                            node.mesh.to_string());
    }
    spec.sharding = NamedSharding(place == 0 ? node.mesh : node.mesh.device(place - 1),
                                  specs[output.getSpec()]);
  }
  return read_name(in.getSite(), "site", node.site);
}

}  // namespace

void encode(const ProgramGraph& graph, schema::ProgramGraph::Builder out) {
  Interner interner;
  out.setId(graph.id);
  out.setName(graph.name);
  out.setDispatch(static_cast<std::uint8_t>(graph.dispatch));
  encode_each(graph.parameters, out.initParameters(count(graph.parameters.size())));
  auto donated = out.initDonated(count(graph.donated.size()));
  for (unsigned i = 0; i < donated.size(); ++i) donated.set(i, graph.donated[i]);
  auto nodes = out.initNodes(count(graph.nodes.size()));
  for (unsigned i = 0; i < nodes.size(); ++i) encode_node(graph.nodes[i], interner, nodes[i]);
  auto outputs = out.initOutputs(count(graph.outputs.size()));
  for (unsigned i = 0; i < outputs.size(); ++i) encode_ref(graph.outputs[i], outputs[i]);
  auto meshes = out.initMeshes(count(interner.meshes.size()));
  for (unsigned i = 0; i < meshes.size(); ++i) encode(*interner.meshes[i], meshes[i]);
  auto specs = out.initSpecs(count(interner.specs.size()));
  for (unsigned i = 0; i < specs.size(); ++i) encode(*interner.specs[i], specs[i]);
}

Status decode(schema::ProgramGraph::Reader in, ProgramGraph& graph) {
  graph.id = in.getId();
  if (Status status = read_name(in.getName(), "program name", graph.name); !status.ok())
    return status;
  if (Status status =
          read_enum(in.getDispatch(), Dispatch::kSequential, "dispatch", graph.dispatch);
      !status.ok())
    return status;
  if (Status status = decode_each(in.getParameters(), graph.parameters); !status.ok())
    return status;
  const auto donated = in.getDonated();
  if (Status status =
          check_count(donated.size(), graph.parameters.size(), "donation marks for the parameters");
      !status.ok())
    return status;
  for (const bool mark : donated) graph.donated.push_back(mark);
  std::vector<Mesh> meshes;
  std::vector<PartitionSpec> specs;
  if (Status status = decode_each(in.getMeshes(), meshes); !status.ok()) return status;
  if (Status status = decode_each(in.getSpecs(), specs); !status.ok()) return status;
  const auto nodes = in.getNodes();
  if (Status status = check_count(nodes.size(), kNodesMax, "nodes"); !status.ok()) return status;
  graph.nodes.reserve(nodes.size());
  for (const auto node : nodes) {
    if (Status status = decode_node(node, meshes, specs, graph, graph.nodes.emplace_back());
        !status.ok())
      return status;
  }
  const auto outputs = in.getOutputs();
  if (Status status = check_count(outputs.size(), limits::kProgramOutputs, "program"); !status.ok())
    return status;
  for (const auto output : outputs) {
    if (Status status = decode_ref(output, graph, graph.nodes.size(), graph.outputs.emplace_back());
        !status.ok())
      return status;
  }
  return {};
}

}  // namespace seaway::program
