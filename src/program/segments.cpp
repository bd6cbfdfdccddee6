// Splitting a program at its irregular nodes.

#include "program/segments.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace seaway::program {
namespace {

/// A set of irregular nodes, one bit each, in program order.
using Bits = std::vector<std::uint64_t>;

bool is_subset(const Bits& inner, const Bits& outer) {
  for (std::size_t i = 0; i < inner.size(); ++i) {
    if ((inner[i] & ~outer[i]) != 0) return false;
  }
  return true;
}

int size_of(const Bits& bits) {
  int size = 0;
  for (const std::uint64_t word : bits) size += std::popcount(word);
  return size;
}

/// Gives each node the set of irregular nodes that it depends on; equal sets are one segment.
class Splitter {
 public:
  Splitter(const ProgramGraph& graph, std::vector<std::uint32_t> irregular_index,
           std::size_t irregular_nodes)
      : graph_(graph), irregular_(std::move(irregular_index)), words_((irregular_nodes + 63) / 64) {
    key_of_.reserve(graph.nodes.size());
  }

  void run(Segmentation& out) {
    intern(Bits(words_));
    for (const Node& node : graph_.nodes) key_of_.push_back(key_of(node));
    order_keys();
    out.segments.resize(std::max<std::size_t>(sets_.size(), 1));
    for (std::uint32_t n = 0; n < graph_.nodes.size(); ++n) {
      out.segment_of.push_back(rank_[key_of_[n]]);
      out.segments[out.segment_of[n]].nodes.push_back(n);
    }
    for (std::size_t key = 0; key < sets_.size(); ++key) {
      out.segments[rank_[key]].waits_for_finish = size_of(sets_[key]) > 0;
    }
  }

  /// True when whatever `first` waits for, `second` waits for too. By segment.
  bool is_ordered(std::uint32_t first, std::uint32_t second) const {
    return is_subset(sets_[key_at_[first]], sets_[key_at_[second]]);
  }

 private:
  std::uint32_t intern(Bits bits) {
    const auto next = static_cast<std::uint32_t>(sets_.size());
    const auto [it, is_new] = index_.try_emplace(bits, next);
    if (is_new) sets_.push_back(std::move(bits));
    return it->second;
  }

  std::uint32_t key_of(const Node& node) {
    std::uint32_t key = 0;
    for (const ValueRef ref : node.operands) {
      if (ref.node == ValueRef::kParameter) continue;
      const std::uint32_t other = key_of_[ref.node];
      const std::uint32_t bit = irregular_[ref.node];
      const bool has_bit = bit == kNone || (sets_[key][bit / 64] >> (bit % 64) & 1) != 0;
      if (has_bit && (other == key || other == 0)) continue;
      Bits bits = sets_[key];
      for (std::size_t i = 0; i < bits.size(); ++i) bits[i] |= sets_[other][i];
      if (bit != kNone) bits[bit / 64] |= std::uint64_t{1} << (bit % 64);
      key = intern(std::move(bits));
    }
    return key;
  }

  /// A segment comes behind those whose sets its own contains; the first one depends on nothing
  /// and stands first even without nodes of its own.
  void order_keys() {
    key_at_.resize(sets_.size());
    std::iota(key_at_.begin(), key_at_.end(), 0);
    std::stable_sort(key_at_.begin(), key_at_.end(), [this](std::uint32_t a, std::uint32_t b) {
      return size_of(sets_[a]) < size_of(sets_[b]);
    });
    // Unions of several operands are interned on the way to the last one: drop unused ones.
    std::vector<bool> is_used(sets_.size(), false);
    for (const std::uint32_t key : key_of_) is_used[key] = true;
    is_used[0] = true;
    std::erase_if(key_at_, [&is_used](std::uint32_t key) { return !is_used[key]; });
    rank_.assign(sets_.size(), 0);
    std::vector<Bits> kept;
    for (std::uint32_t i = 0; i < key_at_.size(); ++i) {
      rank_[key_at_[i]] = i;
      kept.push_back(std::move(sets_[key_at_[i]]));
      key_at_[i] = i;
    }
    for (std::uint32_t& key : key_of_) key = rank_[key];
    sets_ = std::move(kept);
    rank_.resize(sets_.size());
    std::iota(rank_.begin(), rank_.end(), 0);
  }

