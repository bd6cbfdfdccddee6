// CoreOptions: what one island's scheduler is given at its start: devices, room, policy and limits.

#pragma once

#include <cstdint>

namespace seaway::island {

/// Any order among free gangs is allowed (rule 7); these two are offered.
enum class Policy : std::uint8_t {
  kFifo,    // The smallest stamp first.
  kShares,  // Tenants by weighted proportional share of gang time; within a tenant by stamp.
};

/// When a gang that is not free is placed, once rule 2 permits it and no free gang can be placed.
enum class EarlyPlacement : std::uint8_t {
  kNever,
  kOneWaits,  // Only while no other such gang still waits for its inputs on a device of its part,
              // and no free gang waits for its place.
  kAlways,
};

/// FOR TESTS ONLY: leaves one sentence of the rules out, to show the deadlock, overwrite or
/// starvation that it prevents. Production never sets it.
enum class Weakening : std::uint8_t {
  kNone,
  kOrderPerDevice,            // Rule 2 looks only at parts that share a device.
  kOvertakeOnAdmittedInputs,  // Rule 3b takes "its producers are admitted" for "free".
  kOvertakerKeepsSends,       // Rule 3b without host room: outputs stay on the device.
  kHostRoomAtEnd,             // Rule 3b takes host room when the part has finished.
  kGangByGang,                // Rule 3 reserves for the next gang only.
  kOvertakesCounted,          // Rule 4: a fixed count of overtakes instead of the door.
  kNoDoor,                    // Rule 4 left out.
};

struct CoreOptions {
  std::uint32_t devices = 1;
  std::uint64_t memory_bytes = 0;  // Of each device.
  /// Host room for spilled arrays. Rule 1's quotas keep all kept arrays within it: then a finished
  /// array can always be spilled.
  std::uint64_t spill_bytes = 0;
  /// Host room that overtakers reserve for their sends (rule 3b). Apart from spill_bytes, so that
  /// an overtaker never takes the room that an admission in order needs.
  std::uint64_t send_room_bytes = 0;

  Policy policy = Policy::kFifo;
  EarlyPlacement early = EarlyPlacement::kOneWaits;
  /// Gang time that may be placed and unfinished on a device while several tenants compete
  /// (Policy::kShares). A lone tenant's free gangs are all placed at once.
  std::uint64_t window_ns = 200'000;

  struct Limits {
    std::uint32_t launches_max = 65'536;   // Parts launched and not finished.
    std::uint32_t overtake_scan_max = 64;  // Waiting parts tried as overtakers per pass.
    std::uint32_t plans_max = 4'096;       // Plans whose profile is kept while no part uses them.
  } limits;

  /// True: the core decides nothing by itself; the caller picks from choices(). For the explorer.
  bool manual = false;
  Weakening weakening = Weakening::kNone;
  std::uint32_t overtakes_max = 4;  // Weakening::kOvertakesCounted only.
};

}  // namespace seaway::island
