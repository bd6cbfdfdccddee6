// Trace: the events of a cluster with the names that users gave.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cluster/embedded.hpp"
#include "events/trace_writer.hpp"

namespace seaway::cluster {

/// Which plan each part of some events ran: names of gangs come from plans. Control thread, or
/// while nothing runs; both references outlive it.
class PlanNames {
 public:
  PlanNames(Embedded& embedded, const std::vector<events::Event>& events);

  /// 0 when the events do not say.
  RunId run_of(Stamp stamp) const;
  /// Empty when the part is not known any more.
  events::GangLabel label(const events::Event& gang_event) const;
  /// `events` with one kGangEnd for each gang: gangs that share a reading of the clock get equal
  /// parts of its time.
  std::vector<events::Event> gang_by_gang(const std::vector<events::Event>& events) const;

 private:
  const program::PartPlan* part_of(const events::GangKey& key) const;
  void add_producer(const events::GangKey& key, const program::PartPlan& part, std::uint32_t value,
                    std::vector<events::GangKey>& producers) const;

  Embedded& embedded_;
  std::map<std::pair<IslandId, Stamp>, const program::PartPlan*> plans_;
  std::map<Stamp, RunId> runs_;
};

/// The events that the cluster's ring still has, as Chrome trace-event JSON. Threads as above.
std::string trace_of(Embedded& embedded);

}  // namespace seaway::cluster
