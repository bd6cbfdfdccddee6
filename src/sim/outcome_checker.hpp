// OutcomeChecker: each run that was submitted has one outcome, and the sums are right.

#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "base/ids.hpp"
#include "events/event_stream.hpp"
#include "sim/verdict.hpp"

namespace seaway::sim {

/// I2: one outcome for each run that was submitted, and none for others. I5: a run of which a gang
/// did nothing does not succeed. I20: what clients counted is what happened.
class OutcomeChecker final : public events::EventSink {
 public:
  explicit OutcomeChecker(Verdict& verdict) : verdict_(verdict) {}
  void record(const events::Event& event) override;
  /// At the end: nothing is left open. `counted` is what the clients saw.
  void finish(const Counts& counted);

  /// The controller has begun a new life: what was submitted to the one before has no outcome.
  void restart();
  /// Of all clients, or of one that has ended. Runs without an outcome so far.
  std::size_t open_count() const;
  std::size_t open_count(ClientId client) const;
  /// At the end, where some clients are killed: those that are not had an outcome for each run.
  void finish_open();
  /// At the end of a client that lost nobody and that nobody lost.
  void finish(ClientId client, const Counts& counted);

 private:
  void resolve(const events::Event& event);
  void expect_equal(const Counts& happened, const Counts& counted);

  Verdict& verdict_;
  std::map<RunId, std::uint32_t> outcomes_;  // By run that was submitted.
  std::set<RunId> broken_;                   // A gang of them did nothing.
  std::map<RunId, Stamp> given_up_;          // Of runs that are run again: the last stamp before.
  std::map<ClientId, Counts> seen_;
};

}  // namespace seaway::sim
