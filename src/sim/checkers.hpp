// Checkers: observers of the event stream that know what may follow what.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "events/event_stream.hpp"
#include "sim/verdict.hpp"

namespace seaway::sim {

/// Facts that events leave out, asked while the event is being recorded.
struct Surroundings {
  /// The devices of one group of a part; null when the island does not know the part.
  std::function<const std::vector<DeviceId>*(IslandId, Stamp, std::uint32_t group)> devices_of;
  /// The index within its part of the gang with this position in its program.
  std::function<std::uint32_t(IslandId, Stamp, std::uint32_t position)> index_of;
  /// Bytes used on a device, and its budget.
  std::function<std::pair<std::uint64_t, std::uint64_t>(IslandId, DeviceId)> memory_of;
  std::uint32_t devices = 0;  // Of each island.
};

/// I2 and I20: each run that was submitted has one outcome, and no other run has one.
class OutcomeChecker final : public events::EventSink {
 public:
  explicit OutcomeChecker(Verdict& verdict) : verdict_(verdict) {}
  void record(const events::Event& event) override;
  /// At the end: nothing is left open.
  void finish();
  std::uint64_t submitted() const { return outcomes_.size(); }

 private:
  Verdict& verdict_;
  std::map<RunId, std::uint32_t> outcomes_;  // By run that was submitted.
};

/// I4, I5, I17: gangs start in the order in which they were placed, on each device of their group
/// alike, one at a time, and end as often as they start.
class GangChecker final : public events::EventSink {
 public:
  GangChecker(const Surroundings& surroundings, Verdict& verdict)
      : surroundings_(surroundings), verdict_(verdict) {}
  void record(const events::Event& event) override;
  void finish();

 private:
  using Gang = std::pair<Stamp, std::uint32_t>;  // Index within the part of the island.
  using Place = std::pair<IslandId, DeviceId>;
  struct Placed {
    std::map<Gang, std::uint64_t> order;  // Where each gang of an island stands in its order.
    std::uint64_t size = 0;
  };
  void place(const events::Event& event);
  void start(const events::Event& event, bool runs);
  void end(const events::Event& event);

  const Surroundings& surroundings_;
  Verdict& verdict_;
  std::map<IslandId, Placed> placed_;
  std::map<Place, std::uint64_t> last_start_;  // Place in the order, by device.
  std::map<Place, Gang> running_;              // By device.
  std::map<std::pair<IslandId, Gang>, std::vector<DeviceId>> started_;  // And not ended.
  std::set<std::pair<IslandId, Gang>> seen_;
};

/// I9 and I11: budgets hold at every event; an array is allocated before it is freed, and once.
class MemoryChecker final : public events::EventSink {
 public:
  MemoryChecker(const Surroundings& surroundings, Verdict& verdict)
      : surroundings_(surroundings), verdict_(verdict) {}
  void record(const events::Event& event) override;
  void finish();

 private:
  enum class State : std::uint8_t { kOnDevice, kOnHost };
  const Surroundings& surroundings_;
  Verdict& verdict_;
  std::map<std::pair<IslandId, ArrayId>, State> arrays_;
};

/// I6: an edge is received once, after it was sent.
class EdgeChecker final : public events::EventSink {
 public:
  explicit EdgeChecker(Verdict& verdict) : verdict_(verdict) {}
  void record(const events::Event& event) override;

 private:
  Verdict& verdict_;
  // By stamp, edge and receiver: sent, received.
  std::map<std::tuple<Stamp, std::uint32_t, IslandId>, std::pair<int, int>> edges_;
};

}  // namespace seaway::sim
