// World: two islands with real scheduler cores, and a small model of their hosts: in-order streams,
// rooms that begin in stream order, transfers between islands. Copyable, so that every choice can
// be tried.

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "island/scheduler_core.hpp"

namespace seaway::island {

/// Sentences of the rules that bind the host or the controller, left out one at a time. Those of
/// the core are in island::Weakening.
enum class HostWeakening : std::uint8_t {
  kNone,
  kRoomWithoutOwner,     // A receive takes any free bytes when it comes.
  kReceiveBeforeRoom,    // A receive does not wait for the earlier user of its room.
  kFifoChannels,         // A transfer waits for those sent before it between the two islands.
  kStampedBeforeUpload,  // Rule 1: a run is launched while its upload is pending.
  kFreedAsAWhole,        // An array goes from all its devices when it is its turn on the first.
};

constexpr std::size_t kIslands = 2, kDevices = 2, kRuns = 3;

/// What is fixed about one world.
struct WorldSpec {
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
  HostWeakening weakening = HostWeakening::kNone;
  /// Kinds of moves, as bits, that hosts and messages make at once here: keeps the number of
  /// interleavings small. Which kinds differs from world to world; decisions of the scheduler are
  /// never among them.
  std::uint32_t prompt = 0;

  std::string to_string() const;
};

/// The world of `seed`. `weakening` goes to the cores.
WorldSpec make_world(std::uint64_t seed, Weakening weakening, HostWeakening host_weakening);

/// One step that the world may take.
struct Move {
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
    kCancel
  };
  Kind kind = Kind::kLaunch;
  std::uint32_t island = 0;
  std::uint32_t index = 0;  // Run, edge or array.
  Choice choice;

  std::string to_string() const;
};

class World {
 public:
  explicit World(const WorldSpec& spec);

  /// Appends every step that may come next.
  void moves(std::vector<Move>& out) const;
  /// Takes one. Afterwards violation() says what was overwritten or overrun, if anything was.
  void take(const Move& move);
  const std::string& violation() const { return violation_; }
  bool over() const;
  std::uint64_t hash() const;
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

  const WorldSpec::PartSpec& part_spec(std::uint32_t run, std::uint32_t island) const {
    return spec_->parts[run][island];
  }
  void drain(std::uint32_t island);
  void settle(std::uint32_t island);
  bool is_poison(const WorldSpec::Array& array) const;
  void hand_over(std::uint32_t island, std::uint32_t run, std::uint32_t gang);
  bool pass(std::uint32_t island, DeviceId device, const Item& item);
  bool can_run(std::uint32_t island, std::uint32_t& run, DeviceId device) const;
  bool can_transfer(std::uint32_t edge) const;
  bool may_launch(std::uint32_t island) const;
  void run_gang(std::uint32_t island, std::uint32_t run);
  std::uint64_t in_use(std::uint32_t island, DeviceId device) const;
  void check_memory(std::uint32_t island);

  const WorldSpec* spec_;
  std::vector<Island> islands_;
  std::uint32_t transferred_ = 0, exists_pending_ = 0;  // Bits by edge.
  std::vector<std::uint32_t> channel_;                  // Edges in the order of sending.
  std::array<std::uint32_t, kDevices> present_{};       // Bits by array; ids name the island.
  std::uint32_t in_host_ = 0, spill_pending_ = 0, freed_ = 0;
  std::array<std::uint32_t, kIslands> moves_pending_{}, cancels_pending_{};  // Bits by run.
  bool cancel_started_ = false;
  std::string violation_;
};

/// All that was found in one world.
struct Exploration {
  std::uint64_t states = 0;
  bool complete = true;  // False: states_max was reached.
  std::string failure;   // Empty, or the world, the moves that led there and the wait-for chains.
};
Exploration explore(const WorldSpec& spec, std::uint64_t states_max);

}  // namespace seaway::island
