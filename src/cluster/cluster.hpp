// Cluster::State: an embedded cluster with all that it stands on, in the order of its end.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "actor/engine.hpp"
#include "base/clock.hpp"
#include "base/unnamed_file.hpp"
#include "cluster/embedded.hpp"
#include "device/cpu_backend.hpp"
#include "events/event_stream.hpp"
#include "function/tbb_parallelism.hpp"
#include "pjrt/plugin_devices.hpp"
#include "seaway/client.hpp"

namespace seaway {

struct Cluster::State {
  /// `spill_files`: one for each island, where `options` ask for them. `plugin`: whose devices they
  /// are, if not built in.
  explicit State(const cluster::EmbeddedOptions& options,
                 device::Compiler compiler = function::compile_cpu,
                 std::vector<std::unique_ptr<UnnamedFile>> spill_files = {},
                 std::unique_ptr<pjrt::PluginDevices> plugin = {});
  /// A cluster of other processes, whose controller listens there: each client of it is a process
  /// of its own, as far as the cluster knows, and nothing of what follows is there but the clock.
  explicit State(std::string address);
  ~State();

  const std::string address;  // Empty: embedded.
  RealClock clock;
  events::EventStream events;
  std::unique_ptr<pjrt::PluginDevices> devices;
  std::unique_ptr<function::TbbParallelism> arena;
  std::unique_ptr<actor::Engine> engine;
  std::vector<std::unique_ptr<actor::Engine>> workers;  // Of actors; none before the first.
  std::unique_ptr<cluster::Embedded> embedded;
};

}  // namespace seaway
