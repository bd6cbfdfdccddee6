// Codecs of types, meshes, specs and functions.

#include <algorithm>

#include "program/codec_lists.hpp"
#include "wire/frame_builder.hpp"
#include "wire/frame_reader.hpp"

namespace seaway::program {
using namespace internal;

void encode(const MeshAxis& axis, schema::MeshAxis::Builder out) {
  out.setName(axis.first);
  out.setSize(axis.second);
}

Status decode(schema::MeshAxis::Reader in, MeshAxis& axis) {
  axis.second = in.getSize();
  return read_name(in.getName(), "axis name", axis.first);
}

Status internal::decode_axes(capnp::List<schema::MeshAxis>::Reader in,
                             std::vector<MeshAxis>& axes) {
  if (Status status = check_count(in.size(), limits::kMeshAxes, "mesh"); !status.ok())
    return status;
  if (Status status = decode_each(in, axes); !status.ok()) return status;
  return of_stranger(limits::check_mesh(Mesh(0, axes)));
}

void encode(const TensorType& type, schema::TensorType::Builder out) {
  out.setDtype(static_cast<std::uint8_t>(type.dtype));
  fill(type.shape, out.initShape(count(type.shape.size())));
}

Status decode(schema::TensorType::Reader in, TensorType& type) {
  if (Status status = read_enum(in.getDtype(), kLastDType, "element type", type.dtype);
      !status.ok())
    return status;
  const auto shape = in.getShape();
  if (Status status = check_count(shape.size(), limits::kRank, "tensor"); !status.ok())
    return status;
  type.shape.clear();
  read_numbers(shape, type.shape);
  if (Status status = seaway::validate(type); !status.ok()) return protocol_error(status.message());
  return {};
}

void encode(const Mesh& mesh, schema::Mesh::Builder out) {
  out.setSlice(mesh.slice());
  encode_each(mesh.axes(), out.initAxes(count(mesh.axes().size())));
  if (!mesh.devices().empty()) fill(mesh.devices(), out.initDevices(count(mesh.devices().size())));
}

Status decode(schema::Mesh::Reader in, Mesh& mesh) {
  std::vector<MeshAxis> axes;
  if (Status status = decode_axes(in.getAxes(), axes); !status.ok()) return status;
  mesh = Mesh(in.getSlice(), axes);
  if (in.getDevices().size() == 0) return {};
  const std::int64_t size = mesh.device_count();
  if (in.getDevices().size() != size) {
    return protocol_error("a sub-mesh of " + std::to_string(size) + " devices names " +
                          std::to_string(in.getDevices().size()));
  }
  std::vector<std::uint32_t> devices;
  read_numbers(in.getDevices(), devices);
  std::vector<std::uint32_t> sorted = devices;
  std::sort(sorted.begin(), sorted.end());
  if (sorted.back() >= limits::kMeshDevices.max ||
      std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    return protocol_error("a sub-mesh names a device twice, or number " +
                          std::to_string(sorted.back()) + ", which none has");
  }
  mesh = Mesh(in.getSlice(), {}).part(std::move(devices), std::move(axes));
  return {};
}

void encode(const PartitionSpec& spec, schema::PartitionSpec::Builder out) {
  auto dims = out.initDims(count(spec.dims().size()));
  for (unsigned d = 0; d < dims.size(); ++d) {
    auto axes = dims.init(d, count(spec.dims()[d].size()));
    for (unsigned i = 0; i < axes.size(); ++i) axes.set(i, spec.dims()[d][i]);
  }
}

Status decode(schema::PartitionSpec::Reader in, PartitionSpec& spec) {
  const auto dims = in.getDims();
  if (Status status = check_count(dims.size(), limits::kRank, "partition spec"); !status.ok())
    return status;
  std::vector<DimAxes> out;
  for (const auto axes : dims) {
    if (Status status = check_count(axes.size(), limits::kMeshAxes, "one dimension"); !status.ok())
      return status;
    DimAxes names;
    for (const auto axis : axes) {
      names.emplace_back();
      if (Status status = read_name(axis, "axis name", names.back()); !status.ok()) return status;
    }
    out.push_back(std::move(names));
  }
  spec = PartitionSpec::from(std::move(out));
  return {};
}

void encode(const ArraySpec& spec, schema::ArraySpec::Builder out) {
  encode(spec.type, out.initType());
  encode(spec.sharding.mesh(), out.initMesh());
  encode(spec.sharding.spec(), out.initSpec());
}

Status decode(schema::ArraySpec::Reader in, ArraySpec& spec) {
  if (Status status = decode(in.getType(), spec.type); !status.ok()) return status;
  Mesh mesh;
  PartitionSpec partition;
  if (Status status = decode(in.getMesh(), mesh); !status.ok()) return status;
  if (Status status = decode(in.getSpec(), partition); !status.ok()) return status;
  spec.sharding = NamedSharding(std::move(mesh), std::move(partition));
  return {};
}

namespace {

void encode_instruction(const function::Instruction& from, schema::Instruction::Builder out) {
  out.setOp(static_cast<std::uint8_t>(from.op));
  out.setCompare(static_cast<std::uint8_t>(from.compare));
  out.setReduce(static_cast<std::uint8_t>(from.reduce));
  encode(from.type, out.initType());
  fill(from.operands, out.initOperands(count(from.operands.size())));
  fill(from.dims, out.initDims(count(from.dims.size())));
  fill(from.starts, out.initStarts(count(from.starts.size())));
  fill(from.limits, out.initLimits(count(from.limits.size())));
  fill(from.strides, out.initStrides(count(from.strides.size())));
  fill(from.dot.lhs_batch, out.initLhsBatch(count(from.dot.lhs_batch.size())));
  fill(from.dot.rhs_batch, out.initRhsBatch(count(from.dot.rhs_batch.size())));
  fill(from.dot.lhs_contract, out.initLhsContract(count(from.dot.lhs_contract.size())));
  fill(from.dot.rhs_contract, out.initRhsContract(count(from.dot.rhs_contract.size())));
  out.setNumber(from.number);
  out.setAxis(from.axis);
  auto pairs = out.initPairs(count(2 * from.pairs.size()));
  for (unsigned i = 0; i < from.pairs.size(); ++i) {
    pairs.set(2 * i, from.pairs[i].first);
    pairs.set(2 * i + 1, from.pairs[i].second);
  }
  out.setParameter(from.parameter);
}

Status decode_instruction(schema::Instruction::Reader in, std::size_t index,
                          function::Instruction& out) {
  if (Status status = read_enum(in.getOp(), function::Op::kAxisIndex, "operation", out.op);
      !status.ok())
    return status;
  if (Status status = read_enum(in.getCompare(), function::Compare::kGe, "comparison", out.compare);
      !status.ok())
    return status;
  if (Status status = read_enum(in.getReduce(), function::Reduce::kArgmax, "reduction", out.reduce);
      !status.ok())
    return status;
  if (Status status = decode(in.getType(), out.type); !status.ok()) return status;
  read_numbers(in.getOperands(), out.operands);
  for (const function::ValueId operand : out.operands) {
    if (Status status =
            check_index(operand, index, "operand of instruction " + std::to_string(index) + ":");
        !status.ok())
      return status;
  }
  read_numbers(in.getDims(), out.dims);
  read_numbers(in.getStarts(), out.starts);
  read_numbers(in.getLimits(), out.limits);
  read_numbers(in.getStrides(), out.strides);
  read_numbers(in.getLhsBatch(), out.dot.lhs_batch);
  read_numbers(in.getRhsBatch(), out.dot.rhs_batch);
  read_numbers(in.getLhsContract(), out.dot.lhs_contract);
  read_numbers(in.getRhsContract(), out.dot.rhs_contract);
  out.number = in.getNumber();
  if (Status status = read_name(in.getAxis(), "axis name", out.axis); !status.ok()) return status;
  const auto pairs = in.getPairs();
  if (pairs.size() % 2 != 0) {
    return protocol_error("instruction " + std::to_string(index) + " has half a pair");
  }
  for (unsigned i = 0; i < pairs.size(); i += 2) out.pairs.emplace_back(pairs[i], pairs[i + 1]);
  out.parameter = in.getParameter();
  return {};
}

}  // namespace

void encode(const function::Graph& graph, schema::FunctionGraph::Builder out) {
  out.setName(graph.name);
  auto instructions = out.initInstructions(count(graph.instructions.size()));
  for (unsigned i = 0; i < instructions.size(); ++i) {
    encode_instruction(graph.instructions[i], instructions[i]);
  }
  fill(graph.parameters, out.initParameters(count(graph.parameters.size())));
  fill(graph.outputs, out.initOutputs(count(graph.outputs.size())));
}

Status decode(schema::FunctionGraph::Reader in, function::Graph& graph) {
  if (Status status = read_name(in.getName(), "function name", graph.name); !status.ok())
    return status;
  const auto instructions = in.getInstructions();
  if (Status status = check_count(instructions.size(), limits::kOperations, "function");
      !status.ok())
    return status;
  graph.instructions.reserve(instructions.size());
  for (const auto instruction : instructions) {
    const std::size_t index = graph.instructions.size();
    if (Status status = decode_instruction(instruction, index, graph.instructions.emplace_back());
        !status.ok())
      return status;
  }
  read_numbers(in.getParameters(), graph.parameters);
  read_numbers(in.getOutputs(), graph.outputs);
  for (const auto* list : {&graph.parameters, &graph.outputs}) {
    for (const function::ValueId value : *list) {
      if (Status status = check_index(value, graph.instructions.size(), "instruction");
          !status.ok())
        return status;
    }
  }
  return {};
}

void encode(const FunctionInfo& info, schema::FunctionInfo::Builder out) {
  out.setId(info.id);
  out.setName(info.name);
  encode_each(info.parameters, out.initParameters(count(info.parameters.size())));
  encode_each(info.outputs, out.initOutputs(count(info.outputs.size())));
  encode_each(info.axes, out.initAxes(count(info.axes.size())));
  out.setScratchBytes(info.scratch_bytes);
  out.setCostNs(info.cost_ns);
  out.setIdempotent(info.idempotent);
  out.setIrregular(info.irregular);
  auto in_place = out.initInPlace(count(info.in_place.size()));
  for (unsigned i = 0; i < in_place.size(); ++i) {
    in_place[i].setOutput(info.in_place[i].first);
    in_place[i].setOperand(info.in_place[i].second);
  }
  out.setShards(info.shards);
  if (!info.donated.empty()) fill(info.donated, out.initDonated(count(info.donated.size())));
}

Status decode(schema::FunctionInfo::Reader in, FunctionInfo& info) {
  info.id = in.getId();
  if (Status status = read_name(in.getName(), "function name", info.name); !status.ok())
    return status;
  if (Status status = decode_each(in.getParameters(), info.parameters); !status.ok()) return status;
  if (Status status = decode_each(in.getOutputs(), info.outputs); !status.ok()) return status;
  if (Status status = decode_axes(in.getAxes(), info.axes); !status.ok()) return status;
  info.scratch_bytes = in.getScratchBytes();
  if (Status status = check_count(info.scratch_bytes, limits::kScratchBytes, "function");
      !status.ok())
    return status;
  info.cost_ns = in.getCostNs();
  info.idempotent = in.getIdempotent();
  info.irregular = in.getIrregular();
  const auto in_place = in.getInPlace();
  if (Status status = check_count(in_place.size(), limits::kInPlacePairs, "function"); !status.ok())
    return status;
  for (const auto pair : in_place) {
    if (Status status = check_index(pair.getOutput(), info.outputs.size(), "in-place output");
        !status.ok())
      return status;
    if (Status status = check_index(pair.getOperand(), info.parameters.size(), "in-place operand");
        !status.ok())
      return status;
    info.in_place.emplace_back(pair.getOutput(), pair.getOperand());
  }
  info.shards = in.getShards();
  if (Status status = check_count(info.shards, limits::kMeshDevices, "function"); !status.ok())
    return status;
  const bool is_even = info.shards == 0 || (info.parameters.size() % info.shards == 0 &&
                                            info.outputs.size() % info.shards == 0);
  if (!is_even) {
    return protocol_error(std::to_string(info.shards) + " shards do not have " +
                          std::to_string(info.parameters.size()) + " parameters and " +
                          std::to_string(info.outputs.size()) + " outputs, each as many");
  }
  read_numbers(in.getDonated(), info.donated);
  for (const std::uint32_t parameter : info.donated) {
    if (Status status = check_index(parameter, info.parameters.size(), "donated parameter");
        !status.ok())
      return status;
  }
  return {};
}

namespace {

capnp::Data::Reader data_of(const std::string& bytes) {
  return {reinterpret_cast<const kj::byte*>(bytes.data()), bytes.size()};
}

std::string string_of(capnp::Data::Reader bytes) {
  return {reinterpret_cast<const char*>(bytes.begin()), bytes.size()};
}

}  // namespace

void encode(const function::ForeignProgram& program, schema::ForeignProgram::Builder out) {
  out.setFormat(program.format);
  out.setCode(data_of(program.code));
  out.setOptions(data_of(program.options));
  out.setShards(program.shards);
}

Status decode(schema::ForeignProgram::Reader in, function::ForeignProgram& program) {
  if (Status status = read_name(in.getFormat(), "format", program.format); !status.ok())
    return status;
  program.code = string_of(in.getCode());
  program.options = string_of(in.getOptions());
  program.shards = in.getShards();
  if (program.shards >= 1 && program.shards <= limits::kMeshDevices.max) return {};
  return protocol_error("a foreign program has " + std::to_string(program.shards) + " shards");
}

void encode(const ForeignCompiled& compiled, schema::ForeignCompiled::Builder out) {
  encode(compiled.info, out.initInfo());
  out.setFormat(compiled.format);
  out.setDescription(data_of(compiled.description));
}

Status decode(schema::ForeignCompiled::Reader in, ForeignCompiled& compiled) {
  if (Status status = decode(in.getInfo(), compiled.info); !status.ok()) return status;
  if (Status status = read_name(in.getFormat(), "format", compiled.format); !status.ok())
    return status;
  compiled.description = string_of(in.getDescription());
  return {};
}

}  // namespace seaway::program
