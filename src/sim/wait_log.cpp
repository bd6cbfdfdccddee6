// The state that the events come to, and the graph of it.

#include "sim/wait_log.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "sim/narrative.hpp"

namespace seaway::sim {
namespace {

using events::Event;
using events::EventKind;
using events::WaitGraph;
using events::WaitKind;

std::string text(std::uint64_t number) { return std::to_string(number); }

/// One part that has not finished.
struct OpenPart {
  RunId run = 0;
  bool is_admitted = false;
  std::map<std::uint32_t, std::uint64_t> places;  // In the island's order, by index in the part.
  std::set<std::uint32_t> started, ended;         // Positions in the program.
};

using PartKey = std::pair<IslandId, Stamp>;
using EdgeKey = std::tuple<IslandId, Stamp, std::uint32_t>;  // Of the island that has seen it.

/// What the events come to.
struct State {
  std::map<RunId, Stamp> runs;  // Without an outcome; 0: without a stamp.
  std::map<PartKey, OpenPart> parts;
  std::set<EdgeKey> sent, received;
  std::map<IslandId, std::uint64_t> order_size;

  explicit State(const std::vector<Event>& events) {
    for (const Event& event : events) add(event);
  }
  void add(const Event& event) {
    const PartKey key{event.island, event.stamp};
    switch (event.kind) {
      case EventKind::kSubmit:
        runs[event.object] = 0;
        return;
      case EventKind::kResolve:
        runs.erase(event.object);
        return;
      case EventKind::kStamp:
        if (const auto run = runs.find(event.object); run != runs.end()) run->second = event.stamp;
        return;
      case EventKind::kLaunch:
        parts[key].run = event.object;
        return;
      case EventKind::kFinished:
        parts.erase(key);
        return;
      case EventKind::kSend:
        sent.emplace(event.island, event.stamp, event.position);
        return;
      case EventKind::kReceive:
        received.emplace(event.island, event.stamp, event.position);
        return;
      default:
        if (const auto part = parts.find(key); part != parts.end()) add(event, part->second);
    }
  }
  void add(const Event& event, OpenPart& part) {
    switch (event.kind) {
      case EventKind::kAdmit:
        part.is_admitted = true;
        return;
      case EventKind::kPlace:
        for (std::uint32_t index = event.position; index < event.value; ++index) {
          part.places[index] = ++order_size[event.island];
        }
        return;
      case EventKind::kGangStart:
        part.started.insert(event.position);
        return;
      case EventKind::kGangEnd:
      case EventKind::kGangNoop:
      case EventKind::kGangGivenUp:
        part.ended.insert(event.position);
        return;
      default:
        return;
    }
  }
};

bool share_a_device(const std::vector<DeviceId>& a, const std::vector<DeviceId>& b) {
  return std::any_of(a.begin(), a.end(), [&b](DeviceId device) {
    return std::find(b.begin(), b.end(), device) != b.end();
  });
}

/// Draws the graph of one state.
class Drawing {
 public:
  Drawing(const State& state, const Surroundings& surroundings)
      : state_(state), surroundings_(surroundings) {}

  WaitGraph draw() {
    for (const auto& [run, stamp] : state_.runs) draw_run(run, stamp);
    for (const auto& [key, part] : state_.parts) draw_part(key, part);
    return std::move(graph_);
  }

 private:
  const program::PartPlan* plan_of(const PartKey& key) const {
    return surroundings_.part_of(key.first, key.second).plan;
  }
  WaitGraph::Node node_of_gang(const PartKey& key, std::uint32_t position) {
    return graph_.node(WaitKind::kGang, text(position) + " of stamp " + text(key.second) +
                                            " on island " + text(key.first));
  }
  /// The part's first gang that has not ended; kNone when all have.
  static std::uint32_t first_open(const program::PartPlan& plan, const OpenPart& part) {
    for (std::uint32_t index = 0; index < plan.gangs.size(); ++index) {
      if (!part.ended.contains(plan.gangs[index].position)) return index;
    }
    return program::kNone;
  }
  /// All devices that a part runs on.
  static std::vector<DeviceId> all_devices(const program::PartPlan& plan) {
    std::vector<DeviceId> devices;
    for (const program::DeviceGroup& group : plan.groups) {
      devices.insert(devices.end(), group.devices.begin(), group.devices.end());
    }
    return devices;
  }

