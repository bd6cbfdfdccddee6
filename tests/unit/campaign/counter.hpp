// Counter: the actor that the worlds of these tests are about, and worlds around it.

#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "../app/messages.capnp.h"
#include "seaway/app.hpp"
#include "seaway/app/explore.hpp"

namespace seaway::campaign {

using app_test::Add;
using app_test::Total;

/// Adds up what it is told, and forgets nothing when it dies.
class Counter {
 public:
  static void describe(ActorType<Counter>& type) {
    type.on(&Counter::add).snapshot(&Counter::save, &Counter::restore);
  }
  explicit Counter(Self) {}

  Reply<Total> add(Request<Add> request) {
    total_ += request->getAmount();
    return save();
  }

 private:
  Message<Total> save() const {
    return make<Total>([this](Total::Builder m) { m.setTotal(total_); });
  }
  Status restore(Message<Total> saved) {
    total_ = saved->getTotal();
    return {};
  }
  std::int64_t total_ = 0;
};

const auto one = [](Add::Builder m) { m.setAmount(1); };

/// Has a counter on host 1 count to ten, call by call. Without `once` it may come to more: a call
/// that is sent again may have been handled before.
inline void count_to_ten(Simulation& world, bool is_once) {
  Client client = world.connect().value();
  const auto counters =
      client.spawn<Counter>(SpawnOptions(client.hosts()).intensity({.restarts_max = 1000}));
  if (!counters.ok()) return;
  std::int64_t total = 0;
  for (int i = 0; i < 10; ++i) {
    const auto answer =
        counters->at(1).call(&Counter::add, one, CallOptions{.retries = 50, .once = is_once}).get();
    if (!answer.ok()) return;  // Too many deaths in a row.
    total = (*answer)->getTotal();
  }
  world.expect(total == 10, "count", "it counted to " + std::to_string(total));
}

}  // namespace seaway::campaign
