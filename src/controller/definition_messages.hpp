// A client's definitions, checked where they enter the cluster and built anew for hosts.

#pragma once

#include <seaway.capnp.h>

#include "base/frame.hpp"
#include "base/ids.hpp"
#include "program/program_graph.hpp"
#include "seaway/sharding.hpp"
#include "seaway/status.hpp"

namespace seaway::controller {

/// A function that hosts may compile: none of its bytes are the client's own frame.
struct CheckedFunction {
  program::FunctionInfo info;
  Frame compile;  // wire::Message, `compile`.
};

struct CheckedSpec {
  std::uint64_t id = 0;
  ArraySpec spec;
  Frame define;  // wire::Message, `defineSpec`.
};

/// Decodes a definition to the end, and encodes for hosts what was decoded.
///
/// The ids outside and inside of `definition` are one, and `client` chose it. A graph of operations
/// is valid, and its types are those of the info: the controller plans memory by the info, and
/// hosts write what the graph makes. A native or foreign function is checked by each host that has
/// it. Call inside wire::read_frame(). Errors: kProtocolError for bytes, ids and types that do not
/// fit together.
Result<CheckedFunction> check_function(ClientId client, wire::DefineFunction::Reader definition);
/// The same of a foreign program, whose types are known when hosts have compiled it.
Result<CheckedFunction> check_foreign(ClientId client, wire::DefineFunction::Reader definition);
Result<CheckedSpec> check_spec(ClientId client, wire::DefineSpec::Reader definition);

}  // namespace seaway::controller
