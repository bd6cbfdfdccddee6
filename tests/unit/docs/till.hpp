// Till and Manager: actors that die, in docs/build-an-app.md.

#pragma once

#include <cstdint>
#include <seaway/app.hpp>
#include <string>
#include <utility>

#include "shelf.hpp"

namespace shelves {

// [till]
/// Adds up what was paid, and forgets nothing when it dies.
class Till {
 public:
  static void describe(seaway::ActorType<Till>& type) {
    type.on(&Till::pay).snapshot(&Till::save, &Till::restore);
  }
  explicit Till(seaway::Self) {}

  seaway::Reply<Balance> pay(seaway::Request<Pay> request) {
    cents_ += request->getCents();
    return save();
  }

 private:
  /// What is kept elsewhere after each message ..
  seaway::Message<Balance> save() const {
    return seaway::make<Balance>([this](Balance::Builder m) { m.setCents(cents_); });
  }
  /// .. and given to the next incarnation, before anything else.
  seaway::Status restore(seaway::Message<Balance> saved) {
    cents_ = saved->getCents();
    return {};
  }
  std::uint64_t cents_ = 0;
};
// [/till]

// [manager]
/// Has shelves of its own, which end with it, and hears of their deaths.
class Manager {
 public:
  static void describe(seaway::ActorType<Manager>& type) {
    type.on(&Manager::open).on(&Manager::drop).on(&Manager::report).on_death(&Manager::died);
  }
  explicit Manager(seaway::Self self) : self_(std::move(self)) {}

  seaway::Task<seaway::Status> open(seaway::Request<Open> request) {
    const auto places = self_.here().each("shelf", request->getShelves());
    auto shelves = co_await self_.spawn<Shelf>(places, 10);
    if (!shelves.ok()) co_return shelves.status();
    shelves_ = *shelves;
    co_return seaway::Status();
  }
  void died(const seaway::Death& death) { log_ += seaway::to_string(death) + "\n"; }
  void drop(seaway::Request<Drop>);
  seaway::Reply<Receipt> report(seaway::Request<Report>);

 private:
  seaway::Self self_;
  seaway::ActorMesh<Shelf> shelves_;
  std::string log_;
};
// [/manager]

inline void Manager::drop(seaway::Request<Drop>) {
  shelves_.at(0).kill(seaway::user_function_error("it fell"));
}
inline seaway::Reply<Receipt> Manager::report(seaway::Request<Report>) {
  return seaway::make<Receipt>([this](Receipt::Builder m) { m.setText(log_); });
}

}  // namespace shelves
