// Registry: filled in by main().

#include "cluster/registry.hpp"

#include <utility>

#include "seaway/app/actor_type.hpp"

namespace seaway {
namespace {

function::NativeFunction with_name(const std::string& name, const NativeFunction& from) {
  function::NativeFunction native;
  native.name = name;
  native.parameters = from.parameters;
  native.outputs = from.outputs;
  native.scratch_bytes = from.scratch_bytes;
  native.cost_ns = from.cost_ns;
  native.idempotent = from.idempotent;
  native.irregular = from.irregular;
  native.body = from.body;
  return native;
}

}  // namespace

namespace cluster {

NativeName name_of(const function::NativeFunction& native) {
  std::string text = native.name;
  for (const TensorType& type : native.parameters) text += " " + to_string(type);
  text += " ->";
  for (const TensorType& type : native.outputs) text += " " + to_string(type);
  text += ", " + std::to_string(native.scratch_bytes) + (native.idempotent ? ", idempotent" : "") +
          (native.irregular ? ", irregular" : "");
  return {native.name, internal::hash_of(text)};
}

Status check_own_native(const std::vector<NativeName>& own, const NativeName& native) {
  for (const NativeName& known : own) {
    if (known.name != native.name) continue;
    if (known.fingerprint == native.fingerprint) return {};
    return invalid_argument("native function " + native.name +
                            " has other types or flags in the hosts' program, which has registered "
                            "it with another fingerprint");
  }
  return not_found("native function " + native.name +
                   " is not known to this host; register it with Registry::native() in the hosts' "
                   "main()");
}

}  // namespace cluster

std::vector<cluster::NativeName> Registry::State::register_natives(
    function::NativeRegistry& known) const {
  std::vector<cluster::NativeName> names;
  for (const auto& [name, function] : natives) {
    function::NativeFunction native = with_name(name, function);
    names.push_back(cluster::name_of(native));
    known.add(name, function::make_native(std::move(native)));
  }
  return names;
}

Registry::Registry() : state_(std::make_unique<State>()) {}
Registry::~Registry() = default;
Registry::Registry(const Registry& other) : state_(std::make_unique<State>(*other.state_)) {}
Registry& Registry::operator=(const Registry& other) {
  *state_ = *other.state_;
  return *this;
}

internal::TypeTable& Registry::types() { return state_->types; }

Registry& Registry::native(std::string name, NativeFunction function) {
  if (state_->mistake.ok() && !function.body) {
    state_->mistake = invalid_argument("native function \"" + name + "\" has no body");
  }
  const bool is_new = state_->natives.emplace(name, std::move(function)).second;
  if (state_->mistake.ok() && !is_new) {
    state_->mistake =
        invalid_argument("two native functions are called \"" + name + "\"; rename one");
  }
  return *this;
}

}  // namespace seaway
