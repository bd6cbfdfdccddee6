// Checkers: all observers of one world that know what may follow what.

#pragma once

#include "events/event_stream.hpp"
#include "sim/delay_checker.hpp"
#include "sim/gang_checker.hpp"
#include "sim/input_checker.hpp"
#include "sim/loss_checker.hpp"
#include "sim/memory_checker.hpp"
#include "sim/outcome_checker.hpp"
#include "sim/progress_checker.hpp"
#include "sim/share_checker.hpp"

namespace seaway::sim {

/// They read events and `surroundings`, never an actor's private state. Both references outlive it.
class Checkers final : public events::EventSink {
 public:
  Checkers(const Surroundings& surroundings, Verdict& verdict)
      : outcomes_(verdict),
        delays_(surroundings, verdict),
        gangs_(surroundings, verdict),
        inputs_(surroundings, verdict),
        losses_(surroundings, verdict),
        memory_(surroundings, verdict),
        progress_(verdict),
        shares_(surroundings, verdict) {}

  void record(const events::Event& event) override {
    outcomes_.record(event);
    delays_.record(event);
    gangs_.record(event);
    inputs_.record(event);
    losses_.record(event);
    memory_.record(event);
    progress_.record(event);
    shares_.record(event);
  }
  /// Once nothing can happen any more. `counted` is what the clients saw.
  void finish(const Counts& counted) {
    outcomes_.finish(counted);
    gangs_.finish();
    memory_.finish();
    progress_.finish();
  }
  const ShareChecker& shares() const { return shares_; }

 private:
  OutcomeChecker outcomes_;
  DelayChecker delays_;
  GangChecker gangs_;
  InputChecker inputs_;
  LossChecker losses_;
  MemoryChecker memory_;
  ProgressChecker progress_;
  ShareChecker shares_;
};

}  // namespace seaway::sim
