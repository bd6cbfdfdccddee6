// Inspect: what an embedded cluster has done, for people, demos and tests: counters, recent gangs,
// and a trace that opens in a browser.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "seaway/client.hpp"
#include "seaway/status.hpp"

namespace seaway {

/// One device since the cluster started.
struct DeviceStats {
  std::uint32_t island = 0;
  std::uint32_t device = 0;  // Index within its island.
  std::uint64_t gangs = 0;   // In which it took part.
  std::uint64_t busy_ns = 0;
  std::uint64_t peak_bytes = 0;  // Most memory ever in use at once.
  std::uint64_t budget_bytes = 0;
  /// Of the gangs, those in which all other devices waited for this one for at least half of the
  /// time. Many of them name a straggler.
  std::uint64_t delayed = 0;

  /// "island 0, device 1: 3 gangs, busy 1200 ns, peak 64 of 1024 bytes", and for a straggler
  /// ", delayed 2 of the gangs".
  std::string to_string() const;
};

/// The spill room of one host, where a part of it is a file (cluster option spill_memory).
struct SpillStats {
  std::uint32_t island = 0;
  std::uint64_t memory_bytes = 0;  // Of memory and of the file, now.
  std::uint64_t file_bytes = 0;
  std::uint64_t writes = 0;        // Arrays that went to the file.
  std::uint64_t reads_ahead = 0;   // Those that were back before they were needed,
  std::uint64_t reads_waited = 0;  // and those that somebody waited for.
  std::uint64_t failures = 0;      // Of writes, which are tried again, and of reads.

  /// "island 0, host room: 1024 bytes in memory, 4096 in the file; 9 arrays written, 5 read ahead,
  /// 1 waited for", and ", 1 failure".
  std::string to_string() const;
};

/// Messages sent to all actors of one role since the cluster started.
struct MessageStats {
  std::uint64_t frames = 0;
  std::uint64_t bytes = 0;

  /// "3 frames of 480 bytes".
  std::string to_string() const;
};

/// Counters that only rise, but for `time_ns` all 0 at the start: the difference of two is what
/// happened between them. But for the bytes of `spills`, which are those of now.
struct ClusterStats {
  std::uint64_t time_ns = 0;         // The cluster's clock, which also times gangs.
  std::vector<DeviceStats> devices;  // By island, then device.
  std::vector<SpillStats> spills;    // By island; none where host room is memory.
  MessageStats to_controller, to_islands, to_hosts, to_clients;

  std::uint64_t frames() const {
    return to_controller.frames + to_islands.frames + to_hosts.frames + to_clients.frames;
  }
  std::uint64_t busy_ns() const;
  std::uint64_t peak_bytes() const;  // Of the device with most.
  /// A line for messages, and one for each device and each host room with a file.
  std::string to_string() const;
};

/// One gang that has ended: one call of a function over all its devices, or one copy.
struct GangRecord {
  std::uint32_t island = 0;
  std::vector<std::uint32_t> devices;
  std::string function;  // "reshard" for a copy, "send" for an argument that goes elsewhere.
  std::string program;
  std::string tenant;
  std::uint64_t run = 0;
  std::uint64_t stamp = 0;     // Place of its run in the one sequence of all runs.
  std::uint32_t position = 0;  // Place in its run.
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;

  /// "step_one of train, run 7 of client 1, island 0, devices 0 1, 1200 ns".
  std::string to_string() const;
};

// Each of these asks the control thread and blocks until it has answered; they cost what they
// return. Errors: kInvalidArgument for an empty handle, in an actor's handler, or on the control
// thread itself.

Result<ClusterStats> stats(const Cluster& cluster);

/// The gangs that ended lately, in the order in which they ended: as many as the event ring
/// remembers, which is some thousands. Gangs far below a microsecond that ran back to back share
/// one measured time: each is given an equal part of it.
Result<std::vector<GangRecord>> recent_gangs(const Cluster& cluster);

/// The same events as Chrome trace-event JSON, for ui.perfetto.dev: a process for clients and for
/// each island, a track for each tenant, scheduler and device, arrows from submissions to gangs and
/// from gangs to gangs that read their results.
Result<std::string> chrome_trace(const Cluster& cluster);

}  // namespace seaway
