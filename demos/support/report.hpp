// How a demo ends: with what it has found wrong, and with its trace.

#pragma once

#include <string>
#include <string_view>

#include "demos/demos.hpp"
#include "seaway/client.hpp"
#include "seaway/status.hpp"

namespace seaway::demos {

/// The exit code for `outcome`: 0, or 2 after saying on standard error what is wrong.
int finish(std::string_view demo, const Status& outcome);

/// Writes the cluster's trace to `options.trace_path`, or to seaway-<demo>.json in the directory
/// for temporary files, and prints where it is. kInvalidArgument: the file cannot be written.
Status write_trace(const Cluster& cluster, std::string_view demo, const DemoOptions& options);

}  // namespace seaway::demos
