// SchedulerCore: one island's order and memory, by the seven rules of docs/order.md.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "island/arrays.hpp"
#include "island/open_table.hpp"
#include "island/options.hpp"
#include "island/parts.hpp"
#include "island/policy.hpp"
#include "island/snapshot.hpp"
#include "program/part_plan.hpp"
#include "seaway/status.hpp"

namespace seaway::island {

/// One part handed to this island. Launches arrive in stamp order.
struct Launch {
  Stamp stamp = 0;
  RunId run = 0;
  TenantId tenant = 0;
  program::PartPlanPtr plan;
  std::vector<ArrayId> args;     // Parallel to plan->args.
  std::vector<ArrayId> outputs;  // Parallel to plan->outputs.
};

/// What the scheduler tells its host (in this order, which the host follows per device), its peers
/// and the controller.
struct Action {
  enum class Kind : std::uint8_t {
    kAdmit,   // Host: room for part `stamp` begins behind all gangs placed so far on its devices.
    kPlace,   // Host: append gangs [first, last) of part `stamp` to the order.
    kFree,    // Host: free array `array` on each device behind the gangs placed so far there.
    kSpill,   // Host: move array `array` to host room now; answer with spilled(). Its load for a
              // part that was cancelled may not have begun: then it must not begin any more.
    kCancel,  // Host: gangs of `stamp` not begun become no-ops.
    kMoveSends,  // Host: outputs of `stamp` for other parts that are not received yet go to the
                 // host room it reserved; answer with moved().
    kExists,     // Peer island `peer`: edge `edge` of run `stamp` exists (or is poison).
    kFinished,   // Controller: nothing of part `stamp` runs, is awaited or is held any more, except
                 // its kept outputs.
  };
  Kind kind = Kind::kAdmit;
  Stamp stamp = 0;
  std::uint32_t first = 0, last = 0;
  ArrayId array = 0;
  std::uint32_t edge = 0;
  IslandId peer = 0;
  RunId run = 0;  // Whose part it is, with `stamp`; for events.
  TenantId tenant = 0;
  // For kAdmit; the host keeps both, as a scheduler that starts anew asks for them.
  bool overtakes = false;  // By rule 3b.
  Stamp beside = 0;        // It went through a closed door, fitting beside this part; or 0.
};

/// One decision that the rules allow now, for callers that decide themselves.
struct Choice {
  enum class Kind : std::uint8_t {
    kAdmit,       // Rule 3a.
    kOvertake,    // Rule 3b, behind the door of rule 4.
    kPlace,       // Rule 2: the next gang of `stamp`, which is free.
    kPlaceEarly,  // Rule 2: the next gang of `stamp`, which is not free, but all before it is
                  // placed.
    kSpill,       // Rule 5: `array`, because an admission in order lacks room.
    kMoveSends,   // Rule 5: the sends of the finished overtaker `stamp`.
  };
  Kind kind = Kind::kAdmit;
  Stamp stamp = 0;
  ArrayId array = 0;

  friend bool operator==(const Choice&, const Choice&) = default;
};

/// What the core has done so far, and holds now.
struct Counters {
  std::uint64_t launched = 0, finished = 0, cancelled = 0;  // Parts.
  std::uint64_t admitted = 0, overtakes = 0, spills = 0, moves = 0;
  std::uint64_t gangs_placed = 0, gangs_placed_early = 0, gangs_done = 0;
  std::uint32_t parts = 0, parts_waiting = 0;                 // Now.
  std::uint64_t spilled_bytes = 0, send_room_used_bytes = 0;  // Of host room, now.
};

/// Decides for one island which part gets room and which gang comes next, by the seven rules. A
/// value: a copy goes on alone. Not thread-safe. No call blocks; each event appends to `actions`,
/// which the caller drains. The place of kAdmit, kPlace and kFree among one another is their
/// position in the streams. Amortised cost per part: O(its devices + arguments + outputs + gangs
/// that have inputs from outside), whatever its count of gangs.
class SchedulerCore {
 public:
  explicit SchedulerCore(const CoreOptions& options);

  /// Goes on where a lost scheduler of the same options stopped. `launches`: all parts of this
  /// island that the controller has not heard kFinished of, and those that are over here and not
  /// elsewhere, for what peers were told of their edges may be lost; in stamp order. `named`: the
  /// arrays that later launches may name, so none that was donated. Before this call, only
  /// set_weight() and exists(); whatever peers and the controller said of unfinished parts (exists,
  /// cancel) is said again, earlier or later.
  ///
  /// Answers in actions(): kFinished for parts that are over, kExists for all sends of gangs that
  /// are done, kFree for arrays that nobody needs (said to the old host before or not), kCancel for
  /// parts that the host alone knows; then what the rules allow. Counters of what is held now are
  /// exact, those of the past begin here. Policy::kShares forgets who had how much, and arrays are
  /// spilled in order of id until they are used again. O(launches + arrays).
  /// Errors, after which this core is of no use: kInvalidArgument for a core that has worked
  /// before, or launches that no core would take; kProtocolError where snapshot and launches do not
  /// fit together, naming part or array.
  Status restore(const Snapshot& snapshot, std::span<const Launch> launches,
                 std::span<const ArrayId> named);