  void draw_run(RunId run, Stamp stamp) {
    const WaitGraph::Node node = graph_.node(WaitKind::kRun, text(run));
    for (const auto& [key, part] : state_.parts) {
      if (part.run != run) continue;
      const program::PartPlan* const plan = plan_of(key);
      const std::uint32_t open = plan == nullptr ? program::kNone : first_open(*plan, part);
      if (open == program::kNone) continue;
      graph_.add_edge(node, node_of_gang(key, plan->gangs[open].position), "it has not ended");
    }
    for (const auto& [other, earlier] : state_.runs) {
      // Stamps are given in order, within a window: who has none waits for those who have.
      if (stamp != 0 || earlier == 0) continue;
      graph_.add_edge(node, graph_.node(WaitKind::kRun, text(other)),
                      "it has no stamp, and runs with one are under way");
      break;
    }
  }

  void draw_part(const PartKey& key, const OpenPart& part) {
    const program::PartPlan* const plan = plan_of(key);
    if (plan == nullptr) return;
    for (std::uint32_t index = 0; index < plan->gangs.size(); ++index) {
      const std::uint32_t position = plan->gangs[index].position;
      if (part.ended.contains(position)) continue;
      const WaitGraph::Node gang = node_of_gang(key, position);
      if (part.started.contains(position)) {
        draw_running(key, *plan, index, gang);
        continue;
      }
      if (!part.is_admitted) {
        draw_no_room(key, *plan, gang);
      } else if (const auto place = part.places.find(index); place != part.places.end()) {
        draw_placed(key, *plan, index, gang, place->second);
      } else if (index > 0 && !part.ended.contains(plan->gangs[index - 1].position)) {
        graph_.add_edge(gang, node_of_gang(key, plan->gangs[index - 1].position),
                        "gangs of a part are placed in their order");
      }
      draw_inputs(key, *plan, index, gang);
    }
  }

  void draw_running(const PartKey& key, const program::PartPlan& plan, std::uint32_t index,
                    WaitGraph::Node gang) {
    std::string devices;
    for (const DeviceId device : devices_of(plan, index)) {
      devices += (devices.empty() ? "" : "+") + text(device);
    }
    graph_.add_edge(gang, graph_.node(WaitKind::kDevice, devices + " of island " + text(key.first)),
                    "it runs there and has not ended");
  }

  /// A part without room waits for parts that have room on its devices, and for earlier ones that
  /// wait for it.
  void draw_no_room(const PartKey& key, const program::PartPlan& plan, WaitGraph::Node gang) {
    const WaitGraph::Node room = graph_.node(
        WaitKind::kMemory, "for stamp " + text(key.second) + " on island " + text(key.first));
    graph_.add_edge(gang, room, "its part is not admitted");
    if (!drawn_rooms_.insert(key).second) return;
    for (const auto& [other, holder] : state_.parts) {
      if (other.first != key.first || other == key) continue;
      if (!holder.is_admitted && other.second > key.second) continue;
      const program::PartPlan* const theirs = plan_of(other);
      const std::uint32_t open = theirs == nullptr ? program::kNone : first_open(*theirs, holder);
      if (open == program::kNone || !share_a_device(all_devices(plan), all_devices(*theirs))) {
        continue;
      }
      graph_.add_edge(room, node_of_gang(other, theirs->gangs[open].position),
                      holder.is_admitted ? "its part has room on the same devices"
                                         : "its part is earlier, and waits for room itself");
    }
  }

  /// A placed gang waits for the nearest one before it in the order on each of its devices.
  void draw_placed(const PartKey& key, const program::PartPlan& plan, std::uint32_t index,
                   WaitGraph::Node gang, std::uint64_t place) {
    for (const DeviceId device : devices_of(plan, index)) {
      std::uint64_t nearest = 0;
      WaitGraph::Node ahead = 0;
      for (const auto& [other, part] : state_.parts) {
        if (other.first != key.first) continue;
        const program::PartPlan* const theirs = plan_of(other);
        if (theirs == nullptr) continue;
        for (const auto& [their_index, their_place] : part.places) {
          if (their_place >= place || their_place <= nearest) continue;
          if (their_index >= theirs->gangs.size()) continue;
          const std::uint32_t position = theirs->gangs[their_index].position;
          if (part.ended.contains(position)) continue;
          if (!share_a_device({device}, devices_of(*theirs, their_index))) continue;
          nearest = their_place;
          ahead = node_of_gang(other, position);
        }
      }
      if (nearest > 0) {
        graph_.add_edge(gang, ahead, "it stands before it in the order of device " + text(device));
      }
    }
  }

  void draw_inputs(const PartKey& key, const program::PartPlan& plan, std::uint32_t index,
                   WaitGraph::Node gang) {
    for (const std::uint32_t value : plan.gangs[index].operands) {
      for (const program::Receive& receive : plan.receives) {
        if (receive.value != value) continue;
        if (state_.received.contains({key.first, key.second, receive.edge})) continue;
        draw_edge(key, receive, gang);
      }
      if (plan.values[value].place == program::Value::Place::kArg) {
        draw_array(key, plan.values[value].index, gang);
      }
    }
  }

