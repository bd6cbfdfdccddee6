// IslandWorld: two islands with real scheduler cores, and a small model of their hosts: in-order
// streams, rooms that begin in stream order, transfers between islands. Copyable, so that every
// choice can be tried.

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "island/scheduler_core.hpp"
#include "sim/exhaustive/explore.hpp"

namespace seaway::exhaustive {

using island::CoreOptions;
using island::SchedulerCore;
using island::Weakening;

/// Sentences of the rules that bind the host or the controller, left out one at a time. Those of
/// the core are in island::Weakening.
enum class HostWeakening : std::uint8_t {
  kNone,
  kRoomWithoutOwner,     // A receive takes any free bytes when it comes.
  kReceiveBeforeRoom,    // A receive does not wait for the earlier user of its room.
  kFifoChannels,         // A transfer waits for those sent before it between the two islands.
  kStampedBeforeUpload,  // Rule 1: a run is launched while its upload is pending.
  kFreedAsAWhole,        // An array goes from all its devices when it is its turn on the first.
  kNothingSaidAgain,     // A new scheduler is not told which edges exist.
};

// Sets of small numbers.
constexpr bool has(std::uint32_t bits, std::uint32_t index) { return bits >> index & 1; }
constexpr std::uint32_t bit(std::uint32_t index) { return 1u << index; }

constexpr std::size_t kIslands = 2, kDevices = 2, kRuns = 3;

/// What is fixed about one world.
struct IslandSpec {
  struct PartSpec {
    program::PartPlanPtr plan;  // Null: the run has no part on that island.
    std::vector<ArrayId> args, outputs;
  };
  struct Edge {
    std::uint32_t run = 0, number = 0, source_island = 0, source_gang = 0;
    std::uint64_t bytes = 0;
  };
  struct Array {
    ArrayId id = 0;
    std::uint32_t island = 0;
    std::uint32_t run = kRuns;  // kRuns: an upload.
    std::uint32_t gang = 0;
    std::uint64_t bytes = 0;
    std::vector<DeviceId> devices;
    bool dropped = false;  // The client drops it once all is launched.
    bool donated = false;  // To the last run that reads it.
  };
  std::array<CoreOptions, kIslands> options;
  std::array<std::array<PartSpec, kIslands>, kRuns> parts;
  std::vector<Edge> edges;
  std::vector<Array> arrays;
  std::uint32_t cancels = kRuns;      // A run that may be cancelled at any time; kRuns: none.
  std::uint32_t late_upload = kRuns;  // Its upload comes when all other runs are over.
  /// How often, anywhere: a scheduler is lost and another one begins in its place; a device is
  /// lost.
  std::uint32_t schedulers_lost_max = 0, devices_lost_max = 0;
  HostWeakening weakening = HostWeakening::kNone;
  /// Kinds of moves, as bits, that hosts and messages make at once here: keeps the number of
  /// interleavings small. Which kinds differs from world to world; decisions of the scheduler are
  /// never among them.
  std::uint32_t prompt = 0;

  std::string to_string() const;
};

/// The world of `seed`. `weakening` goes to the cores.
IslandSpec make_island_world(std::uint64_t seed, Weakening weakening, HostWeakening host_weakening);

/// One step that an IslandWorld may take.
struct IslandMove {
  enum class Kind : std::uint8_t {
    kLaunch,
    kChoice,
    kRun,
    kExists,
    kTransfer,
    kSpilled,
    kMoved,
    kFree,
    kStartCancel,
    kCancel,
    kLoseScheduler,
    kLoseDevice
  };
  Kind kind = Kind::kLaunch;
  std::uint32_t island = 0;
  std::uint32_t index = 0;  // Run, edge, array or device.
  island::Choice choice;

  std::string to_string() const;
};

/// The spec outlives it. See Explorable.
class IslandWorld {
 public:
  using Move = IslandMove;

  explicit IslandWorld(const IslandSpec& spec);

