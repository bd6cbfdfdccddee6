// What must hold of Counters, also when hosts die: in a simulated cluster, where every choice comes
// from a seed. The exit code is 1 when something does not hold.

#include "counter.hpp"

#include <cstdint>
#include <cstdio>
#include <functional>
#include <seaway/app/simulation.hpp>
#include <string>

using namespace app_name_app;
using seaway::Simulation;

namespace {

int wrong = 0;

void expect(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "wrong: %s\n", what.c_str());
  ++wrong;
}

const auto three = [](Add::Builder m) { m.setAmount(3); };

void each_counter_adds_for_itself(Simulation& world) {
  auto client = world.connect().value();
  auto counters = client.spawn<Counter>(client.hosts(), 10).value();

  counters.at(2).call(&Counter::add, three).get().value();
  const auto totals = counters.call(&Counter::look).get();

  for (std::size_t i = 0; i < totals.size(); ++i) {
    const auto total = totals.at(i).value()->getTotal();
    expect(total == (i == 2 ? 13 : 10),
           "counter " + std::to_string(i) + " has " + std::to_string(total));
  }
}

void a_host_that_dies_takes_nothing_with_it(Simulation& world) {
  auto client = world.connect().value();
  auto counters = client.spawn<Counter>(client.hosts(), 10).value();

  counters.at(1).call(&Counter::add, three).get().value();
  expect(world.kill_host(1).ok(), "host 1 can be killed");
  // The counter comes back with what it had: the call is sent again until it does.
  const auto after = counters.at(1).call(&Counter::look, seaway::CallOptions{.retries = 10}).get();

  expect(after.ok(), "a counter whose host died answers: " + after.status().to_string());
  if (after.ok()) {
    expect((*after)->getTotal() == 13,
           "it has " + std::to_string((*after)->getTotal()) + ", not 13");
  }
}

/// Each seed is another order of events and another delay of each message; a seed that fails does
/// so again, step by step.
void simulate(const char* name, const std::function<void(Simulation&)>& body) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const int wrong_before = wrong;
    const auto report = seaway::simulate({.seed = seed}, body);
    expect(report.status.ok(), "the simulation does not end well");
    if (wrong > wrong_before)
      std::fprintf(stderr, "  in: %s, %s\n", name, report.to_string().c_str());
  }
}

}  // namespace

int main() {
  simulate("each counter adds for itself", each_counter_adds_for_itself);
  simulate("a host that dies takes nothing with it", a_host_that_dies_takes_nothing_with_it);
  std::printf("%d things are wrong\n", wrong);
  return wrong == 0 ? 0 : 1;
}
