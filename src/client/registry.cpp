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
  if (found == slices_.end() && !was_released(slice)) {
    return invalid_argument("slice " + name_of(slice) + " is not one that client " +
                            std::to_string(id()) + " has acquired; slices are not shared");
  }
  if (found == slices_.end() || found->second->is_released) {
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
  std::shared_ptr<SpecRecord> replaced;  // Its end takes the lock.
  std::lock_guard guard(names_mutex_);
  if (is_closed()) return closed_status();
  auto record = specs_.find(key);
  if (!record) {
    const std::uint64_t number = next_id();
    if (number == 0) return no_ids();
    record = std::make_shared<SpecRecord>();
    record->session = shared_from_this();
    record->outputs = {spec};
    record->id = number;
    record->output_specs = {record->id};
    record->name = "put";
    record->slice = *slice;
    specs_.insert(key, record);
  }
  if (recent_specs_.size() < kRecent) {
    recent_specs_.push_back(record);
  } else {
    replaced = std::exchange(recent_specs_[recent_at_++ % kRecent], record);
  }
  return record;
}

namespace {

/// `frame` is on its way to all hosts; `what` names it for people.
Status check_fits(const Frame& frame, std::uint64_t bytes_max, const std::string& what,
                  const char* advice) {
  if (frame.size_bytes() <= bytes_max) return {};
  return resource_exhausted(what + " refused: it has " + std::to_string(frame.size_bytes()) +
                            " bytes; the limit is " + std::to_string(bytes_max) + ": " + advice);
}

}  // namespace

Status Session::ensure_defined(SpecRecord& spec) {
  if (spec.is_defined.load(std::memory_order_acquire)) return {};
  const std::uint64_t request = next_request_.fetch_add(1, std::memory_order_relaxed);
  Frame frame = frames::define_spec(id(), request, spec);
  // Under the lock, so that no other thread's put overtakes the definition.
  std::lock_guard guard(names_mutex_);
  if (spec.is_defined.load(std::memory_order_relaxed)) return {};
  Status status = spec.registration.begin(*this, spec.id, "put");
  if (!status.ok()) return status;
  say_frame(std::move(frame));
  spec.is_defined.store(true, std::memory_order_release);
  return {};
}

Status Registration::begin(Session& session, std::uint64_t id, std::string_view what) {
  Status status = session.count_definition(what);
  if (!status.ok()) return status;
  session_ = &session;
  id_ = id;
  return {};
}

void Registration::end() {
  if (Session* const session = std::exchange(session_, nullptr)) session->forget_definition(id_);
}

Status Session::count_definition(std::string_view what) {
  const std::uint64_t most = definitions_max_.load(std::memory_order_relaxed);
  const std::uint64_t before = definitions_.fetch_add(1, std::memory_order_relaxed);
  if (most == 0 || before < most) return {};
  uncount_definition();
  return resource_exhausted(std::string(what) + " refused: client " + std::to_string(id()) +
                            " has " + std::to_string(before) + " of " + std::to_string(most) +
                            " live functions, programs, specs and slices; drop handles that are "
                            "no longer needed, or raise the cluster option definitions");
}

void Session::forget_definition(std::uint64_t id) {
  uncount_definition();
  if (!wiring_.engine) return;
  say([id](Outbox& outbox) { outbox.said.push_back({.kind = Said::Kind::kForget, .id = id}); });
}

Result<std::shared_ptr<FunctionRecord>> Session::define_function(
    std::shared_ptr<FunctionDefinition> function, std::optional<Mesh> mesh, CallSpecs specs) {
  if (is_closed()) return closed_status();
  function->session = shared_from_this();
  function->info.id = next_id();
  if (function->info.id == 0) return no_ids();
  if (wiring_.engine) {
    Frame frame = frames::define_function(id(), *function);
    const std::string what = "function \"" + function->info.name + "\"";
    Status status = check_fits(frame, wiring_.frame_bytes_max, what, "split it into several");
    if (status.ok()) status = function->registration.begin(*this, function->info.id, what);
    if (!status.ok()) return status;
    say_frame(std::move(frame));
  }
  auto record = std::make_shared<FunctionRecord>();
  record->definition = std::move(function);
  record->mesh = std::move(mesh);
  record->specs = std::move(specs);
  return record;
}

Result<std::shared_ptr<FunctionRecord>> Session::define_native(function::NativeFunction native,
                                                               CallSpecs specs) {
  if (wiring_.register_native) {
    if (Status status = wiring_.register_native(native); !status.ok()) return status;
  }
  auto function = std::make_shared<FunctionDefinition>();
  function->info.name = native.name;
  function->info.parameters = native.parameters;
  function->info.outputs = native.outputs;
  function->info.scratch_bytes = native.scratch_bytes;
  function->info.cost_ns = native.cost_ns;
  function->info.idempotent = native.idempotent;
  function->info.irregular = native.irregular;
  function->native = function::make_native(std::move(native));
  return define_function(std::move(function), {}, std::move(specs));
}