  // ---- Events -----------------------------------------------------------------------------
  /// A stamped part. Stamps rise. An argument that was never named before is taken for an upload.
  /// Errors, after which nothing has changed: kResourceExhausted at launches_max; kInvalidArgument
  /// for a part that can never fit, a stamp that does not rise, or an array donated twice.
  Status launch(const Launch& launch);
  /// Edge `edge` of run `stamp` exists on its sender, or is poison. May come before the launch.
  void exists(Stamp stamp, std::uint32_t edge);
  /// Tells `next`, which is to be restored in the place of this one, which edges of unfinished
  /// parts exist: peers say that once, and neither host nor controller knows.
  void pass_on_edges(SchedulerCore& next) const;
  /// Rule 6. Unplaced gangs vanish; placed ones are still reported by done(). At kCancel the host
  /// fences the transfers of the part, in both directions, and answers with fenced(); until then an
  /// admitted part with edges keeps its room. No received() is awaited any more.
  void cancel(Stamp stamp);
  /// Answer to kCancel: no transfer reads or writes the part's room any more.
  void fenced(Stamp stamp);
  /// Gangs [first, last), by index, have finished on all their devices, as no-ops too.
  void done(Stamp stamp, std::uint32_t first, std::uint32_t last);
  /// The peer has the value of `edge`: its room here is free.
  void received(Stamp stamp, std::uint32_t edge);
  /// Answer to kMoveSends: all sends not received yet are in the host room reserved for them.
  void moved(Stamp stamp);
  /// An uploaded array in upload room. `devices`: where its shards belong, in mesh order.
  void put(ArrayId array, const std::vector<DeviceId>& devices, std::uint64_t bytes_per_device);
  /// Nobody names `array` in later launches. Its room goes behind its readers launched so far.
  void free(ArrayId array);
  /// Answer to kSpill: `array` is in host room, its devices' room is free.
  void spilled(ArrayId array);
  /// Integer weight of a tenant, >= 1 (default 1).
  void set_weight(TenantId tenant, std::uint32_t weight);
  /// No later launch names `plan`. It is kept until its last part is over: a part that was finished
  /// in an earlier view is restored when its host still has it.
  void forget_plan(const program::PartPlanPtr& plan);

  // What another process says is checked first; kProtocolError for what the above may not be told.
  /// done(); that a gang is done twice is found out if it makes an output of the part.
  Status check_done(Stamp stamp, std::uint32_t first, std::uint32_t last) const;
  Status check_spilled(ArrayId array) const;
  Status check_put(ArrayId array, const std::vector<DeviceId>& devices) const;

  /// What is to be done, in order. The caller reads it and clears it.
  std::vector<Action>& actions() { return actions_; }

  // ---- Queries ----------------------------------------------------------------------------
  /// Rule 1: whether a part fits its devices when alone; else kInvalidArgument or
  /// kResourceExhausted with numbers and advice.
  Status fits(const program::PartPlan& plan) const;
  /// One line: what part `stamp` waits for, with numbers.
  std::string why(Stamp stamp) const;
  /// Nothing launched is unfinished.
  bool idle() const { return counters_.parts == 0; }
  const Counters& counters() const { return counters_; }
  /// Arrays known here.
  std::size_t array_count() const { return arrays_.count(); }
  /// Plans whose profile is kept, whether parts use them or not.
  std::size_t plan_count() const { return plans_.size() - free_plans_.size(); }
  /// Bytes of `device` that are reserved, at the end of its stream.
  std::uint64_t used_bytes(DeviceId device) const { return used_[device]; }
  /// All parts with what each waits for, one a line, in stamp order, then arrays and devices.
  std::string to_string() const;
  /// Equal for equal futures: covers everything that later decisions depend on, but neither
  /// policy state nor counters.
  std::uint64_t hash() const;

  // ---- Deciding by hand (CoreOptions::manual) ---------------------------------------------
  /// Appends everything that the rules allow now. O(parts).
  void choices(std::vector<Choice>& out) const;
  /// Requires that choices() offers it.
  void apply(const Choice& choice);

 private:
  class Restoring;  // restoring.hpp.

  struct PlanSlot {
    std::shared_ptr<const PartProfile> profile;
    std::vector<std::uint32_t> device_sets;  // By group, as Arrays::intern() gave them.
    std::uint32_t parts = 0;
    bool is_forgotten = false;  // With its last part it goes.
  };
  struct Early {
    Stamp stamp = 0;
    std::uint32_t edge = 0;
  };
  struct PlacedGang {
    Stamp stamp = 0;  // 0: none.
    std::uint32_t gang = 0;
  };

