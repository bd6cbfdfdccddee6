// What a Registry holds.

#pragma once

#include <map>
#include <string>
#include <vector>

#include "cluster/enrolment.hpp"
#include "function/executable.hpp"
#include "function/native_registry.hpp"
#include "seaway/host_main.hpp"

namespace seaway {

namespace cluster {

/// Its types, room and flags: equal where one may stand for the other.
NativeName name_of(const function::NativeFunction& native);
/// Whether a host that has registered `own` knows that function: its other hosts have the same
/// program. Errors: kNotFound; kInvalidArgument for another one of that name.
Status check_own_native(const std::vector<NativeName>& own, const NativeName& native);

}  // namespace cluster

struct Registry::State {
  internal::TypeTable types;
  std::map<std::string, NativeFunction> natives;
  /// The first thing that was wrong with natives.
  Status mistake;

  /// Why nobody can begin with it; or OK.
  const Status& check() const { return mistake.ok() ? types.mistake() : mistake; }
  /// Makes the natives known to a process's devices, and says how they are called.
  std::vector<cluster::NativeName> register_natives(function::NativeRegistry& natives) const;
};

}  // namespace seaway
