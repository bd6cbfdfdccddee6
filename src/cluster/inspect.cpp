// Looking at an embedded cluster from outside: its counters, and its events with names.

#include "seaway/inspect.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <utility>

#include "cluster/cluster.hpp"
#include "events/trace_writer.hpp"

namespace seaway {
namespace {

using cluster::Embedded;
using events::Event;
using events::EventKind;
using events::GangKey;

/// Calls `look` on the control thread, where everything may be read, and waits for it.
Status look_inside(const Cluster& cluster, const std::function<void(Embedded&)>& look) {
  if (!cluster.state()) {
    return invalid_argument("this cluster was default-made; start one with Cluster::start");
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

/// Which plan each part ran, for as long as the events say so: names of gangs come from plans.
class Plans {
 public:
  Plans(Embedded& embedded, const std::vector<Event>& events) : embedded_(embedded) {
    for (const Event& event : events) {
      if (event.kind == EventKind::kStamp) runs_[event.stamp] = event.object;
      if (event.kind == EventKind::kPrepare) {
        plans_[{event.island, event.stamp}] = embedded.host(event.island).find_plan(event.object);
      }
    }
  }

  /// The part that `key` belongs to; null when it is not known any more.
  const program::PartPlan* part_of(const GangKey& key) const {
    const auto found = plans_.find({key.island, key.stamp});
    return found == plans_.end() ? nullptr : found->second;
  }

  RunId run_of(Stamp stamp) const {
    const auto found = runs_.find(stamp);
    return found == runs_.end() ? 0 : found->second;
  }

  events::GangLabel label(const Event& event) const {
    const GangKey key = {event.island, event.stamp, event.position};
    events::GangLabel label;
    const program::PartPlan* part = part_of(key);
    const program::Gang* gang = part ? find_gang(*part, event.position) : nullptr;
    if (!gang) return label;
    const controller::ControllerCore& controller = embedded_.controller();
    switch (gang->kind) {
      case program::Gang::Kind::kCompute:
        label.name = controller.function_name(gang->function);
        break;
      case program::Gang::Kind::kReshard:
        label.name = "reshard";
        break;
      case program::Gang::Kind::kSend:
        label.name = "send";
        break;
    }
    label.program = controller.program_name(part->program);
    label.node = gang->node;
    label.devices = part->groups[gang->group].devices;
    if (gang->source_group != program::kNone) {
      for (const DeviceId device : part->groups[gang->source_group].devices) {
        if (std::find(label.devices.begin(), label.devices.end(), device) == label.devices.end()) {
          label.devices.push_back(device);
        }
      }
    }
    for (const std::uint32_t operand : gang->operands) {
      add_producer(key, *part, operand, label.producers);
    }
    return label;
  }

 private:
  static const program::Gang* find_gang(const program::PartPlan& part, std::uint32_t position) {
    const auto found = std::lower_bound(
        part.gangs.begin(), part.gangs.end(), position,
        [](const program::Gang& gang, std::uint32_t wanted) { return gang.position < wanted; });
    return found != part.gangs.end() && found->position == position ? &*found : nullptr;
  }

  /// The gang that made `value` for the gang of `key`: in this part, or in another island's part of
  /// the same run. What an argument's producer was, only the client knows.
  void add_producer(const GangKey& key, const program::PartPlan& part, std::uint32_t value,
                    std::vector<GangKey>& producers) const {
    for (const program::Receive& receive : part.receives) {
      if (receive.value != value) continue;
      const program::PartPlan* peer = part_of({receive.peer, key.stamp, 0});
      if (!peer) return;
      for (const program::Send& send : peer->sends) {
        if (send.edge != receive.edge) continue;
        producers.push_back({receive.peer, key.stamp, peer->gangs[send.gang].position});
      }
      return;
    }
    const program::Gang* producer = nullptr;
    for (const program::Gang& gang : part.gangs) {
      if (gang.position >= key.position) break;
      if (std::find(gang.results.begin(), gang.results.end(), value) != gang.results.end()) {
        producer = &gang;
      }
    }
    if (producer) producers.push_back({key.island, key.stamp, producer->position});
  }

  Embedded& embedded_;
  std::map<std::pair<IslandId, Stamp>, const program::PartPlan*> plans_;
  std::map<Stamp, RunId> runs_;
};

/// The events with one kGangEnd for each gang: gangs that share a reading of the clock get equal
/// shares of its time.
std::vector<Event> gang_by_gang(const std::vector<Event>& events, const Plans& plans) {
  std::vector<Event> all;
  all.reserve(events.size());
  for (const Event& event : events) {
    if (event.kind != EventKind::kGangsEnd) {
      all.push_back(event);
      continue;
    }
    const program::PartPlan* part = plans.part_of({event.island, event.stamp, 0});
    if (!part) continue;
    const std::uint64_t count = event.object - event.position;
    const std::uint64_t time_ns = event.time_ns - std::min(event.value, event.time_ns);
    for (std::uint64_t i = 0; i < count; ++i) {
      Event gang = event;
      gang.kind = EventKind::kGangEnd;
      gang.object = plans.run_of(event.stamp);
      gang.position = part->gangs[event.position + i].position;
      gang.value = event.value + time_ns * i / count;
      gang.time_ns = event.value + time_ns * (i + 1) / count;
      all.push_back(gang);
    }
  }
  return all;
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
                               .budget_bytes = state.budget_bytes});
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
    const Plans plans(embedded, events);
    for (const Event& event : gang_by_gang(events, plans)) {
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
  const Status status = look_inside(cluster, [&text](Embedded& embedded) {
    const std::vector<Event> events = embedded.events().ring().snapshot();
    const Plans plans(embedded, events);
    events::TraceNames names;
    names.tenant = [&embedded](TenantId tenant) {
      return embedded.controller().tenant_name(tenant);
    };
    names.gang = [&plans](const Event& event) { return plans.label(event); };
    text = events::trace_to_string(gang_by_gang(events, plans), names);
  });
  if (!status.ok()) return status;
  return text;
}

}  // namespace seaway