  // scheduler_core.cpp: events.
  std::uint32_t find(Stamp stamp) const;
  Result<std::uint32_t> plan_slot(const program::PartPlanPtr& plan);
  void act(Action::Kind kind, const Part& part, std::uint32_t first = 0, std::uint32_t last = 0);
  std::uint64_t plan_key(std::uint32_t slot) const;
  void sweep_plans();
  void drop_plan(std::uint32_t slot);
  Status check_launch(const Launch& launch, const PartProfile& profile);
  std::uint32_t make_part(const Launch& launch, std::uint32_t plan_slot);
  void bind_arrays(Part& part, const Launch& launch);
  void take_early(Part& part);
  void end_send(Part& part, std::uint32_t index);
  void release_hold(Part& part);
  void finish_if_over(std::uint32_t slot);
  void advance();

  // array_use.cpp: who still needs an array, and when its room ends.
  void end_reader(std::uint32_t array);
  void pin(std::uint32_t array);
  void unpin(std::uint32_t array);
  void poison(std::uint32_t array);
  void release_if_unread(std::uint32_t array);
  void erase_if_over(std::uint32_t array);
  void end_pin(Part& part, std::uint32_t at);
  void start_spill(std::uint32_t array);
  void note_spillable(std::uint32_t array);
  void note_unspillable(std::uint32_t array);
  void charge(const ArrayRecord& record);
  void discharge(const ArrayRecord& record);
  void wake(std::uint32_t array);

  // admission.cpp: rules 3, 4 and 5.
  bool need_of(const Part& part, std::vector<std::uint64_t>& need) const;
  bool fits_now(const Part& part) const;
  bool in_order(std::uint32_t slot) const;
  bool may_overtake(std::uint32_t slot) const;
  bool door_allows(std::uint32_t waiting, std::uint32_t overtaker, Stamp& beside) const;
  template <class Visit>
  void each_pin(const Part& part, const Visit& visit) const;
  void add_unplaced(const Part& part, std::vector<std::uint64_t>& bytes) const;
  bool free_for_overtaking(const Part& part) const;
  void admit(std::uint32_t slot, bool overtaking);
  void release_unplaced(Part& part);
  void release_blocks(Part& part);
  void end_sends(Part& part);
  bool admit_waiting();
  void make_room(std::uint32_t slot);
  bool reads(const Part& part, std::uint32_t array) const;
  void request_moves(const Part& part);
  bool may_move(const Part& part) const;
  bool can_spill_oldest() const;
  bool spill_room_for(const ArrayRecord& record) const;
  void start_move(Part& part);

  // order.cpp: rules 2 and 7.
  bool holds(const Part& part, const Wait& wait) const;
  void update_wait(std::uint32_t slot);
  void stop_waiting(std::uint32_t slot);
  void make_ready(std::uint32_t slot);
  bool may_place_early(std::uint32_t slot) const;
  bool room_for_next_gang(const Part& part) const;
  void place(std::uint32_t slot, std::uint32_t to);
  void outputs_placed(Part& part, std::uint32_t to);
  bool place_ready();
  bool place_early();
  std::uint32_t free_behind(const Part& part) const;
  bool waits_still(const PlacedGang& gang) const;
  std::uint64_t busy_ns(const Part& part) const;

  // explain.cpp.
  std::string why(const Part& part) const;
  std::string why_no_room(const Part& part) const;

  CoreOptions options_;
  std::vector<Action> actions_;
  Counters counters_;
  Stamp last_stamp_ = 0;

  std::vector<Part> parts_;
  std::vector<std::uint32_t> free_parts_;
  OpenTable by_stamp_;
  PartList live_{&Part::live};                  // All.
  PartList waiting_{&Part::waiting};            // Not admitted.
  PartList free_waiting_{&Part::free_waiting};  // Not admitted, but free.
  PartList unplaced_{&Part::unplaced};          // With gangs that are not placed.
  PartList overtakers_{&Part::overtakers};      // Admitted by rule 3b, and not finished.
  ReadyQueue ready_;
  std::vector<Early> early_;  // Exists that came before their launch.

  std::vector<PlanSlot> plans_;
  OpenTable plan_slots_;  // By address.
  std::vector<std::uint32_t> free_plans_;
  const program::PartPlan* last_plan_ = nullptr;
  std::uint32_t last_plan_slot_ = 0;

  mutable Arrays arrays_;  // Mutable for ArrayRecord::scratch.
  // By device. Room is counted at the end of the stream.
  std::vector<std::uint64_t> used_;        // Reserved by parts, and held by arrays.
  std::vector<std::uint64_t> spillable_;   // Of used_: finished arrays that no admitted part uses.
  std::vector<std::uint64_t> spilling_;    // Of spillable_: on the way to host room.
  std::vector<std::uint64_t> unfinished_;  // Gang time placed and not done.
  std::vector<std::uint32_t> gangs_;       // Gangs placed and not done, of parts on the device.
  std::vector<PlacedGang> placed_early_;   // The last one, of parts on the device.
  bool try_admission_ = false;             // Something changed that admission depends on.
  mutable std::vector<std::uint64_t> need_;   // Scratch, by device.
  mutable std::vector<std::uint32_t> loads_;  // Scratch: arrays to load.
};

}  // namespace seaway::island
