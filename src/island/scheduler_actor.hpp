// SchedulerActor: messages to and from one island's scheduler.

#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "actor/actor.hpp"
#include "actor/held_frames.hpp"
#include "actor/offload.hpp"
#include "actor/ordered_offload.hpp"
#include "actor/router.hpp"
#include "base/clock.hpp"
#include "events/event_stream.hpp"
#include "island/scheduler_core.hpp"

namespace seaway::island {

/// One island's scheduler: launches in, orders out. It speaks to its host, to the schedulers that
/// wait for its values, and to the controller; each gets one frame when the mailbox runs empty.
class SchedulerActor final : public actor::Actor {
 public:
  /// `is_process`: it is a process of its own, and works in views.
  SchedulerActor(IslandId island, const CoreOptions& options, actor::Router& router,
                 const Clock& clock, events::EventStream& events, bool is_process = false);

  void receive(const Frame& frame) override;
  void idle() override;
  /// Plans of many gangs are decoded so from now on.
  void use(actor::OffloadOptions offload);

  const SchedulerCore& core() const { return core_; }
  /// Plans that launches may name.
  std::size_t plan_count() const { return plans_.size(); }
  /// Of the island, in which it speaks; 0 where no view ever ends.
  std::uint32_t view() const { return view_; }

 private:
  struct Failed {
    Stamp stamp = 0;
    Status status;
  };
  struct Decoder;
  /// An edge that peers were told of, of a part that is not over.
  struct Said {
    Stamp stamp = 0;
    std::uint32_t edge = 0;
    IslandId peer = 0;
  };

  void handle(const Frame& frame);
  void define_plan(PlanId plan, const Frame& frame);
  void add_plan(Result<program::PartPlanPtr> plan);
  void restore(const Snapshot& snapshot);
  void hold(actor::HeldFrames& frames, const Frame& frame);
  void pass_on(const Frame& frame);
  void forget_plan(PlanId id);
  void doubt_host(const Status& why);
  void take_actions();
  void record(const Action& action);
  void flush_orders();
  void flush_exists();
  void flush_finished();

  const IslandId island_;
  const CoreOptions options_;
  actor::Router& router_;
  const Clock& clock_;
  events::EventStream& events_;
  SchedulerCore core_;
  std::unordered_map<PlanId, program::PartPlanPtr> plans_;
  /// A plan is being decoded on another thread, and all messages wait.
  std::unique_ptr<actor::OrderedOffload> decoding_;
  std::uint64_t now_ns_ = 0;  // When the message that is being handled arrived.
  Launch launch_;             // The one that is being read.
  std::vector<Action> orders_, exists_, finished_;
  std::vector<Failed> failed_;
  // Where scheduler and host are processes of their own: see schemas/seaway.capnp, "views".
  const bool is_process_;
  std::uint32_t view_ = 0;
  bool is_view_over_ = false;     // Words of the host were lost in it: the next one is near.
  std::uint64_t turn_ = 0;        // Of the controller, that was heard of last.
  bool is_waiting_ = false;       // For what the host knows, in this view,
  actor::HeldFrames held_;        // and what was said meanwhile.
  actor::HeldFrames early_;       // Of the host, in a view that has not come yet.
  std::vector<Launch> launches_;  // All that is unfinished, as the view began,
  std::vector<ArrayId> named_;    // and the arrays that may still be named.
  std::vector<Said> said_;        // To be said again to a peer that begins anew, while a part of
                                  // the run is unfinished anywhere.
};

}  // namespace seaway::island
