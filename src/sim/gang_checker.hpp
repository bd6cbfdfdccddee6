// GangChecker: gangs take their turn once, in one order, alone on their devices.

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

/// I4: parts are launched in stamp order, and on each device gangs take their turn in the order in
/// which they were placed, none left out. I5: once each, on all devices of the gang, to its end.
/// I17: no device runs two. I20: statistics count the gangs that ran. A scheduler that begins anew
/// goes on with the gangs that its host has: what the one before said, and the host never heard,
/// was not said.
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
  void launch(const events::Event& event);
  void place(const events::Event& event);
  void start(const events::Event& event, bool runs);
  void begin_view(IslandId island);
  void turn(Place where, const std::string& name, std::uint64_t order, const Gang& gang, bool runs);
  void end(const events::Event& event);

  const Surroundings& surroundings_;
  Verdict& verdict_;
  std::map<IslandId, Stamp> last_launch_;
  std::map<IslandId, Placed> placed_;
  std::map<Place, std::uint64_t> last_start_;  // Place in the order, by device.
  std::map<Place, Gang> running_;              // By device.
  std::map<Place, std::uint64_t> ended_;       // How many gangs ran to their end, by device.
  std::map<std::pair<IslandId, Gang>, std::vector<DeviceId>> started_;  // And not ended.
  std::set<std::pair<IslandId, Gang>> seen_;
};

}  // namespace seaway::sim
