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

void check_backlog(Verdict& verdict, std::uint64_t runs_unfinished, std::uint64_t clients,
                   std::uint64_t runs_in_flight_max) {
  if (runs_unfinished <= clients * runs_in_flight_max) return;
  verdict.report(Breach::kCorrectness, "I12",
                 std::to_string(runs_unfinished) + " runs have no outcome at the controller, but " +
                     std::to_string(clients) + " clients may have " +
                     std::to_string(runs_in_flight_max) + " each");
}

}  // namespace seaway::sim
