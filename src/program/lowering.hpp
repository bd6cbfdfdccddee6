// Lowering: from a captured program and the binding of its slices to one PartPlan per island.

#pragma once

#include <functional>
#include <map>
#include <vector>

#include "program/part_plan.hpp"
#include "program/program_graph.hpp"
#include "seaway/status.hpp"

namespace seaway::program {

/// The physical devices of one slice: virtual device i is devices[i] of `island`.
struct Binding {
  IslandId island = 0;
  std::vector<DeviceId> devices;
};

/// Where the devices of `mesh` are, whose slice is bound so. Requires mesh.fits().
Binding part_of(const Binding& slice, const Mesh& mesh);

/// Where an argument of a segment's run comes from, or where its output goes.
struct SegmentArray {
  enum class Kind : std::uint8_t {
    kProgram,        // Parameter / output `index` of the program.
    kIntermediate,   // Array `index` that only segments of this program's run see.
    kProgramOutput,  // Only of an argument: output `index` of the program, which an earlier segment
                     // leaves; never donated.
  };
  Kind kind = Kind::kProgram;
  std::uint32_t index = 0;
  ArraySpec spec;
  /// For an argument: this segment is the last reader, so an intermediate may be donated/freed.
  /// When readers wait for different irregular nodes, no segment is certain to be the last one:
  /// then none has last_use, and the array is freed when all segments have finished.
  bool last_use = false;
};

/// What is launched as one run with one stamp. A regular program in parallel dispatch has one
/// segment; an irregular node ends one; sequential dispatch makes one per node.
struct Segment {
  std::vector<PartPlan> parts;  // One per island that it touches; ids not yet chosen.
  std::vector<SegmentArray> args, outputs;
  /// True when a node of this segment depends on an irregular one: then it is launched when all
  /// of `waits_for` have finished. Otherwise it is enough that the one before is enqueued.
  bool waits_for_finish = false;
  /// Earlier segments with an irregular node that this one reads directly; rising. Those that it
  /// reads indirectly have finished by then. Launch what is free to go in index order.
  std::vector<std::uint32_t> waits_for;
  std::vector<std::uint32_t> nodes;  // Program nodes it runs.
};

struct LoweredProgram {
  std::vector<Segment> segments;
  std::uint32_t intermediates = 0;
  /// Largest room that a device needs at once for the block and outputs of a part, without its
  /// arguments; for demos and messages.
  std::uint64_t peak_bytes = 0;
};

/// Most irregular nodes that one program may have.
constexpr std::size_t kIrregularNodesMax = 1024;

/// Lowers `graph`. Pure; deterministic. O(nodes + edges), whatever the shard count but for the
/// device lists. Edges between islands become a Send here and a Receive there.
/// Errors: kInvalidArgument naming the node, its site and what does not fit.
Result<LoweredProgram> lower(const ProgramGraph& graph,
                             const std::map<FunctionId, FunctionInfo>& functions,
                             const std::map<SliceId, Binding>& bindings);

}  // namespace seaway::program
