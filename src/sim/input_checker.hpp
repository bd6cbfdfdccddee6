// InputChecker: a gang starts only when its room is reserved and all that it reads is there.

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "base/ids.hpp"
#include "events/event_stream.hpp"
#include "sim/surroundings.hpp"
#include "sim/verdict.hpp"

namespace seaway::sim {

/// I6: before a gang starts, its part was admitted, what it reads was made, received or loaded, and
/// its outputs have their memory; an edge is received once, after it was sent. I9: nobody reads an
/// array that was freed, or that lay on a device when it was lost. Causes are other events, never
/// times.
class InputChecker final : public events::EventSink {
 public:
  InputChecker(const Surroundings& surroundings, Verdict& verdict)
      : surroundings_(surroundings), verdict_(verdict) {}
  void record(const events::Event& event) override;

 private:
  using Gang = std::tuple<IslandId, Stamp, std::uint32_t>;       // Index within the part.
  using Edge = std::tuple<Stamp, std::uint32_t, std::uint32_t>;  // Stamp, edge, receiver.
  struct Array {
    bool is_on_device = false, is_made = false, is_freed = false, is_lost = false;
  };
  void load(const std::pair<IslandId, ArrayId>& key);
  void resolve(const events::Event& event);
  void lose(const events::Event& event);
  bool lies_at_loss(const std::pair<IslandId, ArrayId>& key) const;
  void transfer(const events::Event& event);
  void start(const events::Event& event);
  void end(const events::Event& event);
  void check_operand(const events::Event& event, const PartFacts& part, std::uint32_t gang,
                     std::uint32_t value);
  void check_array(const events::Event& event, ArrayId id);
  void complain(const events::Event& event, const char* invariant, const std::string& text);

  const Surroundings& surroundings_;
  Verdict& verdict_;
  std::set<std::pair<IslandId, Stamp>> admitted_;
  std::set<Gang> ended_;
  std::map<Edge, std::pair<int, int>> edges_;  // Sent, received.
  std::map<std::pair<IslandId, ArrayId>, Array> arrays_;
  std::set<std::pair<IslandId, DeviceId>> lost_;
  std::map<RunId, ArrayId> lost_inputs_;  // Lost while a gang of the run read them.
};

}  // namespace seaway::sim