Result<std::shared_ptr<FunctionRecord>> Session::define_foreign(
    const function::ForeignProgram& program, std::uint64_t timeout_ns) {
  auto function = std::make_shared<FunctionDefinition>();
  function->session = shared_from_this();
  function->info.name = program.name;
  function->info.id = next_id();
  if (function->info.id == 0) return no_ids();
  // What does not compile is forgotten with `function`.
  Status status = function->registration.begin(*this, function->info.id,
                                               "foreign function \"" + program.name + "\"");
  if (!status.ok()) return status;
  const auto answer = ask(
      "compile function " + program.name,
      [&](std::uint64_t request) {
        return frames::define_foreign(id(), request, function->info, program);
      },
      timeout_ns);
  if (!answer.ok()) return answer.status();
  auto compiled = frames::read_foreign(*answer);
  if (!compiled.ok()) return compiled.status();
  function->info = compiled->info;
  function->foreign = std::make_shared<const program::ForeignCompiled>(std::move(*compiled));
  auto record = std::make_shared<FunctionRecord>();
  record->definition = std::move(function);
  return record;
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
    program->specs.push_back(std::move(*interned));
  }
  for (const program::ValueRef output : program->graph.outputs) {
    program->outputs.push_back(program->graph.spec_of(output));
    auto interned = intern(program->outputs.back());
    if (!interned.ok()) return interned.status();
    program->output_specs.push_back((*interned)->id);
    program->specs.push_back(std::move(*interned));
  }
  if (!wiring_.engine) return program;
  Frame frame = frames::define_program(id(), program->graph);
  const std::string what = "program \"" + program->name + "\"";
  Status status = check_fits(frame, wiring_.frame_bytes_max,
                             what + " of " + std::to_string(program->graph.nodes.size()) + " nodes",
                             "put loops into functions, or use several programs");
  if (status.ok()) status = program->registration.begin(*this, program->graph.id, what);
  if (!status.ok()) return status;
  say_frame(std::move(frame));
  return program;
}

Result<std::shared_ptr<ProgramRecord>> Session::donating_variant(
    const std::shared_ptr<ProgramRecord>& program, const ExecuteOptions& options) {
  std::vector<bool> donated = program->graph.donated;
  for (const std::uint32_t parameter : options.donate) {
    if (parameter >= donated.size()) {
      return invalid_argument("program \"" + program->name + "\" has no parameter " +
                              std::to_string(parameter) + " to donate; it has " +
                              std::to_string(donated.size()));
    }
    donated[parameter] = true;
  }
  if (donated == program->graph.donated) return program;
  const ProgramCache::Key key(donated.begin(), donated.end());
  return cached_program(program->variants, key, [this, &program, &donated] {
    auto variant = std::make_shared<ProgramRecord>();
    variant->graph = program->graph;
    variant->graph.donated = donated;
    variant->functions = program->functions;
    variant->slices = program->slices;
    return define_program(std::move(variant));
  });
}

Result<std::shared_ptr<FunctionRecord>> Session::identity(const TensorType& type) {
  const std::string key = seaway::to_string(type);
  const auto handle_of = [](std::shared_ptr<const FunctionDefinition> definition) {
    auto record = std::make_shared<FunctionRecord>();
    record->definition = std::move(definition);
    return record;
  };
  {
    std::lock_guard guard(names_mutex_);
    if (auto found = identities_.find(key)) return handle_of(std::move(found));
  }
  auto identity = std::make_shared<FunctionDefinition>();
  identity->info.name = "reshard";
  identity->info.parameters = identity->info.outputs = {type};
  identity->graph.name = "reshard";
  identity->graph.instructions.resize(1);
  identity->graph.instructions[0].type = type;
  identity->graph.parameters = identity->graph.outputs = {0};
  auto defined = define_function(std::move(identity));
  if (!defined.ok()) return defined;
  std::lock_guard guard(names_mutex_);
  // Another thread may have been faster.
  if (auto found = identities_.find(key)) return handle_of(std::move(found));
  identities_.insert(key, (*defined)->definition);
  return defined;
}

Result<std::shared_ptr<ProgramRecord>> Session::cached_program(
    ProgramCache& cache, const ProgramCache::Key& key,
    const std::function<Result<std::shared_ptr<ProgramRecord>>()>& make) {
  {
    std::lock_guard guard(names_mutex_);
    if (auto found = cache.find(key)) return found;
  }
  auto made = make();
  if (!made.ok()) return made;
  std::shared_ptr<ProgramRecord> replaced;  // Its end takes the lock.
  std::lock_guard guard(names_mutex_);
  if (is_closed()) return closed_status();
  if (auto found = cache.find(key)) return found;
  replaced = cache.insert(key, *made);
  return made;
}

void Session::set_debug(bool on) {
  if (wiring_.engine) is_debug_.store(on, std::memory_order_relaxed);
}

}  // namespace seaway::client
