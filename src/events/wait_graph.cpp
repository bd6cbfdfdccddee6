// Cycles, chains to the root cause, and the sentences that say them.

#include "events/wait_graph.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace seaway::events {
namespace {

constexpr WaitGraph::Node kNobody = 0xffffffff;

std::string escaped(std::string_view text) {
  std::string out;
  for (const char character : text) {
    if (character == '"' || character == '\\') out += '\\';
    out += character == '\n' ? ' ' : character;
  }
  return out;
}

}  // namespace

std::string_view to_string(WaitKind kind) {
  constexpr std::string_view kNames[] = {"run", "gang", "device", "memory", "transfer", "upload"};
  const auto index = static_cast<std::size_t>(kind);
  return index < std::size(kNames) ? kNames[index] : "unknown";
}

WaitGraph::Node WaitGraph::node(WaitKind kind, std::string label) {
  const auto [found, is_new] = index_.try_emplace({kind, label}, static_cast<Node>(nodes_.size()));
  if (is_new) nodes_.push_back({kind, std::move(label), {}});
  return found->second;
}

void WaitGraph::add_edge(Node from, Node to, std::string reason) {
  SEAWAY_CHECK(from < nodes_.size() && to < nodes_.size(), from, to, nodes_.size());
  nodes_[from].edges.push_back({to, std::move(reason)});
}

std::vector<WaitGraph::Node> WaitGraph::walk(const std::vector<Node>& starts,
                                             std::vector<Step>* cycle) const {
  enum class Mark : std::uint8_t { kUnseen, kOnPath, kLeft };
  struct Visit {
    Node node;
    std::size_t next_edge;
  };
  std::vector<Mark> marks(nodes_.size(), Mark::kUnseen);
  std::vector<Node> left;
  std::vector<Visit> path;  // An explicit stack: chains may be longer than the thread's stack.
  for (const Node start : starts) {
    if (marks[start] != Mark::kUnseen) continue;
    marks[start] = Mark::kOnPath;
    path.push_back({start, 0});
    while (!path.empty()) {
      Visit& visit = path.back();
      const auto& edges = nodes_[visit.node].edges;
      if (visit.next_edge == edges.size()) {
        marks[visit.node] = Mark::kLeft;
        left.push_back(visit.node);
        path.pop_back();
        continue;
      }
      const Node to = edges[visit.next_edge++].to;
      if (marks[to] == Mark::kUnseen) {
        marks[to] = Mark::kOnPath;
        path.push_back({to, 0});
      } else if (marks[to] == Mark::kOnPath && cycle && cycle->empty()) {
        auto first = std::find_if(path.begin(), path.end(),
                                  [to](const Visit& on_path) { return on_path.node == to; });
        for (; first != path.end(); ++first) {
          cycle->push_back({first->node, nodes_[first->node].edges[first->next_edge - 1].reason});
        }
      }
    }
  }
  return left;
}

std::vector<WaitGraph::Step> WaitGraph::find_cycle() const {
  std::vector<Node> all(nodes_.size());
  for (Node node = 0; node < all.size(); ++node) all[node] = node;
  std::vector<Step> cycle;
  walk(all, &cycle);
  const auto first = std::min_element(cycle.begin(), cycle.end(),
                                      [](const Step& a, const Step& b) { return a.node < b.node; });
  std::rotate(cycle.begin(), first, cycle.end());
  return cycle;
}

std::vector<WaitGraph::Step> WaitGraph::chain_from(Node start) const {
  SEAWAY_CHECK(start < nodes_.size(), start, nodes_.size());
  std::vector<Step> cycle;
  const std::vector<Node> leaving_order = walk({start}, &cycle);
  return cycle.empty() ? longest_chain(start, leaving_order) : chain_into_cycle(start, cycle);
}

