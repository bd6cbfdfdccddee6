// WaitLog: what has begun and not ended in one world, and from that who waits for whom.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "events/event_stream.hpp"
#include "events/wait_graph.hpp"
#include "sim/surroundings.hpp"
#include "sim/verdict.hpp"

namespace seaway::sim {

/// Remembers the events that begin and end runs, parts, gangs and edges; nothing is worked out of
/// them before somebody asks, for hardly anybody does.
class WaitLog final : public events::EventSink {
 public:
  static constexpr std::size_t kEventsMax = 1 << 20;

  void record(const events::Event& event) override;

  /// Who waits for whom now: runs for gangs; gangs for gangs, for room, for edges and for devices.
  /// `surroundings` know the plans of the parts that have not ended.
  events::WaitGraph graph(const Surroundings& surroundings) const;

  /// For people, at most `lines_max` lines: the circle, if there is one; otherwise the chain from
  /// the first unfinished run that the violations name, or from the first of all, to what it waits
  /// for last. Empty when nothing waits.
  std::string explain(const Surroundings& surroundings, std::span<const Violation> violations,
                      std::size_t lines_max) const;

 private:
  std::vector<events::Event> events_;
};

}  // namespace seaway::sim
