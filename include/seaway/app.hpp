// Distributed apps: actors with messages of a Cap'n Proto schema. Where to start.
//
//   class Counter {                                  // Add and Total are structs of the schema.
//    public:
//     static void describe(seaway::ActorType<Counter>& type) { type.on(&Counter::add); }
//     Counter(seaway::Self self, std::int64_t start) : self_(self), total_(start) {}
//     seaway::Reply<Total> add(seaway::Request<Add> request) {
//       total_ += request->getAmount();
//       return seaway::make<Total>([this](Total::Builder m) { m.setTotal(total_); });
//     }
//    private:
//     seaway::Self self_;
//     std::int64_t total_;
//   };
//
//   auto counters = client.spawn<Counter>(client.hosts(), 0).value();   // One on each host.
//   auto totals = counters.call(&Counter::add, [](Add::Builder m) { m.setAmount(3); });
//   for (const auto& total : totals.get()) ...
//
// Read next: app/actor.hpp (what an actor says about itself, and what it can do), app/mesh.hpp
// (calls and their answers), app/message.hpp (reading and writing), app/task.hpp (co_await).

#pragma once

#include "seaway/app/actor.hpp"
#include "seaway/app/mesh.hpp"
#include "seaway/app/message.hpp"
#include "seaway/app/task.hpp"
#include "seaway/seaway.hpp"
