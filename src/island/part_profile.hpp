// PartProfile: what the scheduler derives once from a PartPlan, so that no run of it walks gangs.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "program/part_plan.hpp"
#include "seaway/status.hpp"

namespace seaway::island {

/// Devices that the same blocks and outputs of a part lie on: they need the same room at any time.
struct DeviceClass {
  std::vector<DeviceId> devices;
  std::vector<program::BlockStep> steps;       // Sum over the blocks; bytes never rise.
  std::vector<program::BlockStep> held_steps;  // The same while values to be sent are kept: each
                                               // block is as large as the larger of its two needs.
  std::uint64_t output_bytes = 0;              // Outputs but for those that take a donated buffer.

  /// Bytes of the blocks from gang `gang` on, without and with unreceived sends.
  std::uint64_t block_bytes(std::uint32_t gang, bool held) const;
};

/// Something from outside the part that gang `gang` waits for.
struct Wait {
  enum class Kind : std::uint8_t {
    kReceive,   // receives[index] exists.
    kArg,       // The gang that makes args[index] is placed.
    kDonation,  // All earlier readers of the donated args[index] are placed, as its buffer is
                // written from this gang on.
  };
  std::uint32_t gang = 0;
  Kind kind = Kind::kReceive;
  std::uint32_t index = 0;
};

/// `index` (of an argument, an output, an edge) by gang or edge number.
struct Keyed {
  std::uint32_t key = 0;
  std::uint32_t index = 0;
};

struct PartProfile {
  program::PartPlanPtr plan;
  std::uint32_t gangs = 0;
  std::vector<DeviceClass> classes;
  std::vector<DeviceId> devices;           // Of all groups, rising.
  std::vector<std::uint64_t> device_mask;  // The same as bits.
  std::vector<Wait> waits;                 // By gang.
  std::vector<Keyed> arg_ends;             // Arguments by the last gang that needs them.
  std::vector<Keyed> outputs_made;         // Outputs by their gang.
  std::vector<Keyed> output_ends;          // Outputs by the last gang of the part that needs them:
                                           // the one that makes it, or one that reads it later.
  std::vector<Keyed> sends_by_gang, sends_by_edge, receives_by_edge;
  std::vector<std::uint32_t> donated_from;  // Per output: the argument whose buffer it takes.
  std::vector<std::uint64_t> cost_before;   // gangs + 1 prefix sums of cost_ns.

  bool shares_device_with(const PartProfile& other) const;
};

/// Whether `plan` is one that this room can run on an island of `devices` devices; the codes are
/// those of SchedulerCore::fits. O(plan).
Status validate(const program::PartPlan& plan, std::uint32_t devices, std::uint64_t memory_bytes);

/// Requires validate(*plan).ok(). O(plan * log(plan)).
std::shared_ptr<const PartProfile> make_profile(program::PartPlanPtr plan, std::uint32_t devices);

}  // namespace seaway::island