std::vector<WaitGraph::Step> WaitGraph::chain_into_cycle(Node start,
                                                         const std::vector<Step>& cycle) const {
  const auto place_in_cycle = [&](Node node) {
    return std::find_if(cycle.begin(), cycle.end(),
                        [node](const Step& step) { return step.node == node; });
  };
  std::vector<bool> is_in_cycle(nodes_.size(), false);
  for (const Step& step : cycle) is_in_cycle[step.node] = true;
  // Breadth first from `start`, remembering where each node was reached from.
  struct Origin {
    Node node = kNobody;
    const std::string* reason = nullptr;
  };
  std::vector<Origin> origins(nodes_.size());
  std::vector<Node> queue = {start};
  origins[start].node = start;
  Node entry = is_in_cycle[start] ? start : kNobody;
  for (std::size_t next = 0; entry == kNobody && next < queue.size(); ++next) {
    for (const Edge& edge : nodes_[queue[next]].edges) {
      if (origins[edge.to].node != kNobody) continue;
      origins[edge.to] = {queue[next], &edge.reason};
      queue.push_back(edge.to);
      if (is_in_cycle[edge.to]) {
        entry = edge.to;
        break;
      }
    }
  }
  SEAWAY_CHECK(entry != kNobody, start);  // The walk that found the cycle began at `start`.
  std::vector<Step> chain;
  for (Node node = entry; node != start; node = origins[node].node) {
    chain.push_back({origins[node].node, *origins[node].reason});
  }
  std::reverse(chain.begin(), chain.end());
  auto around = place_in_cycle(entry);
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    chain.push_back(*around);
    if (++around == cycle.end()) around = cycle.begin();
  }
  chain.push_back({entry, ""});
  return chain;
}

std::vector<WaitGraph::Step> WaitGraph::longest_chain(
    Node start, const std::vector<Node>& leaving_order) const {
  // A node is left after all that it waits for, so its own depth follows from theirs.
  std::vector<std::uint32_t> depth(nodes_.size(), 0);
  std::vector<const Edge*> deepest(nodes_.size(), nullptr);
  for (const Node node : leaving_order) {
    for (const Edge& edge : nodes_[node].edges) {
      if (depth[edge.to] + 1 <= depth[node]) continue;
      depth[node] = depth[edge.to] + 1;
      deepest[node] = &edge;
    }
  }
  std::vector<Step> chain;
  Node node = start;
  for (; deepest[node]; node = deepest[node]->to) chain.push_back({node, deepest[node]->reason});
  chain.push_back({node, ""});
  return chain;
}

std::vector<std::string> WaitGraph::labels(const std::vector<Step>& path) const {
  std::vector<std::string> labels;
  for (const Step& step : path) labels.push_back(label(step.node));
  return labels;
}

std::string WaitGraph::name(Node node) const {
  return std::string(to_string(kind(node))) + " " + label(node);
}

std::string WaitGraph::lines(const std::vector<Step>& path, Node last_for) const {
  std::string text;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const Node next = i + 1 < path.size() ? path[i + 1].node : last_for;
    if (next == kNobody) break;
    text += "  " + name(path[i].node) + " waits for " + name(next);
    if (!path[i].reason.empty()) text += ": " + path[i].reason;
    text += '\n';
  }
  return text;
}

std::string WaitGraph::explain(Node start) const {
  const std::vector<Step> chain = chain_from(start);
  if (chain.size() == 1) return name(start) + " waits for nothing\n";
  const Node last = chain.back().node;
  const bool is_deadlock = std::count_if(chain.begin(), chain.end(), [last](const Step& step) {
                             return step.node == last;
                           }) > 1;
  std::string text = "why " + name(start) + " waits:\n" + lines(chain, kNobody);
  text += is_deadlock ? "deadlock: " + name(last) + " waits for itself through the lines above\n"
                      : "root cause: " + name(last) + "\n";
  return text;
}

std::string WaitGraph::explain() const {
  const std::vector<Step> cycle = find_cycle();
  if (cycle.empty()) return "no deadlock: nothing waits for itself\n";
  return "deadlock: " + std::to_string(cycle.size()) + " wait in a circle:\n" +
         lines(cycle, cycle.front().node);
}

std::string WaitGraph::to_dot() const {
  const std::vector<Step> cycle = find_cycle();
  std::vector<Node> red_target(nodes_.size(), kNobody);
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    red_target[cycle[i].node] = cycle[(i + 1) % cycle.size()].node;
  }
  std::string text = "digraph waits {\n";
  for (Node node = 0; node < nodes_.size(); ++node) {
    text += "  n" + std::to_string(node) + " [label=\"" + escaped(name(node)) + "\"];\n";
  }
  for (Node node = 0; node < nodes_.size(); ++node) {
    for (const Edge& edge : nodes_[node].edges) {
      text += "  n" + std::to_string(node) + " -> n" + std::to_string(edge.to) + " [label=\"" +
              escaped(edge.reason) + "\"" + (red_target[node] == edge.to ? ", color=red" : "") +
              "];\n";
    }
  }
  return text + "}\n";
}

}  // namespace seaway::events
