// PartPlan: what one run of a program leaves to one island, worked out before any input exists.
//
// The controller lowers a program once per binding of its slices to one PartPlan per island; the
// island's scheduler reads its order, waits and memory, its host reads all of it. Nothing in it
// grows with the number of shards, except the lists of devices.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.hpp"
#include "seaway/sharding.hpp"
#include "seaway/types.hpp"

namespace seaway::program {

constexpr std::uint32_t kNone = 0xffffffff;

/// A set of devices that values lie on and gangs run on, in mesh order: shard s is on devices[s].
struct DeviceGroup {
  std::vector<DeviceId> devices;
  std::vector<MeshAxis> axes;

  friend bool operator==(const DeviceGroup&, const DeviceGroup&) = default;
};

/// One value of the part as its devices hold it: where, how large, how split.
struct Value {
  enum class Place : std::uint8_t {
    kBlock,   // In the part's own block on `group`, at `offset`.
    kArg,     // An array the run was given: args[index].
    kOutput,  // An array the run leaves: outputs[index].
  };
  Place place = Place::kBlock;
  std::uint32_t index = 0;
  std::uint32_t group = 0;
  std::uint64_t offset = 0;       // In the block of `group`, the same on each device; 64-aligned.
  std::uint64_t shard_bytes = 0;  // Per device, rounded up to 64.
  TensorType type;                // Global.
  PartitionSpec spec;
};

/// One gang: the shards of one node (or of one copy between slices) that start together.
struct Gang {
  enum class Kind : std::uint8_t {
    kCompute,  // Runs function `function`.
    kReshard,  // Copies operands[0] (of group `source_group`) to results[0] (of group `group`);
               // runs on the devices of both.
    kSend,     // Computes nothing: makes argument operands[0] ready for the sends that name it.
  };
  Kind kind = Kind::kCompute;
  std::uint32_t position = 0;  // Program-wide: keys of gangs are (stamp, position).
  std::uint32_t node = 0;      // Node of the program, for messages; kNone for kReshard and kSend.
  FunctionId function = 0;
  std::uint32_t group = 0;
  std::uint32_t source_group = kNone;  // kReshard only.
  // Indices into PartPlan::values. An operand of kCompute may lie on another group than `group` if
  // that has the same devices in the same order and its shards are the boxes that are wanted.
  std::vector<std::uint32_t> operands;
  std::vector<std::uint32_t> results;  // Indices into PartPlan::values.
  std::uint64_t scratch_offset = 0;    // In the block of `group`.
  std::uint64_t cost_ns = 0;           // Of the whole gang on its slowest device; a hint.
};

/// An edge from another island: the gang at `first_gang` and all later ones wait for it only if
/// they name `value` as an operand; the room for `value` is held from admission on.
struct Receive {
  std::uint32_t edge = 0;  // Program-wide number of the edge; the sender has the same.
  IslandId peer = 0;
  std::uint32_t value = 0;
  std::uint32_t first_gang = 0;  // Index into gangs: the first that reads `value`.
  // How the sender holds the value; with `value` this fixes the copy plan in closed form.
  DeviceGroup source_group;
  PartitionSpec source_spec;
};

/// An edge to another island: `value` is sent when gang `gang` (index into gangs) is done.
struct Send {
  std::uint32_t edge = 0;
  IslandId peer = 0;
  std::uint32_t value = 0;
  std::uint32_t gang = 0;
  DeviceGroup target_group;
  PartitionSpec target_spec;
};

/// An array that the run reads on this island.
struct Arg {
  std::uint32_t parameter = 0;  // Index among the run's arguments.
  std::uint32_t value = 0;
  // Index into gangs: its last reader. Sends that name its value read it until they are received.
  std::uint32_t last_gang = 0;
  std::uint32_t donated_to = kNone;  // Index into outputs whose buffer it becomes, if donated.
  bool donated = false;
};

/// An array that outlives the part. Its room is reserved from admission on.
struct Output {
  std::uint32_t output = 0;  // Index among the run's outputs.
  std::uint32_t value = 0;
  std::uint32_t gang = 0;  // Index into gangs: the one that makes it.
};

/// Room that a device needs in the part's block from gang `gang` on (index into gangs), until the
/// next step. Bytes never rise from one step to the next; the last step has 0 bytes and
/// gang == gangs.size(). They fall only behind a gang that runs on all devices of the block: its
/// end is the place in their streams where the room is free. Values that are sent keep their room
/// beyond that, until they are received.
struct BlockStep {
  std::uint32_t gang = 0;
  std::uint64_t bytes = 0;
};
/// The part's own block on one group: the same on each of its devices. Holds work space,
/// intermediates and received values, laid out so that a later step never needs a higher offset.
struct Block {
  std::uint32_t group = 0;
  std::vector<BlockStep> steps;
};

struct PartPlan {
  PlanId id = 0;
  ProgramId program = 0;
  IslandId island = 0;
  std::vector<DeviceGroup> groups;
  std::vector<Value> values;
  std::vector<Gang> gangs;        // In position order.
  std::vector<Receive> receives;  // By first_gang.
  std::vector<Send> sends;        // By gang.
  std::vector<Arg> args;
  std::vector<Output> outputs;
  std::vector<Block> blocks;  // At most one per group.
  /// Host room for everything in `sends`, needed to overtake (design 2.1, rule 3b): bytes over all
  /// devices of the island.
  std::uint64_t send_bytes = 0;
  /// Lines of user code, each once, and for each gang the index of the line that its node was
  /// captured at, for messages.
  std::vector<std::string> sites;
  std::vector<std::uint32_t> site_of_gang;

  /// Whether `gang` runs on all devices of group `group`. O(devices of the groups).
  bool runs_on(const Gang& gang, std::uint32_t group) const;
  /// "fig2.cpp:44"; empty when it is not known.
  std::string_view site_of(std::uint32_t gang) const {
    const bool is_known = gang < site_of_gang.size() && site_of_gang[gang] < sites.size();
    return is_known ? std::string_view(sites[site_of_gang[gang]]) : std::string_view();
  }
  std::string to_string() const;
};

using PartPlanPtr = std::shared_ptr<const PartPlan>;

}  // namespace seaway::program
