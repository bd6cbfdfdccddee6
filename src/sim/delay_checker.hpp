// DelayChecker: in no stream do others wait behind more than one gang whose inputs do not exist.

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/ids.hpp"
#include "events/event_stream.hpp"
#include "sim/surroundings.hpp"
#include "sim/verdict.hpp"

namespace seaway::sim {

/// P3: what does not depend on a part that is lost is delayed by at most one gang. A gang that is
/// placed early, before another island has made what it reads, holds up its devices for as long as
/// it takes to find out that this is lost: on each device at most one such gang is placed that
/// has not had its turn and still lacks something. All others in a stream can run as soon as they
/// are the first.
///
/// An input exists when the gang that makes it is over, also without having done anything; one that
/// is lost counts as existing.
class DelayChecker final : public events::EventSink {
 public:
  DelayChecker(const Surroundings& surroundings, Verdict& verdict)
      : surroundings_(surroundings), verdict_(verdict) {}
  void record(const events::Event& event) override;
  /// The host of `island` is gone, and what it was to send.
  void lose(IslandId island) { lost_until_[island] = newest_; }

  /// How many gangs were placed early.
  std::uint64_t early() const { return early_; }

 private:
  using Gang = std::pair<Stamp, std::uint32_t>;  // By position in its program.

  void place(const events::Event& event);
  void place_early(IslandId island, const Gang& gang, const std::vector<DeviceId>& devices);
  void begin_view(IslandId island);
  bool lacks(IslandId island, const Gang& gang) const;
  bool exists(IslandId island, Stamp stamp, const program::Receive& receive) const;
  template <class IsOver>
  void end_waits(IslandId island, const IsOver& is_over);

  const Surroundings& surroundings_;
  Verdict& verdict_;
  std::set<std::pair<IslandId, Gang>> over_;               // Gangs that have ended, or did nothing.
  std::set<std::pair<Stamp, std::uint32_t>> sent_;         // Edges.
  std::map<std::pair<IslandId, DeviceId>, Gang> waiting_;  // Placed early, without its turn.
  std::map<IslandId, Stamp> lost_until_;  // What has a later stamp is not lost with that island.
  Stamp newest_ = 0;
  std::uint64_t early_ = 0;
};

}  // namespace seaway::sim
