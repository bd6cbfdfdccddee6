// Counter: an actor that adds up what it is told, and forgets nothing when it dies.

#pragma once

#include <cstdint>
#include <seaway/app.hpp>

#include "app_name.capnp.h"

namespace app_name_app {

/// One object lives on each host. Its methods run one at a time, so nothing here is locked; it is
/// reached by messages alone.
class Counter {
 public:
  /// Which methods handle messages (each is found by the type of its request), and what is kept.
  static void describe(seaway::ActorType<Counter>& type);

  /// `start` is what client.spawn<Counter>(place, start) was given.
  Counter(seaway::Self self, std::int64_t start);

  seaway::Reply<Total> add(seaway::Request<Add> request);
  seaway::Reply<Total> look(seaway::Request<Look> request);

 private:
  /// What is kept of it after each message, and given to the next one when it dies.
  seaway::Message<Total> save() const;
  seaway::Status restore(seaway::Message<Total> saved);

  seaway::Self self_;  // Its hold on itself: its name, its place, time, other actors.
  std::int64_t total_;
};

/// Combines the answers of two counters. Hosts that are processes know it by its name.
inline constexpr seaway::Combining kPlus{"app_name.plus",
                                         [](Total::Reader a, Total::Reader b, Total::Builder out) {
                                           out.setTotal(a.getTotal() + b.getTotal());
                                         }};

}  // namespace app_name_app
