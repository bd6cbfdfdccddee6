// TraceWriter: a stream of events as Chrome trace-event JSON, which opens in Perfetto.

#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "events/event.hpp"

namespace seaway::events {

/// Names one gang of one run, as kGangStart and kGangEnd do.
struct GangKey {
  IslandId island = 0;
  Stamp stamp = 0;
  std::uint32_t position = 0;

  friend auto operator<=>(const GangKey&, const GangKey&) = default;
};

/// What people want to read about a gang; events carry numbers alone.
struct GangLabel {
  std::string name;                // Function of the gang, or "reshard", "send".
  std::string program;             // Name of the program.
  std::uint32_t node = 0;          // Node of the program.
  std::vector<DeviceId> devices;   // Where it ran; empty: one track named after the group.
  std::vector<GangKey> producers;  // Gangs whose results it read, in any order.
};

/// How numbers become names. Each may be empty: the writer then prints the numbers.
struct TraceNames {
  std::function<std::string(IslandId)> island;
  std::function<std::string(IslandId, DeviceId)> device;
  std::function<std::string(TenantId)> tenant;
  std::function<GangLabel(const Event& gang_event)> gang;
};

/// Writes `events` (in the order recorded) as one JSON object, entries sorted by time.
///
/// Process 0 is "clients", with one track per tenant; process i + 1 is island i, with track 0 for
/// its scheduler and track d + 1 for device d. A gang is a complete event on each of its devices;
/// one that has not ended reaches to the last event and says "unfinished". Arrows lead from a
/// submission to the run's first gang, from producer gangs to consumer gangs, and from the gang
/// that made the newest array that a part reads to the part's first gang; an arrow is left out when
/// an end of it is no longer in `events`. The memory of each device is a counter track, where a
/// spike before a point is the most that was used since the point before.
void write_trace(std::ostream& out, std::span<const Event> events, const TraceNames& names);

/// The same, as text.
std::string trace_to_string(std::span<const Event> events, const TraceNames& names);

}  // namespace seaway::events