  const ProgramGraph& graph_;
  std::vector<std::uint32_t> irregular_;  // By node: its bit, or kNone.
  std::size_t words_;
  std::vector<Bits> sets_;
  std::map<Bits, std::uint32_t> index_;
  std::vector<std::uint32_t> key_of_;  // By node: index into sets_.
  std::vector<std::uint32_t> key_at_, rank_;
};

/// Finds arrays that go from one segment to a later one, and their last readers.
template <class IsOrdered>
void find_crossings(const ProgramGraph& graph, const FlatValues& flat, IsOrdered&& is_ordered,
                    Segmentation& out) {
  std::vector<bool> is_uncertain(flat.count(), false);
  for (std::uint32_t s = 0; s < out.segments.size(); ++s) {
    for (const std::uint32_t n : out.segments[s].nodes) {
      for (const ValueRef ref : graph.nodes[n].operands) {
        const bool is_parameter = ref.node == ValueRef::kParameter;
        if (!is_parameter && out.segment_of[ref.node] == s) continue;
        const std::uint32_t value = flat.of(ref);
        if (!is_parameter && out.program_output[value] == kNone &&
            out.intermediate[value] == kNone) {
          out.intermediate[value] = out.intermediates++;
        }
        std::uint32_t& last = out.last_segment[value];
        if (last != kNone && last != s && !is_ordered(last, s)) is_uncertain[value] = true;
        last = s;
      }
    }
    for (const std::uint32_t output : out.segments[s].program_outputs) {
      const ValueRef ref = graph.outputs[output];
      if (ref.node != ValueRef::kParameter) continue;
      std::uint32_t& last = out.last_segment[flat.of(ref)];
      if (last != kNone && last != s && !is_ordered(last, s)) is_uncertain[flat.of(ref)] = true;
      last = s;
    }
  }
  for (std::uint32_t value = 0; value < flat.count(); ++value) {
    if (is_uncertain[value]) out.last_segment[value] = kNone;
  }
}

void find_waits(const ProgramGraph& graph, const std::vector<std::uint32_t>& irregular,
                Segmentation& out) {
  for (std::uint32_t s = 0; s < out.segments.size(); ++s) {
    SegmentNodes& segment = out.segments[s];
    for (const std::uint32_t n : segment.nodes) {
      for (const ValueRef ref : graph.nodes[n].operands) {
        if (ref.node == ValueRef::kParameter || irregular[ref.node] == kNone) continue;
        segment.waits_for.push_back(out.segment_of[ref.node]);
      }
    }
    std::sort(segment.waits_for.begin(), segment.waits_for.end());
    segment.waits_for.erase(std::unique(segment.waits_for.begin(), segment.waits_for.end()),
                            segment.waits_for.end());
    if (!segment.waits_for.empty()) segment.waits_for_finish = true;
  }
}

void place_program_outputs(const ProgramGraph& graph, const FlatValues& flat, Segmentation& out) {
  for (std::uint32_t i = 0; i < graph.outputs.size(); ++i) {
    const ValueRef ref = graph.outputs[i];
    const std::uint32_t segment = ref.node == ValueRef::kParameter ? 0 : out.segment_of[ref.node];
    out.segments[segment].program_outputs.push_back(i);
    std::uint32_t& first = out.program_output[flat.of(ref)];
    if (first == kNone) first = i;
  }
}

}  // namespace

FlatValues::FlatValues(const ProgramGraph& graph)
    : count_(static_cast<std::uint32_t>(graph.parameters.size())) {
  first_.reserve(graph.nodes.size());
  for (const Node& node : graph.nodes) {
    first_.push_back(count_);
    count_ += static_cast<std::uint32_t>(node.outputs.size());
  }
}

Result<Segmentation> split_into_segments(const ProgramGraph& graph, const FlatValues& flat,
                                         const std::map<FunctionId, FunctionInfo>& functions) {
  std::vector<std::uint32_t> irregular(graph.nodes.size(), kNone);
  std::uint32_t irregular_nodes = 0;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    if (functions.at(graph.nodes[n].function).irregular) irregular[n] = irregular_nodes++;
  }
  Segmentation out;
  out.intermediate.assign(flat.count(), kNone);
  out.program_output.assign(flat.count(), kNone);
  out.last_segment.assign(flat.count(), kNone);
  if (graph.dispatch == Dispatch::kSequential) {
    out.segments.resize(std::max<std::size_t>(graph.nodes.size(), 1));
    for (std::uint32_t n = 0; n < graph.nodes.size(); ++n) {
      out.segment_of.push_back(n);
      out.segments[n].nodes.push_back(n);
    }
    place_program_outputs(graph, flat, out);
    find_crossings(
        graph, flat, [](std::uint32_t, std::uint32_t) { return true; }, out);
  } else {
    if (irregular_nodes > kIrregularNodesMax) {
      return invalid_argument("program \"" + graph.name + "\" has " +
                              std::to_string(irregular_nodes) + " irregular nodes; the limit is " +
                              std::to_string(kIrregularNodesMax) + ", split the program");
    }
    Splitter splitter(graph, irregular, irregular_nodes);
    splitter.run(out);
    place_program_outputs(graph, flat, out);
    find_crossings(
        graph, flat,
        [&splitter](std::uint32_t a, std::uint32_t b) { return splitter.is_ordered(a, b); }, out);
  }
  find_waits(graph, irregular, out);
  return out;
}

}  // namespace seaway::program
