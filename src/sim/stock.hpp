// Stock: what is there while nothing moves, compared with what clients hold.

#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.hpp"
#include "sim/verdict.hpp"

namespace seaway::sim {

/// Taken when all runs are over and all clients wait.
struct Stock {
  struct Device {
    IslandId island = 0;
    DeviceId device = 0;
    std::uint64_t used_bytes = 0;      // By its host.
    std::uint64_t reserved_bytes = 0;  // By its scheduler.
  };
  std::uint64_t held = 0;      // Arrays of which clients have handles.
  std::uint64_t known = 0;     // To the controller.
  std::uint64_t on_hosts = 0;  // In their stores.
  std::vector<Device> devices;
};

/// I9: what lives in the stores is what clients can reach. I10: the controller counts an array as
/// held as long as somebody holds it, and no longer. I11: what lies on a device is reserved there.
void check_holders(Verdict& verdict, const Stock& stock);

/// I12: nobody has more runs without an outcome than its limit allows. `clients` are all that have
/// been there.
void check_backlog(Verdict& verdict, std::uint64_t runs_unfinished, std::uint64_t clients,
                   std::uint64_t runs_in_flight_max);

}  // namespace seaway::sim
