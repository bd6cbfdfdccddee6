// What must hold of Counters, whatever goes wrong: in simulated clusters whose hosts die, stand
// still and have wrong clocks, each as its seed says. The exit code is 1 when something does not
// hold; what is printed then says how to see it again.

#include "counter.hpp"

#include <cstdint>
#include <cstdio>
#include <seaway/app/explore.hpp>
#include <string>

using namespace app_name_app;

namespace {

const auto three = [](Add::Builder m) { m.setAmount(3); };

void each_addition_counts_once(seaway::Simulation& world) {
  auto client = world.connect().value();
  auto counters = client.spawn<Counter>(client.hosts(), 10);
  if (!counters.ok()) return;  // A host died at the wrong moment, and we are told: no mistake.

  // Sent again while its host is dead, and counted once all the same. Leave out `once` to see what
  // a test that fails prints.
  const seaway::CallOptions options{.retries = 50, .once = true};
  for (std::int64_t total = 13; total <= 25; total += 3) {
    const auto answer = counters->at(1).call(&Counter::add, three, options).get();
    if (!answer.ok()) return;
    world.expect(
        (*answer)->getTotal() == total, "each addition counts once",
        "it has " + std::to_string((*answer)->getTotal()) + ", not " + std::to_string(total));
  }
}

}  // namespace

int main() {
  const auto report =
      seaway::sim::explore({.name = "additions", .seeds = 300}, {}, each_addition_counts_once);
  std::printf("%s\n", report.to_string().c_str());
  return report.ok ? 0 : 1;
}
