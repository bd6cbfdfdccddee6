// Looking at an embedded cluster from outside: its counters, and its events with names.

#include "seaway/inspect.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <utility>

#include "actor/handler_scope.hpp"
#include "base/ids.hpp"
#include "cluster/cluster.hpp"
#include "cluster/trace.hpp"

namespace seaway {
namespace {

using cluster::Embedded;
using events::Event;
using events::EventKind;

/// Calls `look` on the control thread, where everything may be read, and waits for it.
Status look_inside(const Cluster& cluster, const std::function<void(Embedded&)>& look) {
  if (!cluster.state()) {
    return invalid_argument("this cluster was default-made; start one with Cluster::start");
  }
  if (Status status =
          actor::check_may_block("inspecting a cluster", "do it in a thread of your own");
      !status.ok()) {
    return status;
  }
  if (!cluster.state()->embedded) {
    return invalid_argument("the cluster at " + cluster.state()->address +
                            " is not in this process; ask it with `seaway status`");
  }
  Embedded& embedded = *cluster.state()->embedded;
  actor::Engine& engine = embedded.engine();
  if (engine.on_control_thread()) {
    return invalid_argument(
        "a cluster was inspected on its own control thread, which would wait for itself; do it in "
        "another thread");
  }
  std::atomic<bool> is_done = false;
  engine.post([&embedded, &engine, &look, &is_done] {
    look(embedded);
    is_done.store(true);
    engine.notify();
  });
  engine.wait([&is_done] { return is_done.load(); }, 0);
  return {};
}

MessageStats messages_to(const Embedded& embedded, actor::Role role) {
  const actor::Router::Count& count = embedded.router().count(role);
  return {.frames = count.frames, .bytes = count.bytes};
}

}  // namespace

std::uint64_t ClusterStats::busy_ns() const {
  std::uint64_t sum = 0;
  for (const DeviceStats& device : devices) sum += device.busy_ns;
  return sum;
}

std::uint64_t ClusterStats::peak_bytes() const {
  std::uint64_t most = 0;
  for (const DeviceStats& device : devices) most = std::max(most, device.peak_bytes);
  return most;
}

std::string DeviceStats::to_string() const {
  return "island " + std::to_string(island) + ", device " + std::to_string(device) + ": " +
         std::to_string(gangs) + " gangs, busy " + std::to_string(busy_ns) + " ns, peak " +
         std::to_string(peak_bytes) + " of " + std::to_string(budget_bytes) + " bytes" +
         (delayed > 0 ? ", delayed " + std::to_string(delayed) + " of the gangs" : "");
}

std::string SpillStats::to_string() const {
  return "island " + std::to_string(island) + ", host room: " + std::to_string(memory_bytes) +
         " bytes in memory, " + std::to_string(file_bytes) + " in the file; " +
         std::to_string(writes) + " arrays written, " + std::to_string(reads_ahead) +
         " read ahead, " + std::to_string(reads_waited) + " waited for" +
         (failures > 0
              ? ", " + std::to_string(failures) + (failures == 1 ? " failure" : " failures")
              : "");
}

std::string MessageStats::to_string() const {
  return std::to_string(frames) + " frames of " + std::to_string(bytes) + " bytes";
}

std::string ClusterStats::to_string() const {
  std::string text = "to controller " + to_controller.to_string() + ", to islands " +
                     to_islands.to_string() + ", to hosts " + to_hosts.to_string() +
                     ", to clients " + to_clients.to_string();
  for (const DeviceStats& device : devices) text += "\n" + device.to_string();
  for (const SpillStats& spill : spills) text += "\n" + spill.to_string();
  return text + "\n";
}

std::string GangRecord::to_string() const {
  std::string text = function + " of " + program + ", run " + std::to_string(sequence_of(run)) +
                     " of client " + std::to_string(client_of(run)) + ", island " +
                     std::to_string(island) + ", devices";
  for (const std::uint32_t device : devices) text += " " + std::to_string(device);
  return text + ", " + std::to_string(end_ns - begin_ns) + " ns";
}

Result<ClusterStats> stats(const Cluster& cluster) {
  ClusterStats all;
  const Status status = look_inside(cluster, [&all](Embedded& embedded) {
    all.time_ns = embedded.engine().clock().now_ns();
    for (IslandId island = 0; island < embedded.options().islands; ++island) {
      for (DeviceId device = 0; device < embedded.options().devices; ++device) {
        const device::DeviceState& state = embedded.host(island).device(device);
        all.devices.push_back({.island = island,
                               .device = device,
                               .gangs = state.gangs_done,
                               .busy_ns = state.busy_ns,
                               .peak_bytes = state.peak_bytes,
                               .budget_bytes = state.budget_bytes,
                               .delayed = state.gangs_delayed});
      }
      if (const store::SpillTiers* const tiers = embedded.host(island).spill_tiers()) {
        const store::SpillCounts& counts = tiers->counts();
        all.spills.push_back({.island = island,
                              .memory_bytes = counts.memory_bytes,
                              .file_bytes = counts.file_bytes,
                              .writes = counts.writes,
                              .reads_ahead = counts.reads_ahead,
                              .reads_waited = counts.reads_waited,
                              .failures = counts.failures});
      }
    }
    all.to_controller = messages_to(embedded, actor::Role::kController);
    all.to_islands = messages_to(embedded, actor::Role::kIsland);
    all.to_hosts = messages_to(embedded, actor::Role::kHost);
    all.to_clients = messages_to(embedded, actor::Role::kClient);
  });
  if (!status.ok()) return status;
  return all;
}

Result<std::vector<GangRecord>> recent_gangs(const Cluster& cluster) {
  std::vector<GangRecord> gangs;
  const Status status = look_inside(cluster, [&gangs](Embedded& embedded) {
    const std::vector<Event> events = embedded.events().ring().snapshot();
    const cluster::PlanNames plans(embedded, events);
    for (const Event& event : plans.gang_by_gang(events)) {
      if (event.kind != EventKind::kGangEnd) continue;
      events::GangLabel label = plans.label(event);
      gangs.push_back({.island = event.island,
                       .devices = std::move(label.devices),
                       .function = std::move(label.name),
                       .program = std::move(label.program),
                       .tenant = embedded.controller().tenant_name(event.tenant),
                       .run = plans.run_of(event.stamp),
                       .stamp = event.stamp,
                       .position = event.position,
                       .begin_ns = event.value,
                       .end_ns = event.time_ns});
    }
  });
  if (!status.ok()) return status;
  return gangs;
}

Result<std::string> chrome_trace(const Cluster& cluster) {
  std::string text;
  const Status status =
      look_inside(cluster, [&text](Embedded& embedded) { text = cluster::trace_of(embedded); });
  if (!status.ok()) return status;
  return text;
}

}  // namespace seaway
