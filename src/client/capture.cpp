// What each call in a captured program becomes, and what is wrong with it.

#include "client/capture.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/limits.hpp"

namespace seaway::client {
namespace {

thread_local Capture* current_capture = nullptr;

std::uint64_t next_serial() {
  static std::atomic<std::uint64_t> serial = 0;
  return ++serial;
}

const ArraySpec& no_spec() {
  static const ArraySpec spec;
  return spec;
}

std::string names(const function::AxisSizes& axes) {
  return Mesh(0, {axes.begin(), axes.end()}).to_string();
}

/// The global type whose shards under `sharding` are of type `shard`.
Result<TensorType> global_type(const TensorType& shard, const NamedSharding& sharding) {
  TensorType type = shard;
  const auto& dims = sharding.spec().dims();
  if (dims.size() > shard.shape.size()) {
    return invalid_argument(sharding.spec().to_string() + " has " + std::to_string(dims.size()) +
                            " dimensions, but " + to_string(shard) + " has " +
                            std::to_string(shard.shape.size()));
  }
  for (std::size_t d = 0; d < dims.size(); ++d) {
    for (const std::string& axis : dims[d]) {
      const int index = sharding.mesh().axis_index(axis);
      if (index < 0) {
        return invalid_argument(sharding.spec().to_string() + " names axis \"" + axis +
                                "\", which " + sharding.mesh().to_string() + " does not have");
      }
      const std::int64_t size = sharding.mesh().axes()[static_cast<std::size_t>(index)].second;
      if (!__builtin_mul_overflow(type.shape[d], size, &type.shape[d])) continue;
      return invalid_argument("dimension " + std::to_string(d) + " of " + to_string(shard) +
                              " times the " + std::to_string(size) + " devices of axis \"" + axis +
                              "\" is larger than " + std::to_string(INT64_MAX));
    }
  }
  if (Status status = sharding.validate(type); !status.ok()) return status;
  return type;
}

}  // namespace

Capture::Capture(Session& session, std::string name, const ProgramOptions& options)
    : session_(session),
      serial_(next_serial()),
      previous_(current_capture),
      program_(std::make_shared<ProgramRecord>()),
      donated_(options.donated) {
  current_capture = this;
  program_->graph.name = std::move(name);
  program_->graph.dispatch = options.dispatch == DispatchMode::kSequential
                                 ? program::Dispatch::kSequential
                                 : program::Dispatch::kParallel;
}

Capture::~Capture() { current_capture = previous_; }

Capture* Capture::current() { return current_capture; }

Capture* Capture::current(std::uint64_t serial) {
  return current_capture && current_capture->serial_ == serial ? current_capture : nullptr;
}

void Capture::mistake(const std::string& message, Site site) {
  if (!mistake_.ok()) return;
  mistake_ = invalid_argument("program \"" + program_->graph.name + "\", " + to_text(site) + ": " +
                              message);
}

Status Capture::use_mesh(const Mesh& mesh) {
  if (std::ranges::find(meshes_, mesh) != meshes_.end()) return {};
  auto slice = session_.find_slice(mesh);
  if (!slice.ok()) return slice.status();
  meshes_.push_back(mesh);
  auto& slices = program_->slices;
  if (*slice && std::ranges::find(slices, *slice) == slices.end()) slices.push_back(*slice);
  return {};
}

Traced Capture::add_parameter(const ArraySpec& spec) {
  auto& parameters = program_->graph.parameters;
  const auto index = static_cast<std::uint32_t>(parameters.size());
  parameters.push_back(spec);
  Status status = validate(spec.type);
  if (status.ok()) status = spec.sharding.validate(spec.type);
  if (status.ok()) status = use_mesh(spec.sharding.mesh());
  if (!status.ok() && mistake_.ok()) {
    mistake_ = {status.code(), "program \"" + program_->graph.name + "\", parameter " +
                                   std::to_string(index) + " " + seaway::to_string(spec) + ": " +
                                   status.message()};
  }
  return {serial_, program::ValueRef::kParameter, index};
}

program::ValueRef Capture::ref(const Traced& value) const {
  const std::uint32_t output = value.output_ == Traced::kAllResults ? 0 : value.output_;
  return {value.node_, output};
}

std::size_t Capture::size(const Traced& value) const {
  if (!is_own(value)) return 0;
  if (value.output_ != Traced::kAllResults) return 1;
  return program_->graph.nodes[value.node_].outputs.size();
}

const ArraySpec& Capture::spec(const Traced& value) const {
  if (size(value) == 0) return no_spec();
  return program_->graph.spec_of(ref(value));
}

Traced Capture::result(const Traced& value, std::size_t index) {
  if (value.output_ != Traced::kAllResults && index == 0) return value;
  if (index < size(value)) return {serial_, value.node_, static_cast<std::uint32_t>(index)};
  const program::Node& node = program_->graph.nodes[value.node_];
  if (mistake_.ok()) {
    mistake_ = invalid_argument("program \"" + program_->graph.name + "\": result " +
                                std::to_string(index) + " of the call at " + node.site +
                                ", which has " + std::to_string(size(value)));
  }
  return {};
}

bool Capture::check_operand(const FunctionDefinition& function, std::size_t index,
                            const Traced& value, Site site) {
  const std::string what =
      "operand " + std::to_string(index) + " of function \"" + function.info.name + "\" ";
  if (!is_own(value)) {
    mistake(what + (value.capture_ == 0 ? "is an empty Traced" : "belongs to another program"),
            site);
    return false;
  }
  if (const std::size_t results = size(value); results != 1) {
    mistake(what + "stands for " + std::to_string(results) + " results; pick one with [index]",
            site);
    return false;
  }
  return true;
}

Traced Capture::call(const Function& handle, std::span<const Traced> operands, Site site) {
  if (!mistake_.ok()) return {};
  const auto& function = handle.record();
  if (!function) {
    mistake("call of an empty Function", site);
    return {};
  }
  const program::FunctionInfo& info = function->info();
  if (function->session().get() != &session_) {
    mistake("function \"" + info.name + "\" belongs to another client", site);
    return {};
  }
  if (operands.size() != info.parameters.size()) {
    mistake("function \"" + info.name + "\" takes " + std::to_string(info.parameters.size()) +
                " operands, not " + std::to_string(operands.size()),
            site);
    return {};
  }
  program::Node node;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (!check_operand(*function->definition, i, operands[i], site)) return {};
    node.operands.push_back(ref(operands[i]));
  }
  if (handle.bound_mesh()) {
    node.mesh = *handle.bound_mesh();
  } else if (function->mesh) {
    node.mesh = *function->mesh;
  } else if (!operands.empty()) {
    node.mesh = spec(operands[0]).sharding.mesh();
  } else {
    mistake("function \"" + info.name + "\" has no operands that say where it runs; use .on(slice)",
            site);
    return {};
  }
  CallSpecs specs = handle.bound_specs();
  if (specs.in.empty()) specs.in = function->specs.in;
  if (specs.out.empty()) specs.out = function->specs.out;
  node.site = to_text(site);
  if (const Status status = add_node(function->definition, node, specs); !status.ok()) {
    mistake("function \"" + info.name + "\": " + status.message(), site);
    // The caller acts on a full program otherwise than on a wrong one.
    mistake_ = {status.code(), mistake_.message()};
    return {};
  }
  return {serial_, static_cast<std::uint32_t>(program_->graph.nodes.size() - 1),
          Traced::kAllResults};
}

