// One node on the devices of the shards, and runs of it.

#include "front/front_executable.hpp"

#include <algorithm>

#include "client/registry.hpp"
#include "front/front_client.hpp"

namespace seaway::front {
namespace {

const program::ForeignCompiled& compiled_of(const Function& function) {
  return *function.record()->definition->foreign;
}

}  // namespace

FrontExecutable::FrontExecutable(FrontClient& client, Function function, pjrt::Placing placing,
                                 std::vector<FrontDevice*> devices, bool is_portable)
    : client_(client),
      function_(std::move(function)),
      name_(function_.name()),
      placing_(std::move(placing)),
      devices_(std::move(devices)),
      is_portable_(is_portable),
      fingerprint_("seaway-" + std::to_string(function_.id())) {}

std::span<const TensorType> FrontExecutable::parameters() const {
  const auto& all = function_.parameter_types();
  return std::span(all).first(all.size() / devices_.size());
}

std::span<const TensorType> FrontExecutable::outputs() const {
  const auto& all = function_.output_types();
  return std::span(all).first(all.size() / devices_.size());
}

const std::string& FrontExecutable::description_format() const {
  return compiled_of(function_).format;
}

const std::string& FrontExecutable::description() const {
  return compiled_of(function_).description;
}

Status FrontExecutable::check(std::span<FrontBuffer* const* const> operands,
                              std::size_t operands_count,
                              const std::vector<FrontDevice*>& devices) const {
  const auto wrong = [this](const std::string& what) {
    return invalid_argument("program " + name_ + ": " + what);
  };
  if (operands.size() != devices.size()) {
    return wrong("it is executed on " + std::to_string(operands.size()) +
                 " devices, and was compiled for " + std::to_string(devices.size()));
  }
  const auto types = parameters();
  if (operands_count != types.size()) {
    return wrong("it takes " + std::to_string(types.size()) + " arguments, not " +
                 std::to_string(operands_count));
  }
  for (std::size_t s = 0; s < operands.size(); ++s) {
    for (std::size_t i = 0; i < operands_count; ++i) {
      const FrontBuffer& operand = *operands[s][i];
      const auto name = [i] { return "argument " + std::to_string(i); };
      if (operand.device != devices[s]) {
        return wrong(name() + " is on " + operand.device->text + ", and is wanted on " +
                     devices[s]->text);
      }
      if (operand.is_deleted()) return wrong(name() + " has been deleted or donated");
      if (operand.type() != types[i]) {
        return wrong(name() + " is " + to_string(operand.type()) + ", and it takes " +
                     to_string(types[i]));
      }
    }
  }
  return {};
}

/// Operands that one execution gives up, counted over all shards.
std::vector<std::uint32_t> FrontExecutable::donated(
    std::span<const std::int64_t> not_donated) const {
  std::vector<std::uint32_t> donated;
  const std::size_t count = parameters().size();
  for (const std::uint32_t parameter : compiled_of(function_).info.donated) {
    const auto of_shard = static_cast<std::int64_t>(parameter % count);
    if (std::find(not_donated.begin(), not_donated.end(), of_shard) == not_donated.end()) {
      donated.push_back(parameter);
    }
  }
  return donated;
}

Result<Program> FrontExecutable::program_for(const std::vector<FrontDevice*>& devices,
                                             std::vector<std::uint32_t> donated) {
  Key key{devices[0]->id, std::move(donated)};
  std::lock_guard guard(mutex_);
  if (const auto found = programs_.find(key); found != programs_.end()) return found->second;
  auto program = capture(devices, key.second);
  if (program.ok()) programs_.emplace(std::move(key), *program);
  return program;
}

Traced FrontExecutable::call(const std::vector<FrontDevice*>& devices,
                             std::span<const Traced> operands) const {
  std::vector<std::uint32_t> places;
  for (const FrontDevice* const device : devices) places.push_back(device->index);
  // Devices are numbered alike in all meshes of their island's slice.
  const Mesh whole(devices[0]->mesh.slice(), {});
  const Mesh mesh = places.size() == 1 ? devices[0]->mesh : whole.part(std::move(places));
  return function_.on(mesh)(operands);
}

Result<Program> FrontExecutable::capture(const std::vector<FrontDevice*>& devices,
                                         std::vector<std::uint32_t> donated) const {
  std::vector<ArraySpec> specs;
  for (const FrontDevice* const device : devices) {
    for (const TensorType& type : parameters()) {
      specs.push_back({type, NamedSharding(device->mesh, P())});
    }
  }
  return client_.client().program(
      name_, [&](std::span<const Traced> operands) { return call(devices, operands); },
      std::move(specs), {.donated = std::move(donated)});
}

Result<Execution> FrontExecutable::execute(std::span<FrontBuffer* const* const> operands,
                                           std::size_t operands_count,
                                           std::span<const std::int64_t> not_donated,
                                           FrontDevice* device) {
  std::vector<FrontDevice*> moved;
  if (device != nullptr && is_portable_ && devices_.size() == 1) moved = {device};
  const std::vector<FrontDevice*>& devices = moved.empty() ? devices_ : moved;
  if (Status status = check(operands, operands_count, devices); !status.ok()) return status;
  std::vector<std::uint32_t> donated = this->donated(not_donated);
  if (auto recording = Recording::current(client_)) {
    return record(std::move(recording), operands, operands_count, devices, donated);
  }
  const auto program = program_for(devices, std::move(donated));
  if (!program.ok()) return program.status();
  std::vector<Array> arguments;
  arguments.reserve(operands.size() * operands_count);
  for (FrontBuffer* const* const of_shard : operands) {
    for (std::size_t i = 0; i < operands_count; ++i) arguments.push_back(of_shard[i]->array());
  }
  Execution execution;
  execution.run = program->execute(arguments);
  if (execution.run.id() == 0) return execution.run.error();
  const std::size_t outputs_count = outputs().size();
  execution.outputs.resize(devices.size());
  for (std::size_t s = 0; s < devices.size(); ++s) {
    for (std::size_t i = 0; i < outputs_count; ++i) {
      execution.outputs[s].push_back(
          std::make_unique<FrontBuffer>(execution.run.output(s * outputs_count + i), devices[s]));
    }
  }
  return execution;
}

Execution FrontExecutable::record(std::shared_ptr<Recording> recording,
                                  std::span<FrontBuffer* const* const> operands,
                                  std::size_t operands_count,
                                  const std::vector<FrontDevice*>& devices,
                                  std::span<const std::uint32_t> donated) {
  std::vector<FrontBuffer*> all;
  for (FrontBuffer* const* const of_shard : operands) {
    all.insert(all.end(), of_shard, of_shard + operands_count);
  }
  auto results = recording->add(shared_from_this(), devices, all, donated);
  Execution execution;
  execution.outputs.resize(devices.size());
  const std::size_t outputs_count = outputs().size();
  for (std::size_t i = 0; i < results.size(); ++i) {
    execution.outputs[i / outputs_count].push_back(std::move(results[i]));
  }
  execution.recording = std::move(recording);
  return execution;
}

}  // namespace seaway::front
