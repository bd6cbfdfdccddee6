// ShareChecker: tenants that compete get their shares, and no part that is admitted starves.

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "events/event_stream.hpp"
#include "sim/surroundings.hpp"
#include "sim/verdict.hpp"

namespace seaway::sim {

/// I13, on each island by itself.
///
/// Shares: a contest goes on while the same two or more tenants have runs that wait for a stamp,
/// and all gangs cost the same and use the same devices. Of the gangs of runs that were stamped in
/// it, each tenant starts its weight's share, within a tenth of that share, whenever kGangs of them
/// have started. Not in a flood, where his other runs may be what a tenant has had.
///
/// Starvation: while an admitted part has placed nothing further, at most kGangs gangs of later
/// stamps start on its devices. Waiting for another island's value is no starvation.
class ShareChecker final : public events::EventSink {
 public:
  static constexpr std::uint64_t kGangs = 1'000;

  ShareChecker(const Surroundings& surroundings, Verdict& verdict)
      : surroundings_(surroundings), verdict_(verdict) {}
  void record(const events::Event& event) override;

  /// How many times the shares of a contest were measured.
  std::uint64_t measured() const { return measured_; }

 private:
  struct Contest {
    std::uint64_t number = 0;       // Of the set of tenants that compete.
    std::uint64_t cost_ns = 0;      // Of every gang in it.
    std::vector<DeviceId> devices;  // Of every gang in it.
    std::map<TenantId, std::uint64_t> gangs;
    std::uint64_t sum = 0;
  };
  struct Waiting {             // An admitted part with gangs that are not placed.
    std::uint64_t passed = 0;  // Gangs of later stamps since it placed one.
    std::vector<DeviceId> devices;
    TenantId tenant = 0;
    bool is_admitted = false, is_known = false, needs_others = false;
    std::uint64_t placed = 0, gangs = 0;
  };

  void count_queued(TenantId tenant, bool is_more);
  void start(const events::Event& event);
  void measure(IslandId island, Contest& contest);
  void follow(const events::Event& event);
  void prepare(const events::Event& event);
  void pass(const events::Event& event, const std::vector<DeviceId>& devices);

  const Surroundings& surroundings_;
  Verdict& verdict_;
  std::map<RunId, TenantId> queued_;               // Submitted, and without a stamp.
  std::map<TenantId, std::uint64_t> queue_sizes_;  // Only of tenants that have some.
  std::uint64_t contest_ = 0;                  // Rises when the set of competing tenants changes.
  std::map<Stamp, std::uint64_t> contest_of_;  // In which contest a stamp was given.
  std::map<IslandId, Contest> contests_;
  std::map<std::pair<IslandId, Stamp>, Waiting> waiting_;
  std::uint64_t measured_ = 0;
};

}  // namespace seaway::sim
