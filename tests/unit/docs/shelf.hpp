// Shelf and Clerk: the actors with which docs/build-an-app.md begins.

#pragma once

#include <cstdint>
#include <seaway/app.hpp>
#include <utility>
#include <vector>

#include "shelves.capnp.h"

namespace shelves {

// [shelf]
class Shelf {
 public:
  /// Which methods handle messages; each is found by the type of its request.
  static void describe(seaway::ActorType<Shelf>& type) {
    type.on(&Shelf::put).on(&Shelf::look).on(&Shelf::match).on(&Shelf::take).on(&Shelf::sell_off);
  }
  /// What client.spawn<Shelf>(places, 10) hands to each: itself, and 10.
  Shelf(seaway::Self self, std::uint32_t amount) : self_(std::move(self)), amount_(amount) {}

  seaway::Result<seaway::Reply<Level>> put(seaway::Request<Put> request);
  seaway::Reply<Level> look(seaway::Request<Look>) { return level(); }
  seaway::Reply<Level> match(seaway::Request<Level> other);
  void take(seaway::Request<Take> request, seaway::Promise<Level> promise);
  seaway::Task<> sell_off(seaway::Request<SellOff>, seaway::Writer<Level> writer);

 private:
  seaway::Reply<Level> level() const;
  void serve();

  struct Customer {
    std::uint32_t amount;
    seaway::Promise<Level> promise;
  };
  seaway::Self self_;  // Its hold on itself: its name and place, time, other actors.
  std::uint32_t amount_;
  std::vector<Customer> customers_;
};
// [/shelf]

// [clerk]
class Clerk {
 public:
  static void describe(seaway::ActorType<Clerk>& type) {
    type.on(&Clerk::sell).on(&Clerk::restock).on(&Clerk::count);
  }
  Clerk(seaway::Self self, seaway::ActorRef<Shelf> shelf)
      : self_(std::move(self)), shelf_(std::move(shelf)) {}

  seaway::Task<seaway::Reply<Receipt>> sell(seaway::Request<Sell> request);
  seaway::Task<seaway::Reply<Level>> restock(seaway::Request<Restock> request);
  seaway::Task<seaway::Reply<Level>> count(seaway::Request<Everywhere> request);

 private:
  seaway::Self self_;
  seaway::ActorRef<Shelf> shelf_;
};
// [/clerk]

/// Adds two levels up.
// [plus]
inline const auto plus = [](Level::Reader left, Level::Reader right, Level::Builder sum) {
  sum.setAmount(left.getAmount() + right.getAmount());
};
// [/plus]

// [total]
/// The same with a name, by which hosts in other processes know it.
inline constexpr seaway::Combining total{
    "shop.total", [](Level::Reader left, Level::Reader right, Level::Builder sum) {
      sum.setAmount(left.getAmount() + right.getAmount());
    }};
// [/total]

}  // namespace shelves
