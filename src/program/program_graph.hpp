// ProgramGraph: a program as captured from C++: calls of functions on slices, and sharded edges.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "function/graph.hpp"
#include "seaway/sharding.hpp"
#include "seaway/status.hpp"
#include "seaway/types.hpp"

namespace seaway::program {

/// What lowering needs to know about a function; types are those of one shard.
struct FunctionInfo {
  FunctionId id = 0;
  std::string name;
  std::vector<TensorType> parameters, outputs;
  function::AxisSizes axes;  // Mesh axes that it was captured for; empty: any mesh.
  std::uint64_t scratch_bytes = 0;
  std::uint64_t cost_ns = 1000;
  bool idempotent = true;
  bool irregular = false;
  /// The outputs that may be written over an operand while the function runs, when that operand is
  /// donated; by rising output. Known once it is compiled.
  function::OutputOperandPairs in_place;
  /// Of a foreign function over several devices: how many. The types are those of shard 0, then of
  /// shard 1 and so on, and each value lies on the device of its shard alone. 0: of any shard.
  std::uint32_t shards = 0;
  std::vector<std::uint32_t> donated;  // Parameters whose memory its outputs may take.

  /// The shard of the mesh that parameter, or output, `index` of `count` lies on.
  std::uint32_t shard_of(std::size_t index, std::size_t count) const {
    return static_cast<std::uint32_t>(index * shards / count);
  }
};

/// What became of a foreign program when it was compiled.
struct ForeignCompiled {
  FunctionInfo info;
  std::string format, description;  // See function::ForeignTraits.
};

/// Result `output` of node `node`, or parameter `output` of the program when node == kParameter.
struct ValueRef {
  static constexpr std::uint32_t kParameter = 0xffffffff;
  std::uint32_t node = kParameter;
  std::uint32_t output = 0;
  friend bool operator==(const ValueRef&, const ValueRef&) = default;
};

/// One call of a function over all shards of a mesh.
struct Node {
  FunctionId function = 0;
  Mesh mesh;  // Where it runs (virtual: its slice may be bound anew).
  std::vector<ValueRef> operands;
  std::vector<PartitionSpec> in_specs;  // How the function wants them split over `mesh`.
  std::vector<ArraySpec> outputs;       // Global types, split over `mesh`.
  std::string site;                     // "file.cpp:12" of the capture, for errors.

  /// Where operand, or output, `index` of `count` lies: on `mesh`, or on one device of it.
  Mesh mesh_of(const FunctionInfo& info, std::size_t index, std::size_t count) const {
    return info.shards == 0 ? mesh : mesh.device(info.shard_of(index, count));
  }
};

/// Names a function for people; empty when it is not known.
using FunctionNames = std::function<std::string(FunctionId)>;

/// How a program is dispatched (paper section 4.5, Figure 4).
enum class Dispatch : std::uint8_t {
  kParallel,    // All host-side work of all nodes at once, before the data exists.
  kSequential,  // Figure 4a: node by node, each after the one before it was enqueued.
};

struct ProgramGraph {
  ProgramId id = 0;
  std::string name;
  Dispatch dispatch = Dispatch::kParallel;
  std::vector<ArraySpec> parameters;
  std::vector<bool> donated;  // Per parameter: the run consumes it.
  std::vector<Node> nodes;    // Operands come before their users.
  std::vector<ValueRef> outputs;

  const ArraySpec& spec_of(ValueRef ref) const {
    return ref.node == ValueRef::kParameter ? parameters[ref.output]
                                            : nodes[ref.node].outputs[ref.output];
  }
  /// One node a line; Graphviz; JSON. A function that `names` does not know, or without `names`,
  /// appears by its number.
  std::string to_string(const FunctionNames& names = {}) const;
  std::string to_dot(const FunctionNames& names = {}) const;
  std::string to_json(const FunctionNames& names = {}) const;
};

/// Most nodes that one program may have.
constexpr std::size_t kNodesMax = 1'000'000;

/// Checks a whole program, as it comes from a stranger: counts, references, shardings, and that
/// each operand is what its function takes. kInvalidArgument names node, site and both types.
/// Afterwards spec_of() of every reference in `graph` is safe to call.
Status validate(const ProgramGraph& graph, const std::map<FunctionId, FunctionInfo>& functions);

}  // namespace seaway::program