Status Capture::add_node(const std::shared_ptr<const FunctionDefinition>& function,
                         program::Node& node, const CallSpecs& specs) {
  const program::FunctionInfo& info = function->info;
  auto& nodes = program_->graph.nodes;
  if (nodes.size() >= program::kNodesMax) {
    return resource_exhausted("a program has at most " + std::to_string(program::kNodesMax) +
                              " nodes; put loops into functions, or use several programs");
  }
  if (Status status = use_mesh(node.mesh); !status.ok()) return status;
  if (!info.axes.empty() && node.mesh.axes() != info.axes) {
    return invalid_argument("it was captured for " + names(info.axes) + ", but the call runs on " +
                            node.mesh.to_string());
  }
  if (info.shards > 0 && node.mesh.device_count() != info.shards) {
    return invalid_argument("it runs on " + std::to_string(info.shards) +
                            " devices, but the call on " + node.mesh.to_string());
  }
  const auto check_count = [](const auto& given, std::size_t wanted, const char* what) -> Status {
    if (given.empty() || given.size() == wanted) return {};
    return invalid_argument(std::to_string(given.size()) + " " + what + " specs for " +
                            std::to_string(wanted));
  };
  if (Status s = check_count(specs.in, info.parameters.size(), "operand"); !s.ok()) return s;
  if (Status s = check_count(specs.out, info.outputs.size(), "result"); !s.ok()) return s;
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    const ArraySpec& given = program_->graph.spec_of(node.operands[i]);
    node.in_specs.push_back(specs.in.empty() ? given.sharding.spec() : specs.in[i]);
    const NamedSharding sharding(node.mesh_of(info, i, node.operands.size()), node.in_specs.back());
    const auto what = [&] {
      return "operand " + std::to_string(i) + " is " + to_string(given.type) + ", here split " +
             sharding.to_string();
    };
    if (Status status = sharding.validate(given.type); !status.ok()) {
      return invalid_argument(what() + ": " + status.message());
    }
    if (const TensorType shard = sharding.shard_type(given.type); shard != info.parameters[i]) {
      return invalid_argument(what() + ": each shard is " + to_string(shard) + ", but parameter " +
                              std::to_string(i) + " is " + to_string(info.parameters[i]));
    }
  }
  for (std::size_t i = 0; i < info.outputs.size(); ++i) {
    PartitionSpec spec;
    if (!specs.out.empty()) {
      spec = specs.out[i];
    } else if (info.shards == 0) {
      for (std::size_t k = 0; k < node.in_specs.size(); ++k) {
        if (info.parameters[k].shape.size() != info.outputs[i].shape.size()) continue;
        spec = node.in_specs[k];
        break;
      }
    }
    NamedSharding sharding(node.mesh_of(info, i, info.outputs.size()), std::move(spec));
    auto type = global_type(info.outputs[i], sharding);
    if (!type.ok()) {
      return invalid_argument("result " + std::to_string(i) + ": " + type.status().message());
    }
    node.outputs.push_back({std::move(type).value(), std::move(sharding)});
  }
  node.function = info.id;
  program_->functions.emplace(info.id, function);
  nodes.push_back(std::move(node));
  return {};
}

