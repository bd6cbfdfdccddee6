// Registering specs, functions and programs, once each.

#include "client/registry.hpp"

#include <algorithm>
#include <utility>

#include "base/limits.hpp"
#include "client/frames.hpp"
#include "client/session.hpp"

namespace seaway::client {

Result<std::shared_ptr<SliceRecord>> Session::find_slice(const Mesh& mesh) {
  if (Status status = limits::check_mesh(mesh); !status.ok()) return status;
  const SliceId slice = mesh.slice();
  if (slice == 0) {
    if (debug()) return std::shared_ptr<SliceRecord>();
    return invalid_argument(mesh.to_string() +
                            " belongs to no slice; take Slice::mesh() of an acquired one");
  }
  if (is_closed()) return closed_status();
  std::lock_guard guard(names_mutex_);
  const auto found = slices_.find(slice);
  if (found == slices_.end()) {
    return invalid_argument("slice " + name_of(slice) + " is not one that client " +
                            std::to_string(id()) + " has acquired; slices are not shared");
  }
  if (found->second->is_released) {
    return invalid_argument("slice " + name_of(slice) + " was released; acquire another");
  }
  if (!mesh.fits(found->second->mesh.device_count())) {
    return invalid_argument(mesh.to_string() + " does not fit slice " + name_of(slice) + " of " +
                            std::to_string(found->second->mesh.device_count()) + " devices");
  }
  return found->second;
}

Result<std::shared_ptr<SpecRecord>> Session::intern(const ArraySpec& spec) {
  {
    std::lock_guard guard(names_mutex_);
    for (const auto& recent : recent_specs_) {
      if (recent->spec() != spec) continue;
      if (!recent->slice || !recent->slice->is_released) return recent;
    }
  }
  return make_spec(spec);
}

Result<std::shared_ptr<SpecRecord>> Session::make_spec(const ArraySpec& spec) {
  constexpr std::size_t kRecent = 8;
  if (Status status = validate(spec.type); !status.ok()) return status;
  if (Status status = spec.sharding.validate(spec.type); !status.ok()) return status;
  auto slice = find_slice(spec.sharding.mesh());
  if (!slice.ok()) return slice.status();
  const std::string key =
      seaway::to_string(spec) + '#' + std::to_string(spec.sharding.mesh().slice());
  std::lock_guard guard(names_mutex_);
  if (is_closed()) return closed_status();
  auto& record = specs_[key];
  if (!record) {
    const std::uint64_t number = next_id();
    if (number == 0) {
      specs_.erase(key);
      return no_ids();
    }
    record = std::make_shared<SpecRecord>();
    record->session = shared_from_this();
    record->outputs = {spec};
    record->id = number;
    record->output_specs = {record->id};
    record->name = "put";
    record->slice = *slice;
  }
  if (recent_specs_.size() < kRecent) {
    recent_specs_.push_back(record);
  } else {
    recent_specs_[recent_at_++ % kRecent] = record;
  }
  return record;
}

void Session::ensure_defined(SpecRecord& spec) {
  if (spec.is_defined.load(std::memory_order_acquire)) return;
  const std::uint64_t request = next_request_.fetch_add(1, std::memory_order_relaxed);
  Frame frame = frames::define_spec(id(), request, spec);
  // Under the lock, so that no other thread's put overtakes the definition.
  std::lock_guard guard(names_mutex_);
  if (spec.is_defined.load(std::memory_order_relaxed)) return;
  say_frame(std::move(frame));
  spec.is_defined.store(true, std::memory_order_release);
}

Result<std::shared_ptr<FunctionRecord>> Session::define_function(FunctionRecord function) {
  if (is_closed()) return closed_status();
  function.session = shared_from_this();
  function.info.id = next_id();
  if (function.info.id == 0) return no_ids();
  auto record = std::make_shared<FunctionRecord>(std::move(function));
  if (wiring_.engine) say_frame(frames::define_function(id(), *record));
  return record;
}

Result<std::shared_ptr<FunctionRecord>> Session::define_native(function::NativeFunction native,
                                                               CallSpecs specs) {
  if (wiring_.register_native) {
    if (Status status = wiring_.register_native(native); !status.ok()) return status;
  }
  FunctionRecord record;
  record.info.name = native.name;
  record.info.parameters = native.parameters;
  record.info.outputs = native.outputs;
  record.info.scratch_bytes = native.scratch_bytes;
  record.info.cost_ns = native.cost_ns;
  record.info.idempotent = native.idempotent;
  record.info.irregular = native.irregular;
  record.specs = std::move(specs);
  record.native = function::make_native(std::move(native));
  return define_function(std::move(record));
}

Result<std::shared_ptr<FunctionRecord>> Session::define_foreign(
    const function::ForeignProgram& program, std::uint64_t timeout_ns) {
  FunctionRecord function;
  function.session = shared_from_this();
  function.info.name = program.name;
  function.info.id = next_id();
  if (function.info.id == 0) return no_ids();
  const auto answer = ask(
      "compile function " + program.name,
      [&](std::uint64_t request) {
        return frames::define_foreign(id(), request, function.info, program);
      },
      timeout_ns);
  if (!answer.ok()) return answer.status();
  auto compiled = frames::read_foreign(*answer);
  if (!compiled.ok()) return compiled.status();
  function.info = compiled->info;
  function.foreign = std::make_shared<const program::ForeignCompiled>(std::move(*compiled));
  return std::make_shared<FunctionRecord>(std::move(function));
}

Result<std::shared_ptr<ProgramRecord>> Session::define_program(
    std::shared_ptr<ProgramRecord> program) {
  if (is_closed()) return closed_status();
  program->session = shared_from_this();
  program->graph.id = next_id();
  if (program->graph.id == 0) return no_ids();
  program->name = program->graph.name;
  program->donates =
      std::ranges::find(program->graph.donated, true) != program->graph.donated.end();
  for (const ArraySpec& spec : program->graph.parameters) {
    auto interned = intern(spec);
    if (!interned.ok()) return interned.status();
    program->parameter_specs.push_back((*interned)->id);
  }
  for (const program::ValueRef output : program->graph.outputs) {
    program->outputs.push_back(program->graph.spec_of(output));
    auto interned = intern(program->outputs.back());
    if (!interned.ok()) return interned.status();
    program->output_specs.push_back((*interned)->id);
  }
  if (wiring_.engine) say_frame(frames::define_program(id(), program->graph));
  return program;
}

Result<std::shared_ptr<ProgramRecord>> Session::donating_variant(
    const std::shared_ptr<ProgramRecord>& program, const ExecuteOptions& options) {
  std::vector<bool> donated = program->graph.donated;
  std::vector<std::uint64_t> key = {program->graph.id};
  for (const std::uint32_t parameter : options.donate) {
    if (parameter >= donated.size()) {
      return invalid_argument("program \"" + program->name + "\" has no parameter " +
                              std::to_string(parameter) + " to donate; it has " +
                              std::to_string(donated.size()));
    }
    donated[parameter] = true;
  }
  if (donated == program->graph.donated) return program;
  key.insert(key.end(), donated.begin(), donated.end());
  return cached_program(key, [this, &program, &donated] {
    auto variant = std::make_shared<ProgramRecord>();
    variant->graph = program->graph;
    variant->graph.donated = donated;
    variant->functions = program->functions;
    variant->slices = program->slices;
    return define_program(std::move(variant));
  });
}

std::shared_ptr<FunctionRecord> Session::identity(const TensorType& type) {
  const std::string key = seaway::to_string(type);
  {
    std::lock_guard guard(names_mutex_);
    if (const auto found = identities_.find(key); found != identities_.end()) return found->second;
  }
  FunctionRecord identity;
  identity.info.name = "reshard";
  identity.info.parameters = identity.info.outputs = {type};
  identity.graph.name = "reshard";
  identity.graph.instructions.resize(1);
  identity.graph.instructions[0].type = type;
  identity.graph.parameters = identity.graph.outputs = {0};
  auto defined = define_function(std::move(identity));
  if (!defined.ok()) return nullptr;
  std::lock_guard guard(names_mutex_);
  return identities_.emplace(key, *defined).first->second;
}

Result<std::shared_ptr<ProgramRecord>> Session::cached_program(
    const std::vector<std::uint64_t>& key,
    const std::function<Result<std::shared_ptr<ProgramRecord>>()>& make) {
  {
    std::lock_guard guard(names_mutex_);
    if (const auto found = programs_.find(key); found != programs_.end()) return found->second;
  }
  auto made = make();
  if (!made.ok()) return made;
  std::lock_guard guard(names_mutex_);
  if (is_closed()) return closed_status();
  return programs_.emplace(key, *made).first->second;
}

void Session::set_debug(bool on) {
  if (wiring_.engine) is_debug_.store(on, std::memory_order_relaxed);
}

}  // namespace seaway::client
