// What must hold of Counters, also when they die. The exit code is 1 when something does not.

#include "counter.hpp"

#include <cstdio>
#include <string>

using namespace app_name_app;

namespace {

int wrong = 0;

void expect(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "wrong: %s\n", what.c_str());
  ++wrong;
}

const auto three = [](Add::Builder m) { m.setAmount(3); };

void each_counter_adds_for_itself() {
  auto client = seaway::connect("embedded:islands=4,devices=1").value();
  auto counters = client.spawn<Counter>(client.hosts(), 10).value();

  counters.at(2).call(&Counter::add, three).get().value();
  const auto totals = counters.call(&Counter::look).get();

  for (std::size_t i = 0; i < totals.size(); ++i) {
    const auto total = totals.at(i).value()->getTotal();
    expect(total == (i == 2 ? 13 : 10),
           "counter " + std::to_string(i) + " has " + std::to_string(total));
  }
}

void a_counter_that_dies_forgets_nothing() {
  auto client = seaway::connect("embedded:islands=4,devices=1").value();
  auto counters = client.spawn<Counter>(client.hosts(), 10).value();

  counters.at(1).call(&Counter::add, three).get().value();
  counters.at(1).kill();
  // It comes back with what it had: the call is sent again until it does.
  const auto after = counters.at(1).call(&Counter::look, seaway::CallOptions{.retries = 10}).get();

  expect(after.ok(), "a counter that was killed answers: " + after.status().to_string());
  if (after.ok()) {
    expect((*after)->getTotal() == 13,
           "it has " + std::to_string((*after)->getTotal()) + ", not 13");
  }
}

}  // namespace

int main() {
  each_counter_adds_for_itself();
  a_counter_that_dies_forgets_nothing();
  std::printf(wrong == 0 ? "all holds\n" : "%d things are wrong\n", wrong);
  return wrong == 0 ? 0 : 1;
}
