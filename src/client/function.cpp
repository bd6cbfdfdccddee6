// The public Function and Traced, on a session's registry and the current capture.

#include "seaway/function.hpp"

#include <utility>

#include "client/capture.hpp"
#include "client/registry.hpp"
#include "client/session.hpp"
#include "seaway/client.hpp"

namespace seaway {
namespace {

const program::FunctionInfo& info_of(const std::shared_ptr<client::FunctionRecord>& record) {
  static const program::FunctionInfo empty;
  return record ? record->info() : empty;
}

const ArraySpec& no_spec() {
  static const ArraySpec spec;
  return spec;
}

}  // namespace

const std::string& Function::name() const { return info_of(record_).name; }
std::uint64_t Function::id() const { return info_of(record_).id; }

const std::vector<TensorType>& Function::parameter_types() const {
  return info_of(record_).parameters;
}

const std::vector<TensorType>& Function::output_types() const { return info_of(record_).outputs; }

Function Function::on(const Slice& slice) const { return on(slice.mesh()); }

Function Function::on(const Mesh& mesh) const {
  Function bound = *this;
  bound.mesh_ = mesh;
  return bound;
}

Function Function::with(CallSpecs specs) const {
  Function bound = *this;
  bound.specs_ = std::move(specs);
  return bound;
}

Traced Function::operator()(std::span<const Traced> operands, Site site) const {
  client::Capture* capture = client::Capture::current();
  // Outside a program there is nobody to tell; the empty value is reported where it is used.
  return capture ? capture->call(*this, operands, site) : Traced();
}

Traced Function::call(std::initializer_list<Traced> operands, Site site) const {
  return (*this)(std::span<const Traced>(operands.begin(), operands.size()), site);
}

Run Function::execute(std::initializer_list<Array> arguments, Site site) const {
  return execute(std::span<const Array>(arguments.begin(), arguments.size()), site);
}

Run Function::execute(std::span<const Array> arguments, Site site) const {
  if (!record_) return Run();
  client::Session& session = *record_->session();
  const auto refuse = [this](Status status) {
    auto origin = std::make_shared<client::Origin>();
    origin->session = record_->session();
    origin->name = "function \"" + name() + "\"";
    origin->outputs.resize(output_types().size());
    origin->output_specs.resize(output_types().size());
    return Run(client::Record::make_failed(origin, origin->outputs.size(), std::move(status)));
  };
  client::ProgramCache::Key key;
  std::vector<ArraySpec> specs;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    client::ArrayCell* cell = arguments[i].cell();
    if (!cell || cell->record().first == 0) {
      const Status cause = arguments[i].error();
      return refuse({cause.code(), "argument " + std::to_string(i) + " of function \"" + name() +
                                       "\" was refused: " + cause.message()});
    }
    key.push_back(cell->record().origin->output_specs[cell->index]);
    specs.push_back(arguments[i].spec());
  }
  const auto capture = [this, &session, &specs, site] {
    return client::capture_call(session, *this, specs, site);
  };
  // A handle that is bound otherwise than its function is a rare call, and captured each time.
  const bool is_plain = !mesh_ && specs_.in.empty() && specs_.out.empty();
  const auto program = is_plain ? session.cached_program(record_->calls, key, capture) : capture();
  if (!program.ok()) return refuse(program.status());
  return Run(session.execute(*program, arguments, {}, site));
}

std::string Function::to_stablehlo() const {
  if (!record_) return "";
  const client::FunctionDefinition& function = *record_->definition;
  if (function.native || function.foreign) return "";
  return function::to_stablehlo(function.graph, function.info.axes);
}

std::string Function::to_string() const {
  const auto list = [](const std::vector<TensorType>& types) {
    std::string text = "(";
    for (std::size_t i = 0; i < types.size(); ++i) {
      text += (i > 0 ? ", " : "") + seaway::to_string(types[i]);
    }
    return text + ")";
  };
  return "function " + name() + list(parameter_types()) + " -> " + list(output_types());
}

const ArraySpec& Traced::spec() const {
  const client::Capture* capture = client::Capture::current(capture_);
  return capture ? capture->spec(*this) : no_spec();
}

std::string Traced::to_string() const {
  if (!client::Capture::current(capture_)) return "traced (of no program that is being captured)";
  const bool is_parameter = node_ == program::ValueRef::kParameter;
  if (!is_parameter && size() != 1) {
    return "n" + std::to_string(node_) + " with " + std::to_string(size()) + " results";
  }
  const std::uint32_t output = output_ == kAllResults ? 0 : output_;
  const std::string name = is_parameter
                               ? "p" + std::to_string(output)
                               : "n" + std::to_string(node_) + "." + std::to_string(output);
  return name + " " + seaway::to_string(spec());
}

std::size_t Traced::size() const {
  const client::Capture* capture = client::Capture::current(capture_);
  return capture ? capture->size(*this) : 0;
}

Traced Traced::operator[](std::size_t index) const {
  client::Capture* capture = client::Capture::current(capture_);
  return capture ? capture->result(*this, index) : Traced();
}

Traced Traced::reshard(const NamedSharding& target, Site site) const {
  client::Capture* capture = client::Capture::current();
  return capture ? capture->reshard(*this, target, site) : Traced();
}

void Traced::check_size(std::size_t wanted, Site site) const {
  client::Capture* capture = client::Capture::current(capture_);
  if (!capture || size() == wanted) return;
  capture->mistake(
      "unpack into " + std::to_string(wanted) + " of " + std::to_string(size()) + " results", site);
}

}  // namespace seaway
