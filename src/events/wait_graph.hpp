// WaitGraph: who waits for whom and why; the one answer behind `why`, the deadlock demo and the
// simulator's checkers.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace seaway::events {

enum class WaitKind : std::uint8_t { kRun, kGang, kDevice, kMemory, kTransfer, kUpload };
/// "run", "gang", "device", "memory", "transfer", "upload".
std::string_view to_string(WaitKind kind);

/// A snapshot of waiting. A value; built once, asked, thrown away. Equal calls in equal order give
/// equal answers: no answer depends on addresses or hashes.
class WaitGraph {
 public:
  using Node = std::uint32_t;

  /// One step of a chain: `node` waits, for `reason`, for the node of the next step. The last step
  /// of a chain that ends at a root has no reason; in a cycle the last waits for the first.
  struct Step {
    Node node = 0;
    std::string reason;

    friend bool operator==(const Step&, const Step&) = default;
  };

  /// The node with this kind and label; made at the first call.
  Node node(WaitKind kind, std::string label);
  /// `from` waits for `to`; `reason` completes the sentence "from waits for to: reason".
  void add_edge(Node from, Node to, std::string reason);

  std::size_t size() const { return nodes_.size(); }
  const std::string& label(Node node) const { return nodes_[node].label; }
  WaitKind kind(Node node) const { return nodes_[node].kind; }

  /// A cycle, beginning at its node that was made first; empty if nothing waits for itself.
  /// Deterministic. O(nodes + edges).
  std::vector<Step> find_cycle() const;
  /// From `start` to its root cause. If a cycle can be reached, the chain leads into it by the
  /// fewest steps and once around, so its last step's node is seen twice. Otherwise it is the
  /// longest chain, which ends at a node that waits for nothing: what frees `start` last.
  std::vector<Step> chain_from(Node start) const;

  /// The labels of a path, in order.
  std::vector<std::string> labels(const std::vector<Step>& path) const;
  /// Several lines for people: the chain from `start`, and whether it ends in a deadlock.
  std::string explain(Node start) const;
  /// The same for the whole graph: its cycle, or that there is none.
  std::string explain() const;
  /// Graphviz; edges of the cycle that find_cycle() names are red.
  std::string to_dot() const;

 private:
  struct Edge {
    Node to = 0;
    std::string reason;
  };
  struct NodeData {
    WaitKind kind = WaitKind::kRun;
    std::string label;
    std::vector<Edge> edges;  // As added.
  };

  /// Nodes in the order in which a depth-first walk from `starts` leaves them; `cycle` gets the
  /// first cycle found, unless it is null.
  std::vector<Node> walk(const std::vector<Node>& starts, std::vector<Step>* cycle) const;
  std::vector<Step> chain_into_cycle(Node start, const std::vector<Step>& cycle) const;
  std::vector<Step> longest_chain(Node start, const std::vector<Node>& leaving_order) const;
  std::string lines(const std::vector<Step>& path, Node last_for) const;
  std::string name(Node node) const;

  std::vector<NodeData> nodes_;
  std::map<std::pair<WaitKind, std::string>, Node> index_;
};

}  // namespace seaway::events
