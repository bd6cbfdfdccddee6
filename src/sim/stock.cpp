// Handles against records, bytes against reservations.

#include "sim/stock.hpp"

#include <string>

namespace seaway::sim {

void check_holders(Verdict& verdict, const Stock& stock) {
  const auto text = [](std::uint64_t number) { return std::to_string(number); };
  if (stock.known != stock.held) {
    verdict.report(Breach::kCorrectness, "I10",
                   "while nothing moves the controller knows " + text(stock.known) +
                       " arrays, and clients hold " + text(stock.held));
  }
  if (stock.on_hosts > stock.held) {
    verdict.report(Breach::kCorrectness, "I9",
                   "while nothing moves hosts store " + text(stock.on_hosts) +
                       " arrays, and clients hold " + text(stock.held));
  }
  for (const Stock::Device& device : stock.devices) {
    // The scheduler may have reserved more: it does not hear which arrays are poison.
    if (device.used_bytes <= device.reserved_bytes) continue;
    verdict.report(Breach::kCorrectness, "I11",
                   "while nothing moves device " + text(device.device) + " of island " +
                       text(device.island) + " has " + text(device.used_bytes) +
                       " bytes in use, and its scheduler has reserved " +
                       text(device.reserved_bytes));
  }
}

}  // namespace seaway::sim
