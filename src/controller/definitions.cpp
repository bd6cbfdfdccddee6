// Definitions: functions, which hosts compile in the background, and programs, lowered once for
// each binding of their slices.

#include <algorithm>

#include "base/check.hpp"
#include "base/probe.hpp"
#include "controller/records.hpp"
#include "program/plan_codec.hpp"

namespace seaway::controller {
namespace {

/// One hour. Estimates of hosts are added up and multiplied by weights.
constexpr std::uint64_t kCostNsMax = 3'600'000'000'000;

}  // namespace

void ControllerCore::define_function(ClientId client, program::FunctionInfo info,
                                     Frame definition) {
  if (client_of(info.id) != client || functions_.contains(info.id)) return;
  if (!count_definition(client, info.id).ok()) return;  // Programs that call it fail with that.
  add_function(std::move(info), std::move(definition));
}

void ControllerCore::define_foreign(ClientId client, std::uint64_t request,
                                    program::FunctionInfo info, Frame definition) {
  if (client_of(info.id) != client || functions_.contains(info.id) || !is_here(client)) {
    return reply(client, request,
                 invalid_argument("function " + std::to_string(sequence_of(info.id)) +
                                  " is not this client's to name; ids are used once"));
  }
  if (Status status = count_definition(client, info.id); !status.ok()) {
    return reply(client, request, std::move(status));
  }
  Function& function = *add_function(std::move(info), std::move(definition));
  function.is_foreign = true;
  function.request = request;
}

ControllerCore::Function* ControllerCore::add_function(program::FunctionInfo info,
                                                       Frame definition) {
  auto function = std::make_unique<Function>();
  const FunctionId id = info.id;
  clients_.at(client_of(id))->is_known_to_hosts = true;
  function->id = id;
  function->info = std::move(info);
  function->definition = definition;
  function->awaits.assign(options_.islands, false);
  for (IslandId island = 0; island < options_.islands; ++island) {
    if (!has_host(island)) continue;
    await(*function, island);
    outbox_.islands[island].definitions.push_back(definition);
  }
  return (functions_[id] = std::move(function)).get();
}

void ControllerCore::compiled(FunctionId id, HostId host, Status status,
                              std::uint64_t scratch_bytes, std::uint64_t cost_ns,
                              const function::OutputOperandPairs& in_place,
                              const program::ForeignCompiled* foreign) {
  const auto found = functions_.find(id);
  if (found == functions_.end()) return;
  Function& function = *found->second;
  if (host >= function.awaits.size() || !function.awaits[host]) return;
  function.awaits[host] = false;
  --function.hosts_awaited;
  if (status.ok() && function.is_foreign) status = take_types(function, host, foreign);
  // Only hosts know; and a part runs wherever its slice is bound, so all of them have to agree.
  if (!function.is_compiled) function.info.in_place = in_place;
  function.is_compiled = true;
  std::erase_if(function.info.in_place, [&in_place](const auto& pair) {
    return std::find(in_place.begin(), in_place.end(), pair) == in_place.end();
  });
  if (!status.ok() && function.failure.ok()) {
    function.failure = {status.code(), "function " + function.info.name +
                                           " does not compile on host " + std::to_string(host) +
                                           ": " + status.message()};
  }
  function.info.scratch_bytes = std::max(function.info.scratch_bytes, scratch_bytes);
  function.info.cost_ns = std::clamp<std::uint64_t>(cost_ns, 1, kCostNsMax);
  answer_foreign(function);
  if (function.is_released) unused_.push_back(id);
}

/// All hosts make the same of a program, or it runs nowhere.
Status ControllerCore::take_types(Function& function, HostId host,
                                  const program::ForeignCompiled* foreign) {
  if (!foreign) return protocol_error("it says nothing of the types of a foreign program");
  program::FunctionInfo& info = function.info;
  if (!function.is_compiled) {
    info.parameters = foreign->info.parameters;
    info.outputs = foreign->info.outputs;
    info.shards = foreign->info.shards;
    info.donated = foreign->info.donated;
    if (function.request != 0) {
      function.format = foreign->format;
      function.description = foreign->description;
    }
    return {};
  }
  if (info.parameters == foreign->info.parameters && info.outputs == foreign->info.outputs &&
      info.shards == foreign->info.shards) {
    return {};
  }
  return invalid_argument("host " + std::to_string(host) +
                          " makes other parameters or results of it than a host before; let all "
                          "hosts use the same plugin");
}

void ControllerCore::answer_foreign(Function& function) {
  if (function.request == 0 || function.hosts_awaited > 0) return;
  // Without any host that could say more the next one decides.
  if (!function.is_compiled) return;
  const std::uint64_t request = std::exchange(function.request, 0);
  const ClientId client = client_of(function.info.id);
  if (!function.failure.ok()) return reply(client, request, function.failure);
  program::ForeignCompiled said;
  said.info = function.info;
  said.format = std::move(function.format);
  said.description = std::move(function.description);
  function.format = function.description = {};
  if (is_here(client)) {
    outbox_.client(client).replies.push_back(
        {request, {}, {}, std::make_shared<program::ForeignCompiled>(std::move(said))});
  }
}

void ControllerCore::define_program(ClientId client, program::ProgramGraph graph) {
  if (client_of(graph.id) != client || programs_.contains(graph.id)) return;
  if (!count_definition(client, graph.id).ok()) return;  // Its runs fail with that.
  auto program = std::make_shared<Program>();
  program->id = graph.id;
  program->client = client;
  program->graph = std::move(graph);
  use_functions(*program);
  std::vector<SliceId> slices;
  for (const ArraySpec& parameter : program->graph.parameters) {
    slices.push_back(parameter.sharding.mesh().slice());
  }
  for (const program::Node& node : program->graph.nodes) slices.push_back(node.mesh.slice());
  program->slices = name_slices(client, std::move(slices));
  for (const auto& [id, slice] : slices_) {
    if (slice->client == client && slice->is_released && uses(*program, id)) {
      program->released_slice = id;
    }
  }
  programs_[program->graph.id] = std::move(program);
}

/// They stay as long as `program` does.
void ControllerCore::use_functions(Program& program) {
  std::map<FunctionId, const program::Node*> called;
  for (const program::Node& node : program.graph.nodes) called.emplace(node.function, &node);
  for (const auto& [id, node] : called) {
    const auto found = functions_.find(id);
    if (found == functions_.end() || found->second->is_released ||
        client_of(id) != program.client) {
      if (!program.failure.ok()) continue;
      program.failure = undefined(
          program.client, id,
          invalid_argument("program " + program.graph.name + " calls function " +
                           std::to_string(id) + " at " + node->site + ", which is not defined"));
      continue;
    }
    ++found->second->uses;
    program.functions.push_back(id);
  }
}

void ControllerCore::release_definition(ClientId client_id, std::uint64_t id) {
  if (!is_here(client_id) || client_of(id) != client_id) return;
  Client& client = *clients_.find(client_id)->second;
  Definition* definition = nullptr;
  if (const auto program = programs_.find(id); program != programs_.end()) {
    definition = program->second.get();
  } else if (const auto function = functions_.find(id); function != functions_.end()) {
    definition = function->second.get();
  } else if (const auto spec = specs_.find(id); spec != specs_.end()) {
    definition = spec->second.get();
  }
  if (!definition) {
    client.refused.erase(id);
    return;
  }
  if (std::exchange(definition->is_released, true)) return;
  --client.definitions;
  unused_.push_back(id);
}

void ControllerCore::unuse(Definition& definition) {
  SEAWAY_CHECK(definition.uses > 0, definition.id);
  if (--definition.uses == 0 && definition.is_released) unused_.push_back(definition.id);
}

/// Those of `unused_` that nothing needs. Programs that go may leave functions unused.
void ControllerCore::forget_definitions() {
  for (std::size_t i = 0; i < unused_.size(); ++i) {
    const std::uint64_t id = unused_[i];
    if (!forget_definition(id)) continue;
    for (ControllerOutbox::Island& island : outbox_.islands) {
      island.forgotten_definitions.push_back(id);
    }
  }
  unused_.clear();
}

/// Whether hosts know of it, and are to forget it, too.
bool ControllerCore::forget_definition(std::uint64_t id) {
  if (const auto found = programs_.find(id); found != programs_.end()) {
    Program& program = *found->second;
    if (!program.is_released || program.uses > 0) return false;
    for (const FunctionId function : program.functions) unuse(*functions_.at(function));
    for (const SliceId slice : program.slices) std::erase(slices_.at(slice)->users, &program);
    forget_plans(program);
    unname_slices(program.slices);
    keep_name(id, std::move(program.graph.name));
    programs_.erase(found);
    return false;
  }
  if (const auto found = functions_.find(id); found != functions_.end()) {
    // What is being compiled would come to a host that has forgotten it already.
    Function& function = *found->second;
    if (!function.is_released || function.uses > 0 || function.hosts_awaited > 0) return false;
    keep_name(id, std::move(function.info.name));
    functions_.erase(found);
    return true;
  }
  const auto found = specs_.find(id);
  if (found == specs_.end() || !found->second->is_released || found->second->uses > 0) return false;
  unname_slices(found->second->slices);
  specs_.erase(found);
  return true;
}

bool ControllerCore::bindings_are_current(const Program& program) const {
  for (const auto& [id, generation] : program.generations) {
    const auto slice = slices_.find(id);
    if (slice == slices_.end() || slice->second->is_gone) return false;
    if (slice->second->generation != generation) return false;
  }
  return true;
}

bool ControllerCore::awaits_hosts(const Program& program) const {
  return std::ranges::any_of(program.functions, [this](FunctionId id) {
    const auto found = functions_.find(id);
    return found != functions_.end() && found->second->hosts_awaited > 0;
  });
}

bool ControllerCore::is_ready(Program& program) {
  if (program.is_lowering) return false;
  if (program.is_lowered && bindings_are_current(program)) return true;
  if (awaits_hosts(program)) return false;
  FunctionId known = 0;
  for (const program::Node& node : program.graph.nodes) {
    if (node.function == known) continue;
    known = node.function;
    const auto found = functions_.find(node.function);
    if (found == functions_.end() || client_of(node.function) != program.client) {
      program.failure = invalid_argument("program " + program.graph.name + " calls function " +
                                         std::to_string(node.function) + " at " + node.site +
                                         ", which is not defined");
      return true;
    }
    if (!found->second->failure.ok()) {
      program.failure = found->second->failure;
      return true;
    }
  }
  lower(program);
  return !program.is_lowering;
}

/// A large program is lowered away from the control thread, which goes on meanwhile: the work has
/// copies of all that may change, and keeps the program alive.
void ControllerCore::lower(Program& program) {
  std::map<FunctionId, program::FunctionInfo> functions;
  std::map<SliceId, program::Binding> bindings;
  program.generations.clear();
  SliceId bound = 0;
  const auto bind = [&](const Mesh& mesh) -> Status {
    if (mesh.slice() == bound) return {};
    const auto slice = slices_.find(mesh.slice());
    if (slice == slices_.end() || slice->second->client != program.client) {
      return invalid_argument("program " + program.graph.name + " uses slice " +
                              std::to_string(sequence_of(mesh.slice())) +
                              ", which is not one of this client's, or was released");
    }
    // A run that was enqueued before its slice was released keeps it from going.
    SEAWAY_CHECK(!slice->second->is_gone, mesh.slice());
    bound = mesh.slice();
    bindings[bound] = slice->second->binding;
    program.generations[bound] = slice->second->generation;
    return {};
  };
  for (const ArraySpec& spec : program.graph.parameters) {
    program.failure = bind(spec.sharding.mesh());
    if (!program.failure.ok()) return;
  }
  FunctionId known = 0;
  for (const program::Node& node : program.graph.nodes) {
    program.failure = bind(node.mesh);
    if (!program.failure.ok()) return;
    if (node.function != known) functions[node.function] = functions_.at(node.function)->info;
    known = node.function;
  }
  const auto work = [functions = std::move(functions), bindings = std::move(bindings),
                     last_plan = last_plan_, device_bytes = options_.device_bytes,
                     bytes_max = options_.plan_bytes_max](const program::ProgramGraph& graph) {
    Plans plans;
    auto lowered = program::lower(graph, functions, bindings);
    plans.failure = lowered.ok() ? check_fits(graph, *lowered, device_bytes) : lowered.status();
    if (!plans.failure.ok()) return plans;
    return make_plans(std::move(lowered).value(), graph, *last_plan, bytes_max);
  };
  const actor::OffloadOptions& offload = options_.offload;
  if (!offload.takes_nodes(program.graph.nodes.size())) {
    return finish_lowering(program, work(program.graph));
  }
  SEAWAY_PROBE("a program is lowered away from the control thread");
  program.is_lowering = true;
  program.is_lowered = false;
  const auto shared = programs_.at(program.graph.id);
  const auto plans = std::make_shared<Plans>();
  offload.offload([shared, plans, work] { *plans = work(shared->graph); },
                  [this, shared, plans] {
                    shared->is_lowering = false;
                    const auto found = programs_.find(shared->graph.id);
                    const bool is_here = found != programs_.end() && found->second == shared;
                    // If a slice was rebound or a host restarted, the plans are obsolete:
                    // is_ready() lowers the program again.
                    if (is_here && bindings_are_current(*shared) && !awaits_hosts(*shared)) {
                      finish_lowering(*shared, std::move(*plans));
                    }
                  });
}

void ControllerCore::finish_lowering(Program& program, Plans plans) {
  program.failure = plans.failure;
  if (program.failure.ok()) install(program, std::move(plans));
}

Status ControllerCore::check_fits(const program::ProgramGraph& graph,
                                  const program::LoweredProgram& lowered,
                                  std::uint64_t device_bytes) {
  for (const program::Segment& segment : lowered.segments) {
    for (const program::PartPlan& part : segment.parts) {
      std::map<DeviceId, std::uint64_t> need;
      const auto add = [&](std::uint32_t group, std::uint64_t bytes) {
        for (const DeviceId device : part.groups[group].devices) need[device] += bytes;
      };
      for (const program::Block& block : part.blocks) {
        add(block.group, block.steps.empty() ? 0 : block.steps.front().bytes);
      }
      for (const program::Arg& arg : part.args) {
        if (arg.donated_to != program::kNone) continue;
        add(part.values[arg.value].group, part.values[arg.value].shard_bytes);
      }
      for (const program::Output& output : part.outputs) {
        add(part.values[output.value].group, part.values[output.value].shard_bytes);
      }
      for (const auto& [device, bytes] : need) {
        if (bytes <= device_bytes) continue;
        return resource_exhausted(
            "program " + graph.name + " needs " + std::to_string(bytes) +
            " bytes at once on device " + std::to_string(device) + " of island " +
            std::to_string(part.island) + ", which has " + std::to_string(device_bytes) +
            "; shard it over more devices, split it into smaller programs, donate its arguments, "
            "or raise device_memory");
      }
    }
  }
  return {};
}

ControllerCore::Plans ControllerCore::make_plans(program::LoweredProgram lowered,
                                                 const program::ProgramGraph& graph,
                                                 std::atomic<PlanId>& last_plan,
                                                 std::size_t plan_bytes_max) {
  Plans plans;
  for (program::Segment& segment : lowered.segments) {
    auto& parts = plans.parts.emplace_back();
    for (program::PartPlan& part : segment.parts) {
      part.id = ++last_plan;
      part.program = graph.id;
      auto frame = program::encode_plan_frame(part, plan_bytes_max);
      if (!frame.ok()) {
        plans.failure = {frame.status().code(),
                         "program " + graph.name + ": " + frame.status().message()};
        return plans;
      }
      parts.emplace_back(std::make_shared<const program::PartPlan>(std::move(part)),
                         std::move(frame).value());
    }
    segment.parts.clear();
  }
  plans.lowered = std::move(lowered);
  return plans;
}

/// Requires that no run of `program` is in flight: all its parts have been reported finished.
void ControllerCore::forget_plans(Program& program) {
  for (const auto& segment : program.plans) {
    for (const program::PartPlanPtr& plan : segment) {
      outbox_.islands[plan->island].forgotten_plans.push_back(plan->id);
      plan_frames_.erase(plan->id);
    }
  }
  program.plans.clear();
}

void ControllerCore::install(Program& program, Plans plans) {
  // Those of an earlier binding: slices are bound anew only when none of their runs is in flight.
  forget_plans(program);
  program.kept_by_island.assign(options_.islands, 0);
  program.held_by_island.assign(options_.islands, 0);
  // A migration has no graph, and one output.
  program.kept_by_output.assign(std::max<std::size_t>(1, program.graph.outputs.size()), 0);
  std::uint64_t cost_ns = 0;
  std::set<IslandId> islands;
  for (std::size_t i = 0; i < plans.parts.size(); ++i) {
    const program::Segment& segment = plans.lowered.segments[i];
    program.plans.emplace_back();
    for (auto& [plan, frame] : plans.parts[i]) {
      islands.insert(plan->island);
      for (const program::Gang& gang : plan->gangs) cost_ns += gang.cost_ns;
      for (const program::Output& output : plan->outputs) {
        const auto& array = segment.outputs[output.output];
        const std::uint64_t bytes = plan->values[output.value].shard_bytes *
                                    plan->groups[plan->values[output.value].group].devices.size();
        if (array.kind != program::SegmentArray::Kind::kProgram) {
          program.held_by_island[plan->island] += bytes;
          continue;
        }
        program.kept_by_island[plan->island] += bytes;
        program.kept_by_output[array.index] = bytes;
      }
      outbox_.islands[plan->island].plans.push_back(frame);
      plan_frames_[plan->id] = std::move(frame);
      program.plans.back().push_back(std::move(plan));
    }
  }
  program.islands.assign(islands.begin(), islands.end());
  program.cost_ns = std::clamp<std::uint64_t>(cost_ns, 1, kCostNsMax);
  program.lowered = std::move(plans.lowered);
  program.is_lowered = true;
}

}  // namespace seaway::controller
