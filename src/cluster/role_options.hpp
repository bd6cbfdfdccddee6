// What "embedded:..." says, as each role is told it.

#pragma once

#include "cluster/embedded.hpp"

namespace seaway::cluster {

controller::ControllerOptions controller_options(const EmbeddedOptions& options);
island::CoreOptions scheduler_options(const EmbeddedOptions& options);
device::HostCore::Options host_options(const EmbeddedOptions& options, IslandId island);
std::unique_ptr<program::SliceBinder> make_binder(const EmbeddedOptions& options);

}  // namespace seaway::cluster
