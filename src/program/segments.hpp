// Segments: which nodes are launched together as one run, and which arrays go between them.

#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "program/lowering.hpp"

namespace seaway::program {

/// All values of a program by one flat number: its parameters, then the outputs of its nodes.
class FlatValues {
 public:
  explicit FlatValues(const ProgramGraph& graph);

  std::uint32_t of(ValueRef ref) const {
    return ref.node == ValueRef::kParameter ? ref.output : first_[ref.node] + ref.output;
  }
  std::uint32_t count() const { return count_; }

 private:
  std::vector<std::uint32_t> first_;
  std::uint32_t count_ = 0;
};

struct SegmentNodes {
  std::vector<std::uint32_t> nodes;      // Rising.
  std::vector<std::uint32_t> waits_for;  // As in Segment.
  bool waits_for_finish = false;
  std::vector<std::uint32_t> program_outputs;  // Made here, or parameters passed through.
};

/// How a program falls into segments. Lists by flat value have kNone where there is nothing.
struct Segmentation {
  std::vector<SegmentNodes> segments;
  std::vector<std::uint32_t> segment_of;      // By node.
  std::vector<std::uint32_t> intermediate;    // By flat value: its number, if it is one.
  std::vector<std::uint32_t> program_output;  // By flat value: the first output that it is.
  std::vector<std::uint32_t> last_segment;    // By flat value: the one certain to read it last.
  std::uint32_t intermediates = 0;
};

/// Regular, parallel: one segment. Irregular nodes: nodes that wait for the same irregular ones
/// share a segment, so that exactly their successors wait. Sequential: one per node.
/// Requires a valid graph. kInvalidArgument above kIrregularNodesMax.
Result<Segmentation> split_into_segments(const ProgramGraph& graph, const FlatValues& flat,
                                         const std::map<FunctionId, FunctionInfo>& functions);

}  // namespace seaway::program
