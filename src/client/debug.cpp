// Evaluating a program without a cluster.

#include "client/debug.hpp"

#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "client/upload.hpp"
#include "function/executable.hpp"

namespace seaway::client {
namespace {

using Bytes = std::vector<std::byte>;

function::ShardedBuffer buffer_of(const transport::Payload& payload) {
  return {payload.base, payload.stride};
}

/// All values of one evaluation, global and row-major.
class Evaluation {
 public:
  Evaluation(const ProgramRecord& program, std::span<const Array> arguments) : program_(program) {
    for (const Array& argument : arguments) {
      ArrayCell& cell = *argument.cell();
      const Record& record = cell.record();
      parameters_.push_back(record.details->values[cell.index]);
    }
    results_.resize(program.graph.nodes.size());
  }

  const Bytes& value(program::ValueRef ref) const {
    return ref.node == program::ValueRef::kParameter ? parameters_[ref.output]
                                                     : results_[ref.node][ref.output];
  }

  Status run_node(std::size_t index) {
    const program::Node& node = program_.graph.nodes[index];
    const FunctionDefinition& function = *program_.functions.at(node.function);
    if (function.foreign) {
      return unimplemented("function " + function.info.name +
                           " is a foreign program, which only devices with a compiler of their "
                           "own run: turn debug mode off");
    }
    std::shared_ptr<const function::Executable> executable = function.native;
    if (!executable) {
      auto compiled = function::compile_reference(function.graph, node.mesh.axes());
      if (!compiled.ok()) return compiled.status();
      executable = *compiled;
    }
    const auto shards = static_cast<std::size_t>(node.mesh.device_count());
    std::vector<transport::Payload> payloads;
    std::vector<function::ShardedBuffer> operands, outputs;
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      const ArraySpec spec{program_.graph.spec_of(node.operands[i]).type,
                           NamedSharding(node.mesh, node.in_specs[i])};
      payloads.push_back(split(spec, value(node.operands[i]).data()));
      operands.push_back(buffer_of(payloads.back()));
    }
    const std::size_t first_output = payloads.size();
    for (const ArraySpec& output : node.outputs) {
      const Bytes zeros(output.type.bytes());
      payloads.push_back(split(output, zeros.data()));
      outputs.push_back(buffer_of(payloads.back()));
    }
    const transport::Payload scratch = work_space(executable->scratch_bytes(), shards);
    const Status status = executable->run(operands, outputs, buffer_of(scratch), shards, nullptr);
    if (!status.ok()) return status;
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      results_[index].emplace_back(node.outputs[i].type.bytes());
      join(node.outputs[i], payloads[first_output + i], results_[index].back());
    }
    return {};
  }

 private:
  static transport::Payload work_space(std::size_t bytes, std::size_t shards) {
    const auto count = static_cast<std::int64_t>(shards);
    const auto size = static_cast<std::int64_t>(bytes);
    const ArraySpec spec{TensorType{DType::kBool, {count * size}},
                         NamedSharding(Mesh(0, {{"shard", count}}), P("shard"))};
    const Bytes zeros(spec.type.bytes());
    return split(spec, zeros.data());
  }

  const ProgramRecord& program_;
  std::vector<Bytes> parameters_;
  std::vector<std::vector<Bytes>> results_;
};

Status first_failure(std::span<const Array> arguments) {
  for (const Array& argument : arguments) {
    const Status status = argument.error();
    if (!status.ok()) return input_lost("an argument has failed: " + status.to_string());
  }
  return {};
}

/// Leaves the outputs in `record`. Nothing limits the sizes of values here but this process's
/// memory.
Status run_nodes(const ProgramRecord& program, std::span<const Array> arguments, Record& record) {
  std::size_t at = 0;
  const auto failed = [&](const Status& status) -> Status {
    const program::Node& node = program.graph.nodes[at];
    return {status.code(), "function \"" + program.functions.at(node.function)->info.name +
                               "\" called at " + node.site + ": " + status.message()};
  };
  try {
    Evaluation evaluation(program, arguments);
    for (; at < program.graph.nodes.size(); ++at) {
      if (const Status status = evaluation.run_node(at); !status.ok()) return failed(status);
    }
    auto details = std::make_unique<Record::Details>();
    for (const program::ValueRef output : program.graph.outputs) {
      details->values.push_back(evaluation.value(output));
    }
    record.details = std::move(details);
    return {};
  } catch (const std::bad_alloc&) {
    const Status full = resource_exhausted("debug mode: no memory for the values of program \"" +
                                           program.name + "\"; use smaller ones");
    return at < program.graph.nodes.size() ? failed(full) : full;
  }
}

}  // namespace

void evaluate(const ProgramRecord& program, std::span<const Array> arguments, Record& record) {
  if (Status status = first_failure(arguments); !status.ok()) {
    record.complete(std::move(status), internal::Wake::kLater);
    return;
  }
  record.complete(run_nodes(program, arguments, record), internal::Wake::kLater);
}

}  // namespace seaway::client
