// SchedulerCore::Restoring: one restore() of a scheduler, step by step.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "island/scheduler_core.hpp"

namespace seaway::island {

/// Nothing is replayed: room is counted at the end of the streams, so it depends on what is placed,
/// done, received and moved, and not on the order in which that came about. After an error the core
/// is of no use. The snapshot outlives it.
class SchedulerCore::Restoring {
 public:
  Restoring(SchedulerCore& core, const Snapshot& snapshot) : core_(core), snapshot_(snapshot) {}

  // In this order, each once. restore.cpp.
  Status read_snapshot();
  /// Which parts go on, which are over, which the host alone knows.
  Status sort_out(std::span<const Launch> launches);
  /// Those that no part makes any more.
  void add_finished_arrays();
  Status add_parts(std::span<const Launch> launches);
  /// What is not named is dropped; what nobody uses can be spilled, or is freed.
  Status settle_arrays(std::span<const ArrayId> named);
  /// Says what may not have been heard, and decides.
  void go_on(std::span<const Launch> launches);

 private:
  using Place = ArrayRecord::Place;

  const PartState* state_of(Stamp stamp) const {
    const auto found = parts_.find(stamp);
    return found == parts_.end() ? nullptr : found->second;
  }
  const ArrayState* state_of_array(ArrayId array) const {
    const auto found = arrays_.find(array);
    return found == arrays_.end() ? nullptr : found->second;
  }
  /// The host is through with it, and the controller has not heard so.
  bool is_over(const Launch& launch) const {
    return launch.stamp <= snapshot_.last_stamp && state_of(launch.stamp) == nullptr;
  }
  void set_place(std::uint32_t array, const ArrayState& state);
  void say_exists(const Launch& launch, const PartState* state);

  // restore_part.cpp.
  static bool is_done(const PartState& state, std::uint32_t gang);
  Status check(const PartState& state, const PartProfile& profile) const;
  void add_missing_args(const Launch& launch);
  static bool is_through(const Part& part);
  void pin(std::uint32_t array);
  void begin(std::uint32_t slot, const PartState& state);
  void count_room(const Part& part);
  void count_gangs(Part& part, const PartState& state);
  void read_edges(Part& part, const PartState& state);
  Status use_args(Part& part, const PartState& state);
  Status use_outputs(Part& part, const PartState& state);
  void make_output(Part& part, const PartState& state, std::uint32_t index);
  void use_sends(Part& part);

  SchedulerCore& core_;
  const Snapshot& snapshot_;
  std::unordered_map<Stamp, const PartState*> parts_;
  std::unordered_map<ArrayId, const ArrayState*> arrays_;
  std::unordered_set<ArrayId> to_be_bound_;  // Outputs of parts that go on.
  std::vector<Stamp> orphans_;               // At the host alone.
  std::vector<std::uint32_t> args_;          // Slots of the arguments of one part.
};

}  // namespace seaway::island
