// LossChecker: a lost device runs nothing, and nobody fails of a loss that did not concern him.

#pragma once

#include <map>
#include <set>
#include <utility>

#include "base/ids.hpp"
#include "events/event_stream.hpp"
#include "sim/surroundings.hpp"
#include "sim/verdict.hpp"

namespace seaway::sim {

/// I3: a device is lost only for a reason, which failed launches that may be tried again are not; a
/// run ends with DEVICE_LOST only behind a loss, and when it had a stamp, of a device that it uses.
/// I5: no gang starts to compute on a lost device or to write there, and no run succeeds of which a
/// gang ran there when it was lost: with a stamp behind its last rerun, which only a loss causes.
class LossChecker final : public events::EventSink {
 public:
  LossChecker(const Surroundings& surroundings, Verdict& verdict)
      : surroundings_(surroundings), verdict_(verdict) {}
  void record(const events::Event& event) override;
  /// The host of `island` has begun a new life, with devices that have lost nothing yet.
  void forget(IslandId island);

 private:
  using Place = std::pair<IslandId, DeviceId>;
  void lose(const events::Event& event);
  void prepare(const events::Event& event);
  bool writes_where_lost(const events::Event& event) const;
  void start(const events::Event& event);
  void doom(const events::Event& event);
  void run_again(const events::Event& event);
  bool has_lost_device(RunId run) const;
  void resolve(const events::Event& event);

  const Surroundings& surroundings_;
  Verdict& verdict_;
  std::set<Place> lost_;       // In this life of their hosts,
  std::set<Place> ever_lost_;  // and in any.
  std::map<Stamp, RunId> run_of_;
  std::map<RunId, std::set<Place>> used_by_;  // By runs with a stamp.
  std::set<RunId> with_effects_;              // Not idempotent.
  std::map<RunId, Stamp> first_stamp_;        // Since their last rerun.
  std::set<RunId> in_segments_;               // They had another one after it.
  std::set<RunId> doomed_;                    // A gang of theirs ended on a lost device.
  std::map<RunId, Stamp> stamp_before_;       // Their last rerun.
  bool may_lose_hosts_ = false;               // They are processes: then hosts are a cause, too.
};

}  // namespace seaway::sim