  void draw_edge(const PartKey& key, const program::Receive& receive, WaitGraph::Node gang) {
    const WaitGraph::Node transfer =
        graph_.node(WaitKind::kTransfer, "of edge " + text(receive.edge) + " of stamp " +
                                             text(key.second) + " from island " +
                                             text(receive.peer) + " to island " + text(key.first));
    graph_.add_edge(gang, transfer, "it reads what arrives there");
    const PartKey peer{receive.peer, key.second};
    if (state_.sent.contains({receive.peer, key.second, receive.edge})) return;
    const auto part = state_.parts.find(peer);
    const program::PartPlan* const plan = part == state_.parts.end() ? nullptr : plan_of(peer);
    if (plan == nullptr) return;
    for (const program::Send& send : plan->sends) {
      if (send.edge != receive.edge || send.gang >= plan->gangs.size()) continue;
      const std::uint32_t position = plan->gangs[send.gang].position;
      if (part->second.ended.contains(position)) continue;
      graph_.add_edge(transfer, node_of_gang(peer, position), "it makes what is to be sent");
    }
  }

  /// An argument that another run on this island makes.
  void draw_array(const PartKey& key, std::uint32_t index, WaitGraph::Node gang) {
    const PartFacts reader = surroundings_.part_of(key.first, key.second);
    if (reader.args == nullptr || index >= reader.args->size()) return;
    const ArrayId array = (*reader.args)[index];
    for (const auto& [other, part] : state_.parts) {
      if (other.first != key.first || other.second >= key.second) continue;
      const PartFacts maker = surroundings_.part_of(other.first, other.second);
      if (maker.plan == nullptr || maker.outputs == nullptr) continue;
      for (std::size_t i = 0; i < maker.outputs->size() && i < maker.plan->outputs.size(); ++i) {
        const std::uint32_t made_by = maker.plan->outputs[i].gang;
        if ((*maker.outputs)[i] != array || made_by >= maker.plan->gangs.size()) continue;
        const std::uint32_t position = maker.plan->gangs[made_by].position;
        if (part.ended.contains(position)) continue;
        graph_.add_edge(gang, node_of_gang(other, position), "it makes array " + text(array));
      }
    }
  }

  const State& state_;
  const Surroundings& surroundings_;
  WaitGraph graph_;
  std::set<PartKey> drawn_rooms_;
};

/// The first lines and the last one, which says how it ends.
std::string shortened(const std::string& lines, std::size_t lines_max) {
  const auto count = static_cast<std::size_t>(std::count(lines.begin(), lines.end(), '\n'));
  if (count <= lines_max) return lines;
  std::size_t kept = 0, end = 0;
  while (kept + 2 < lines_max) {
    end = lines.find('\n', end) + 1;
    ++kept;
  }
  const std::size_t last = lines.rfind('\n', lines.size() - 2) + 1;
  return lines.substr(0, end) + "  .. and " + text(count - kept - 1) + " lines more ..\n" +
         lines.substr(last);
}

}  // namespace

void WaitLog::record(const Event& event) {
  switch (event.kind) {
    case EventKind::kSubmit:
    case EventKind::kResolve:
    case EventKind::kStamp:
    case EventKind::kLaunch:
    case EventKind::kAdmit:
    case EventKind::kPlace:
    case EventKind::kGangStart:
    case EventKind::kGangEnd:
    case EventKind::kGangNoop:
    case EventKind::kGangGivenUp:
    case EventKind::kSend:
    case EventKind::kReceive:
    case EventKind::kFinished:
      if (events_.size() < kEventsMax) events_.push_back(event);
      return;
    default:
      return;
  }
}

WaitGraph WaitLog::graph(const Surroundings& surroundings) const {
  const State state(events_);
  return Drawing(state, surroundings).draw();
}

std::string WaitLog::explain(const Surroundings& surroundings,
                             std::span<const Violation> violations, std::size_t lines_max) const {
  const State state(events_);
  WaitGraph graph = Drawing(state, surroundings).draw();
  if (!graph.find_cycle().empty()) return shortened(graph.explain(), lines_max);
  if (state.runs.empty()) return "";
  RunId start = state.runs.begin()->first;
  for (const RunId named : concern_of(violations, events_).runs) {
    if (!state.runs.contains(named)) continue;
    start = named;
    break;
  }
  return shortened(graph.explain(graph.node(WaitKind::kRun, text(start))), lines_max);
}

}  // namespace seaway::sim