  std::string setting() const { return spec_->to_string(); }
  void moves(std::vector<Move>& out) const;
  /// Afterwards violation() says what was overwritten or overrun, if anything was.
  void take(const Move& move);
  const std::string& violation() const { return violation_; }
  bool is_done() const;
  std::uint64_t hash() const;
  static bool is_fault(const Move& move) {
    return move.kind == Move::Kind::kStartCancel || move.kind == Move::Kind::kLoseScheduler ||
           move.kind == Move::Kind::kLoseDevice;
  }
  static std::string describe(const Move& move) { return move.to_string(); }
  /// What each part waits for: the wait-for chains of all islands.
  std::string to_string() const;

 private:
  struct Item {
    enum class Kind : std::uint8_t { kAdmit, kGang, kFree, kVanish };
    Kind kind = Kind::kGang;
    std::uint32_t run = 0;  // Of kFree: the array's index.
    std::uint32_t gang = 0;
  };
  struct PartState {
    bool admitted = false, held = false, cancelled = false, finished = false;
    bool overtakes = false, moved = false;
    Stamp beside = 0;
    std::uint32_t placed = 0, executed = 0, sends_left = 0;
    std::uint32_t begun = 0;  // Devices on which its room has begun.
    std::uint32_t loads = 0;  // Arrays that it loads, by index.
  };
  struct Island {
    SchedulerCore core;
    std::array<std::vector<Item>, kDevices> streams;
    std::array<PartState, kRuns> parts;
    std::uint32_t launched = 0;
  };

  const IslandSpec::PartSpec& part_spec(std::uint32_t run, std::uint32_t island) const {
    return spec_->parts[run][island];
  }
  void drain(std::uint32_t island);
  void settle(std::uint32_t island);
  bool is_poison(const IslandSpec::Array& array) const;
  void hand_over(std::uint32_t island, std::uint32_t run, std::uint32_t gang);
  bool pass(std::uint32_t island, DeviceId device, const Item& item);
  bool can_run(std::uint32_t island, std::uint32_t& run, DeviceId device) const;
  bool can_transfer(std::uint32_t edge) const;
  bool may_launch(std::uint32_t island) const;
  void run_gang(std::uint32_t island, std::uint32_t run);
  std::uint64_t in_use(std::uint32_t island, DeviceId device) const;
  void check_memory(std::uint32_t island);
  void forget_if_freed(std::uint32_t array);

  // island_faults.cpp
  bool is_failing(std::uint32_t island, std::uint32_t run) const;
  bool is_named(std::uint32_t array) const;
  island::ArrayState state_of(std::uint32_t array) const;
  island::Snapshot snapshot(std::uint32_t island) const;
  void lose_scheduler(std::uint32_t island);
  void lose_device(std::uint32_t island, DeviceId device);

  const IslandSpec* spec_;
  std::vector<Island> islands_;
  std::uint32_t transferred_ = 0, exists_pending_ = 0;  // Bits by edge.
  std::vector<std::uint32_t> channel_;                  // Edges in the order of sending.
  std::array<std::uint32_t, kDevices> present_{};       // Bits by array; ids name the island.
  std::uint32_t in_host_ = 0, spill_pending_ = 0, freed_ = 0;
  std::array<std::uint32_t, kIslands> moves_pending_{}, cancels_pending_{};  // Bits by run.
  bool cancel_started_ = false;
  // What a host tells a scheduler that begins anew. Bits by array, but for the third, by edge.
  std::uint32_t known_ = 0, was_spilled_ = 0, exists_heard_ = 0, is_poison_ = 0, freeing_ = 0;
  std::array<std::uint32_t, kIslands> lost_{};  // Bits by device.
  std::uint32_t schedulers_lost_ = 0, devices_lost_ = 0;
  std::string violation_;
};

/// Every state of one world.
Exploration explore(const IslandSpec& spec, std::uint64_t states_max);

}  // namespace seaway::exhaustive