Traced Capture::reshard(const Traced& value, const NamedSharding& target, Site site) {
  if (!mistake_.ok()) return {};
  if (size(value) != 1) {
    mistake("reshard of a value that is empty, of another program, or of several results", site);
    return {};
  }
  const TensorType& type = spec(value).type;
  Status status = target.validate(type);
  if (status.ok()) status = use_mesh(target.mesh());
  if (!status.ok()) {
    mistake("reshard of " + seaway::to_string(spec(value)) + ": " + status.message(), site);
    return {};
  }
  auto identity = session_.identity(target.shard_type(type));
  if (!identity.ok()) {
    mistake("reshard: " + identity.status().message(), site);
    mistake_ = {identity.status().code(), mistake_.message()};
    return {};
  }
  const Function function =
      Function(std::move(*identity)).on(target.mesh()).with({{target.spec()}, {target.spec()}});
  return call(function, std::span(&value, 1), site);
}

Result<std::shared_ptr<ProgramRecord>> Capture::finish(std::span<const Traced> outputs) {
  program::ProgramGraph& graph = program_->graph;
  for (std::size_t i = 0; i < outputs.size() && mistake_.ok(); ++i) {
    if (!is_own(outputs[i])) {
      mistake_ = invalid_argument(
          "program \"" + graph.name + "\": output " + std::to_string(i) +
          (outputs[i].capture_ == 0 ? " is an empty Traced" : " belongs to another program"));
      break;
    }
    for (std::size_t k = 0; k < size(outputs[i]); ++k) {
      graph.outputs.push_back(ref(result(outputs[i], k)));
    }
  }
  if (!mistake_.ok()) return mistake_;
  if (Status status = limits::check(limits::kProgramOutputs, graph.outputs.size(),
                                    "program \"" + graph.name + "\"");
      !status.ok()) {
    return status;
  }
  graph.donated.assign(graph.parameters.size(), false);
  for (const std::uint32_t parameter : donated_) {
    if (parameter >= graph.parameters.size()) {
      return invalid_argument("program \"" + graph.name + "\" has no parameter " +
                              std::to_string(parameter) + " to donate; it has " +
                              std::to_string(graph.parameters.size()));
    }
    graph.donated[parameter] = true;
  }
  return session_.define_program(std::move(program_));
}

Result<std::shared_ptr<ProgramRecord>> capture_call(Session& session, const Function& function,
                                                    std::span<const ArraySpec> arguments,
                                                    Site site) {
  Capture capture(session, function.name(), {});
  std::vector<Traced> operands;
  for (const ArraySpec& argument : arguments) operands.push_back(capture.add_parameter(argument));
  const Traced results = capture.call(function, operands, site);
  return capture.finish(std::span(&results, 1));
}

Result<std::shared_ptr<ProgramRecord>> capture_reshard(Session& session, const ArraySpec& source,
                                                       const NamedSharding& target, bool is_donated,
                                                       Site site) {
  ProgramOptions options;
  if (is_donated) options.donated = {0};
  Capture capture(session, "reshard", options);
  const Traced value = capture.add_parameter(source);
  const Traced result = capture.reshard(value, target, site);
  return capture.finish(std::span(&result, 1));
}

}  // namespace seaway::client
