// Which cluster a framework's process is a client of: from its options and its environment.

#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "front/front_client.hpp"

namespace seaway::front {

/// The value of a variable of the environment, if it is set.
using Lookup = std::function<std::optional<std::string>(const std::string& name)>;

/// Options win over variables:
///   cluster   SEAWAY_CLUSTER          an address, or embedded:...
///   backend   SEAWAY_JAX_BACKEND      without a cluster: the path of a plugin whose devices this
///   islands   SEAWAY_JAX_ISLANDS      process serves itself, on so many islands (1)
///   devices   SEAWAY_JAX_DEVICES      with so many devices each (1)
///   tenant    SEAWAY_TENANT           in whose name ("default")
///   weight    SEAWAY_WEIGHT           with which share (as it is)
///   ahead     SEAWAY_JAX_AHEAD        how many runs may be in flight: who calls further ones waits
///                                     (64 where this process serves the devices itself, else
///                                     16384)
/// Errors: kInvalidArgument for an unknown option, a number that is none, and when there is neither
/// a cluster nor a backend, with what to do.
Result<FrontOptions> read_settings(const std::map<std::string, std::string>& options,
                                   const Lookup& environment);

/// Of this process.
std::optional<std::string> look_up_environment(const std::string& name);

}  // namespace seaway::front
